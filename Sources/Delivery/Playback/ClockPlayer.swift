public import CoreModel
public import EventLoop

/// A player that decodes nothing and counts time as one that does would: it starts once the first bytes of each track
/// are there, runs in real time, stalls where the media ends and resumes when there is enough again.
///
/// Confined to the session's loop.
public final class ClockPlayer: SessionSink {
    private struct Track {
        var reached = Duration.zero
        var timing: SegmentTiming?
        var byteCount = 0
        var hasEnded = false
        var bitsPerSecond: UInt64
    }

    /// Media that must be there to start.
    private static let startLevel: Duration = .milliseconds(150)
    /// Media that must be there to resume.
    private static let resumeLevel: Duration = .milliseconds(500)
    private static let tick: Duration = .milliseconds(20)

    private let loop: EventLoop
    private let startedAt: MonotonicInstant
    private let limit: Duration?
    private let onFinish: (SessionError?) -> Void
    private var tracks: [Track] = []
    private var report = PlaybackReport()
    private var lastTick: MonotonicInstant
    private var timer: LoopTimer?
    private var isOver = false
    private var speed = 1.0
    private weak var session: ViewerSession?

    /// Makes a player that begins by itself.
    ///
    /// - Parameters:
    ///   - limit: How much is played at most.
    ///   - onFinish: Called once, on the loop, at the end or when the session fails.
    public init(
        loop: EventLoop, start: Duration = .zero, limit: Duration? = nil, onFinish: @escaping (SessionError?) -> Void
    ) {
        self.loop = loop
        self.onFinish = onFinish
        startedAt = loop.now
        lastTick = startedAt
        report.position = start
        self.limit = limit
        timer = LoopTimer(loop: loop) { [weak self] in self?.advance() }
        timer?.arm(after: Self.tick)
    }

    public func session(_ session: ViewerSession, did event: SessionEvent) {
        self.session = session
        switch event {
        case .prepared(let information):
            report.position = information.start.duration
            tracks = information.tracks.map { Track(reached: report.position, bitsPerSecond: $0.bitsPerSecond) }
        case .initialization, .renditionShown: break
        case .segmentBegan(let track, let timing):
            tracks[track].timing = timing
            tracks[track].byteCount = 0
        case .bytes(let track, let bytes):
            tracks[track].byteCount += bytes.count
            guard let timing = tracks[track].timing else { return }
            let estimate = timing.duration.seconds * Double(max(tracks[track].bitsPerSecond, 1)) / 8
            let size = timing.byteCount.map(Double.init) ?? max(estimate, 1)
            let fraction = min(1, Double(tracks[track].byteCount) / size)
            let reached = timing.start.duration + .clamping(seconds: timing.duration.seconds * fraction)
            tracks[track].reached = max(tracks[track].reached, reached)
            if report.startup == nil { advance() }
        case .segmentEnded(let track):
            if let timing = tracks[track].timing { tracks[track].reached = (timing.start + timing.duration).duration }
        case .trackEnded(let track): tracks[track].hasEnded = true
        case .failed(let error): finish(error)
        }
    }

    public func playback(at now: MonotonicInstant) -> PlaybackReport { report }

    public func session(_ session: ViewerSession, wantsSpeed speed: Double) { self.speed = speed }

    public func session(_ session: ViewerSession, wantsSeekTo time: MediaTime) {
        report.position = time.duration
        for index in tracks.indices {
            tracks[index] = Track(reached: report.position, bitsPerSecond: tracks[index].bitsPerSecond)
        }
        session.seek(to: report.position)
    }

    private func advance() {
        guard !isOver else { return }
        let now = loop.now
        let elapsed = lastTick.duration(to: now)
        lastTick = now
        defer { timer?.arm(after: Self.tick) }
        guard let reached = tracks.map(\.reached).min() else { return }
        let hasAll = tracks.allSatisfy(\.hasEnded)
        if report.isPlaying {
            report.position += .clamping(seconds: elapsed.inSeconds * speed)
            report.played += elapsed
            if let limit, report.played >= limit { return finish(nil) }
            guard report.position >= reached else { return }
            report.played = max(.zero, report.played - (report.position - reached))
            report.position = reached
            report.isPlaying = false
            if hasAll { return finish(nil) }
            report.isStalled = true
            report.stalls += 1
            session?.playbackDidChange()
            return
        }
        if report.isStalled { report.stallTime += elapsed }
        let level = report.startup == nil ? Self.startLevel : Self.resumeLevel
        guard reached - report.position >= level || hasAll else { return }
        if report.startup == nil { report.startup = startedAt.duration(to: now) }
        report.isPlaying = true
        report.isStalled = false
        session?.playbackDidChange()
    }

    private func finish(_ error: SessionError?) {
        guard !isOver else { return }
        isOver = true
        timer = nil
        report.isPlaying = false
        onFinish(error)
    }
}
