import CoreModel

/// Everything that the engine's threads share, and the decisions about it. Kept under the engine's lock; decides with
/// `now` passed in, and leaves what must be told or shown in ``outbox``.
struct EngineState {
    /// Where playback stands.
    enum Phase {
        /// Nothing was shown since the start or the last seek.
        case preparing
        /// The clock is stopped at ``position``: paused, or waiting for the first data of every track.
        case holding
        /// The clock showed `position` at `instant` and runs.
        case running(since: MonotonicInstant, from: MediaTime)
        /// The clock is stopped at ``position`` because a track ran dry.
        case stalled(since: MonotonicInstant)
        /// Everything was shown.
        case ended
    }

    /// A seek that has not landed.
    struct Seek {
        let id: UInt64
        let time: MediaTime
        /// How far before `time` it may land; nil for anywhere.
        let tolerance: MediaTime?
    }

    /// What to do outside the lock.
    enum Effect {
        case event(EngineEvent)
        case present(VideoFrame)
    }

    let configuration: EngineConfiguration
    /// Wakes the presenter.
    let presenter = Condition()

    var tracks: [TrackState] = []
    var sections = SectionTable()
    /// Counts the seeks; data of an earlier generation is dropped.
    var generation: UInt64 = 0
    var isStopping = false
    var failure: EngineError?

    var phase = Phase.preparing
    var wantsPlay = false
    /// Media time that passes while a second does.
    var rate = 1.0
    /// Position while the clock stands.
    var position = MediaTime.zero
    var seek: Seek?
    /// The last picture before a seek's target, in case the next lies after it.
    var candidate: VideoFrame?
    var info = EngineInfo(pictureSize: nil, hasVideo: false, hasAudio: false)
    var hasReportedReady = false
    var hasReportedFirstFrame = false

    var outbox = Queue<Effect>()
    /// A thread is emptying ``outbox``.
    var isDelivering = false
    var statistics = EngineStatistics()

    init(configuration: EngineConfiguration) {
        self.configuration = configuration
    }

    var isPaced: Bool { configuration.pacing == .realtime }

    /// Whether a thread working for `generation` has to give up.
    func isCancelled(_ generation: UInt64) -> Bool {
        isStopping || failure != nil || generation != self.generation
    }

    /// Effects that may wait before unpaced decoding pauses.
    private static let outboxLimit = 64

    /// Whether another frame of the stream may be decoded.
    func hasRoom(track: Int, kind: TrackKind) -> Bool {
        guard isPaced else { return outbox.count < Self.outboxLimit }
        guard let stream = tracks[track][kind] else { return true }
        if kind == .video {
            return stream.pictures.isEmpty
                || stream.pictures.count < configuration.decodedFrameLimit
                    && stream.pictureByteCount < configuration.decodedByteLimit
        }
        guard let first = stream.blocks.first, let end = stream.decodedEnd else { return true }
        return (end - first.time).duration < configuration.decodedAudioLimit
    }

    /// Whether a picture may still come.
    var mayHoldVideo: Bool { tracks.contains { $0.mayHoldVideo } }

    mutating func report(_ event: EngineEvent) {
        outbox.append(.event(event))
    }

    /// Ends everything with an error; the first one counts.
    mutating func fail(_ error: EngineError) {
        guard failure == nil, !isStopping else { return }
        failure = error
        if let seek { report(.seekCancelled(id: seek.id)) }
        seek = nil
        for index in tracks.indices { tracks[index].flush() }
        candidate = nil
        report(.failed(error))
        wakeAll()
    }

    /// Wakes every thread to look again.
    func wakeAll() {
        presenter.signal()
        for track in tracks { track.condition.signal() }
    }

    /// The place on the timeline at `now`.
    func position(at now: MonotonicInstant) -> MediaTime {
        guard case .running(let since, let from) = phase else { return position }
        let nanoseconds = since.duration(to: now).nanosecondsClamped
        let elapsed = MediaTime(
            ticks: rate == 1 ? nanoseconds : Int64(min(Double(nanoseconds) * rate, 9e18)), timescale: 1_000_000_000)
        return max(from, from + elapsed)
    }
}
