/// How much a line of a session's log matters.
public enum SessionLogLevel: Sendable {
    /// What ended playback.
    case error
    /// What a person should look at.
    case warning
    /// The turns of a session.
    case info
    /// What helps to find out why.
    case debug
}
