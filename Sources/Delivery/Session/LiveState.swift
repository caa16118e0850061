import CoreModel
import Manifest

/// What a session keeps of a live presentation beside its tracks.
struct LiveState {
    /// Follows the manifest.
    let loader: LiveLoader
    /// Whether playback keeps the latency: not after a seek into the past, or a pause.
    private(set) var keepsLatency = true
    /// Stalls that the latency has grown by.
    private var stalls = 0
    /// What stalls have added to the latency to play at.
    private(set) var extraLatency = Duration.zero
    /// The speed that the player was told.
    private(set) var speed = 1.0
    /// When the log last had the latency.
    var notedAt: MonotonicInstant?
    private var lookedAt: MonotonicInstant?
    private var pausedSince: MonotonicInstant?
    private var soughtAt: MonotonicInstant?

    /// What a player is to do.
    enum Step: Equatable {
        case speed(Double)
        case seek(MediaTime)
    }

    /// Each stall makes the latency so much longer (Media3), up to a bound.
    private static let latencyPerStall: Duration = .milliseconds(500)
    private static let extraLatencyLimit: Duration = .seconds(5)
    /// The speed changes by a tenth a second off (Media3), from here on.
    private static let speedPerSecond = 0.1
    private static let deadZone = 0.02
    /// Further off than this, playback jumps (dash.js).
    private static let jumpDistance = 12.0
    private static let interval: Duration = .milliseconds(500)
    /// Media that must be there to play faster.
    private static let reserve = 1.0

    init(loader: LiveLoader) { self.loader = loader }

    /// How far behind the edge to play now.
    var targetLatency: Duration { loader.follower.targetLatency + extraLatency }

    /// Where playback starts: the latency behind the edge, within the window.
    func startTime(now: MonotonicInstant) -> MediaTime? {
        guard let window = loader.follower.window(at: now) else { return nil }
        return place(in: window)
    }

    private func place(in window: LiveWindow) -> MediaTime {
        let wanted = window.edge - MediaTime(ticks: targetLatency.nanosecondsClamped, timescale: 1_000_000_000)
        return min(max(wanted, window.start), window.end)
    }

    /// How far behind the edge a place is.
    func latency(of position: Duration, now: MonotonicInstant) -> Double {
        loader.follower.edge(at: now).seconds - position.inSeconds
    }

    /// The viewer went somewhere: near the edge the latency is kept, elsewhere the place is.
    mutating func didSeek(to time: Duration, now: MonotonicInstant) {
        let latency = latency(of: time, now: now)
        keepsLatency = latency <= targetLatency.inSeconds + 3
        soughtAt = now
        pausedSince = nil
    }

    /// Looks at where playback stands.
    ///
    /// - Parameter buffered: Seconds of media that are there from the playhead on.
    mutating func look(_ report: PlaybackReport, buffered: Double, now: MonotonicInstant) -> Step? {
        guard let window = loader.follower.window(at: now), report.startup != nil else { return nil }
        if let lookedAt, lookedAt.duration(to: now) < Self.interval { return nil }
        lookedAt = now
        notePause(report, now: now)
        if report.stalls > stalls {
            stalls = report.stalls
            if keepsLatency { extraLatency = min(extraLatency + Self.latencyPerStall, Self.extraLatencyLimit) }
        }
        let position = MediaTime(ticks: report.position.nanosecondsClamped, timescale: 1_000_000_000)
        let isSettled = soughtAt.map { $0.duration(to: now) > .seconds(3) } ?? true
        // What is played has left the window, and the server need not have it any more.
        if isSettled, buffered < Self.reserve / 2, position < window.start - MediaTime(seconds: 2) {
            return jump(to: keepsLatency ? place(in: window) : window.start + MediaTime(seconds: 2), now: now)
        }
        guard keepsLatency, !loader.follower.isEnded else { return set(1) }
        let target = place(in: window)
        let behind = (target - position).seconds
        if behind > Self.jumpDistance, isSettled { return jump(to: target, now: now) }
        guard abs(behind) > Self.deadZone, report.isPlaying else { return set(1) }
        let rates = loader.follower.playbackRates
        var speed = min(max(1 + behind * Self.speedPerSecond, rates.lowerBound), rates.upperBound)
        if speed > 1, buffered < Self.reserve { speed = 1 }
        return set((speed * 1_000).rounded() / 1_000)
    }

    private mutating func notePause(_ report: PlaybackReport, now: MonotonicInstant) {
        guard !report.isPlaying, !report.isStalled, soughtAt.map({ $0.duration(to: now) > .seconds(3) }) ?? true else {
            pausedSince = nil
            return
        }
        pausedSince = pausedSince ?? now
        if let pausedSince, pausedSince.duration(to: now) > .seconds(2) { keepsLatency = false }
    }

    private mutating func set(_ speed: Double) -> Step? {
        guard speed != self.speed else { return nil }
        self.speed = speed
        return .speed(speed)
    }

    private mutating func jump(to time: MediaTime, now: MonotonicInstant) -> Step {
        soughtAt = now
        return .seek(time)
    }
}
