public import CoreModel

/// What a link wants of its driver.
public enum LinkOutput: Sendable {
    /// Send these bytes.
    case transmit([UInt8])
    /// Take note.
    case event(LinkEvent)
    /// Nothing to do before this instant; `nil` means that only an input can make progress.
    case wait(until: MonotonicInstant?)
}
