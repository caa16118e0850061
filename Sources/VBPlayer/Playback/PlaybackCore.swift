import CoreModel
import Delivery
import MediaEngine
import Scheduling

/// What fetches, decodes and presents for a player. Thread-safe; every call returns at once.
///
/// Events come one at a time, in order, on a thread of the core or on that of the command that caused them, with no lock
/// held.
protocol PlaybackCore: AnyObject, Sendable {
    /// Begins; events come from now on.
    func start()

    /// Runs the clock, from when there is media.
    func play()

    /// Stops the clock.
    func pause()

    /// Seeks into `[time - tolerance, time]`, anywhere at or before `time` with nil. Answered by one
    /// ``PlaybackEvent/seekEnded(id:)`` with `id` unless the core fails or is shut down.
    func seek(id: UInt64, to time: MediaTime, tolerance: MediaTime?)

    /// Plays in the quality of this name from now on; nil chooses by itself.
    func setQuality(_ id: String?)

    /// The picture is shown in so many pixels; nil when that isn't known or doesn't matter.
    func setViewport(_ size: PixelSize?)

    /// Where playback stands.
    var position: MediaTime { get }

    /// Gives the session's figures so far to `answer`, from any thread; nil when there is no session.
    func readFigures(_ answer: OneAnswer<ViewerFigures?>)

    /// Ends everything without waiting: no thread, socket or file is left within a second.
    func shutdown()
}

/// What a ``PlaybackCore`` tells.
enum PlaybackEvent: Sendable {
    /// The media is known and playing it starts at once. `duration` is nil when it has no end that is known.
    case ready(duration: MediaTime?)
    /// What can be chosen from, the lowest bit rate first, and whether that is done automatically.
    case qualities([VBQuality], isAutomatic: Bool)
    /// The quality of this name is on screen.
    case quality(String)
    /// The clock runs.
    case playing
    /// The clock stopped for lack of media.
    case stallBegan
    /// The clock runs again, or the stall was ended by a pause or a seek.
    case stallEnded
    /// The seek landed, or another took its place.
    case seekEnded(id: UInt64)
    /// The last frame was shown.
    case ended
    /// Nothing more happens.
    case failed(PlayerError)
}

extension PlaybackEvent {
    /// Makes the event out of an engine's; nil for those that a player doesn't need.
    init?(_ event: EngineEvent) {
        switch event {
        case .ready, .firstFrame: return nil
        case .playing: self = .playing
        case .stallBegan: self = .stallBegan
        case .stallEnded: self = .stallEnded
        case .seekCompleted(let id, _), .seekCancelled(let id): self = .seekEnded(id: id)
        case .ended: self = .ended
        case .failed(let error): self = .failed(PlayerError(error))
        }
    }
}
