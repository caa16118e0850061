internal import CoreModel

/// How much a request needs to be answered, beside others.
struct UploadNeed: Sendable, Equatable {
    /// Nothing is asked for.
    static let none = UploadNeed(deadline: .distantFuture, start: nil)
    /// Playback this near can't wait for what has more time.
    static let urgentSpan = Duration.seconds(10)
    /// The same in nanoseconds, since it is asked for again and again.
    private static let urgentNanoseconds = urgentSpan.nanosecondsClamped

    /// When the time left is over.
    let deadline: MonotonicInstant
    /// Where who asks is in the stream, up to a constant that is the same for all; the least where it isn't known.
    let playhead: Int64

    /// - Parameter start: Where the segment starts, when it is known.
    init(deadline: MonotonicInstant, start: Duration?) {
        self.deadline = deadline
        let (seconds, attoseconds) = start?.components ?? (0, 0)
        let (nanoseconds, isTooFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        playhead = start == nil || isTooFar ? .min : nanoseconds &+ attoseconds / 1_000_000_000 &- deadline.nanoseconds
    }

    /// Whether it is known where who asks is in the stream.
    var knowsStart: Bool { playhead != .min }

    /// Whether this one goes first: what is played soon before what isn't, then who is further on in the stream, since fewer
    /// others have what it needs, then what is played first.
    func isBefore(_ other: UploadNeed, now: MonotonicInstant) -> Bool {
        let horizon = now.advanced(byNanoseconds: Self.urgentNanoseconds)
        let (isUrgent, isOtherUrgent) = (deadline < horizon, other.deadline < horizon)
        if isUrgent != isOtherUrgent { return isUrgent }
        return playhead == other.playhead ? deadline < other.deadline : playhead > other.playhead
    }
}
