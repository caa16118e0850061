internal import CoreModel

/// The player of a simulated viewer, after `ClockPlayer`: it starts once the first media is there, runs in real time,
/// stalls where the media ends and goes on when there is enough again. Where that polls every 20 ms, this is exact.
struct PlaybackClock {
    /// Media that must be there to start.
    private static let startLevel: Duration = .milliseconds(150)
    /// Media that must be there to resume.
    private static let resumeLevel: Duration = .milliseconds(500)

    enum Change {
        case none
        /// The clock has started or stopped.
        case switched
        /// All has been played.
        case finished
    }

    private(set) var position: Duration
    private(set) var isPlaying = false
    private(set) var isStalled = false
    private(set) var stalls = 0
    private(set) var stallTime = Duration.zero
    private(set) var startup: Duration?
    private(set) var played = Duration.zero
    /// Where the media that was handed over ends.
    var reached: Duration
    /// No media follows.
    var hasEnded = false
    private var isPaused = false
    private var isSeeking = true
    private let startedAt: MonotonicInstant
    private var lastTick: MonotonicInstant

    init(at position: Duration, now: MonotonicInstant) {
        self.position = position
        reached = position
        startedAt = now
        lastTick = now
    }

    /// When it has to be looked at, if nothing comes before.
    var nextInstant: MonotonicInstant? {
        isPlaying ? lastTick.advanced(by: max(.zero, reached - position)) : nil
    }

    /// Lets time pass.
    mutating func advance(to now: MonotonicInstant) -> Change {
        let elapsed = lastTick.duration(to: now)
        lastTick = now
        if isPlaying {
            position += elapsed
            played += elapsed
            guard position >= reached else { return .none }
            played -= position - reached
            position = reached
            isPlaying = false
            if hasEnded { return .finished }
            isStalled = true
            stalls += 1
            return .switched
        }
        if isStalled, !isPaused { stallTime += elapsed }
        let level = isSeeking ? Self.startLevel : Self.resumeLevel
        guard !isPaused, reached - position >= level || hasEnded else { return .none }
        if startup == nil { startup = startedAt.duration(to: now) }
        isPlaying = true
        isStalled = false
        isSeeking = false
        return .switched
    }

    /// Jumps: what was there is dropped.
    mutating func seek(to position: Duration, now: MonotonicInstant) {
        _ = advance(to: now)
        self.position = position
        reached = position
        hasEnded = false
        isPlaying = false
        isStalled = false
        isSeeking = true
    }

    mutating func pause(now: MonotonicInstant) {
        _ = advance(to: now)
        isPaused = true
        isPlaying = false
    }

    mutating func resume(now: MonotonicInstant) -> Change {
        _ = advance(to: now)
        isPaused = false
        return advance(to: now)
    }
}
