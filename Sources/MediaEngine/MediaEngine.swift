public import CoreModel

/// Decodes and presents segments that its owner appends.
///
/// One thread per track demuxes and decodes; in real time another runs the clock. Every command is thread-safe and
/// returns at once. Appended data of a track is taken in order; data of different tracks meets on the presentation's
/// timeline (see ``SegmentInfo/mediaOffset``). The last reference ends the threads without waiting for them, within a
/// second; ``shutdown()`` does so earlier.
public final class MediaEngine: Sendable {
    let core: EngineCore

    /// Makes an engine that stands at time zero, paused.
    ///
    /// - Parameters:
    ///   - sink: where pictures go.
    ///   - observer: sees each frame as it is decoded.
    ///   - onEvent: see ``EngineEvent``.
    public init(
        configuration: EngineConfiguration = EngineConfiguration(), sink: FrameSink? = nil,
        observer: (any FrameObserver)? = nil, onEvent: @escaping @Sendable (EngineEvent) -> Void
    ) {
        core = EngineCore(configuration: configuration, sink: sink, observer: observer, onEvent: onEvent)
        guard configuration.pacing == .realtime else { return }
        let hasThread = WorkerThread.start(name: "engine-clock") { [core] in core.runPresenter() }
        if !hasThread { fail(.outOfResources) }
    }

    deinit {
        core.monitor.withLock { state in
            state.isStopping = true
            state.outbox.removeAll()
            state.wakeAll()
        }
    }

    /// Ends playback with an error.
    func fail(_ error: EngineError) {
        core.monitor.withLock { $0.fail(error) }
        core.deliver()
    }

    // MARK: - Input

    /// Adds a track. All tracks that play together are added before the first append, so that playback waits for each.
    ///
    /// - Precondition: no track has this `id` yet.
    public func addTrack(id: Int, kind: TrackKind) {
        let condition = Condition()
        let index = core.monitor.withLock { state -> Int? in
            precondition(!state.tracks.contains { $0.id == id }, "track \(id) was added before")
            guard !state.isStopping, state.failure == nil else { return nil }
            state.tracks.append(TrackState(id: id, kind: kind, condition: condition))
            return state.tracks.count - 1
        }
        guard let index else { return }
        let hasThread = WorkerThread.start(name: "engine-track\(id)") { [core] in
            TrackPipeline(core: core, track: index, id: id, kind: kind, condition: condition).run()
        }
        if !hasThread { fail(.outOfResources) }
    }

    /// Appends the track's next step; O(1), the bytes are not copied.
    ///
    /// After `endOfTrack` steps are ignored until the next seek. Beyond
    /// ``EngineConfiguration/encodedByteLimit`` the engine fails.
    public func append(track id: Int, _ input: TrackInput) {
        let error = appendQuietly(track: id, InputStep(input))
        if let error { fail(error) }
    }

    // MARK: - Playback

    /// Runs the clock, at once when there is data, else from when there is. Nothing happens at the end.
    public func play() {
        core.monitor.withLock { $0.play() }
        core.deliver()
    }

    /// Stops the clock.
    public func pause() {
        core.monitor.withLock { $0.pause(now: MonotonicClock.now) }
        core.deliver()
    }

    /// 1 when playing is wanted, also while the clock waits for data; 0 when paused, and after the end.
    public var rate: Double { core.monitor.withLock { $0.wantsPlay ? 1 : 0 } }

    /// Lets the clock run faster or slower, to catch up with a live edge or to fall back.
    ///
    /// - Parameter speed: Media time that passes while a second does; from a half to double.
    public func setSpeed(_ speed: Double) {
        core.monitor.withLock { $0.setRate(min(max(speed, 0.5), 2), now: MonotonicClock.now) }
    }

    /// The place on the presentation's timeline. Unpaced: the time of the newest frame.
    public var position: MediaTime { core.monitor.withLock { $0.position(at: MonotonicClock.now) } }

    /// Drops all data and lands where the owner's next appends allow, which begin with the segment that holds the random
    /// access point.
    ///
    /// Answered by exactly one ``EngineEvent/seekCompleted(id:time:)`` or ``EngineEvent/seekCancelled(id:)`` with the
    /// same `id`. It lands in `[time - tolerance, time]`: with zero on the frame whose [time, time + duration) holds
    /// `time`, which is decoded from the random access point on; with nil on the random access point itself.
    public func seek(id: UInt64, to time: MediaTime, tolerance: MediaTime? = .zero) {
        seekQuietly(id: id, to: time, tolerance: tolerance)
        core.deliver()
    }

    /// Duration of the track's data that is encoded and not yet asked for decoding. The smaller one of audio and video
    /// where a track holds both. A segment that is still coming in counts as far as it has been demuxed.
    public func bufferedDuration(track id: Int) -> MediaTime {
        core.monitor.withLock { state in
            guard let track = state.tracks.first(where: { $0.id == id }) else { return .zero }
            return track.bufferedDuration
        }
    }

    /// Counters.
    public var statistics: EngineStatistics { core.monitor.withLock { $0.statistics } }

    /// What the tracks hold, as far as it is known.
    public var info: EngineInfo { core.monitor.withLock { $0.info } }

    /// Ends the engine: no event but `seekCancelled` follows, and its threads end within a second. Does not wait.
    public func shutdown() {
        core.monitor.withLock { state in
            guard !state.isStopping else { return }
            state.isStopping = true
            state.outbox.removeAll()
            if let seek = state.seek { state.report(.seekCancelled(id: seek.id)) }
            state.seek = nil
            for index in state.tracks.indices { state.tracks[index].flush() }
            state.candidate = nil
            state.wakeAll()
        }
        core.deliver()
    }
}
