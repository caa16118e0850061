import CoreModel

/// What ``MediaDataFeed`` needs while it holds its own lock: commands that tell nobody yet.
extension MediaEngine {
    /// Why playback has failed; nil while it has not.
    var failure: EngineError? { core.monitor.withLock { $0.failure } }

    /// Appends a step. Returns the error that the caller has to report.
    func appendQuietly(track id: Int, _ step: InputStep) -> EngineError? {
        core.monitor.withLock { state -> EngineError? in
            guard let index = state.tracks.firstIndex(where: { $0.id == id }) else {
                return state.isStopping || state.failure != nil ? nil : .unknownTrack(id)
            }
            return state.append(step, track: index)
        }
    }

    /// Seeks; events wait for ``deliver()``.
    func seekQuietly(id: UInt64, to time: MediaTime, tolerance: MediaTime?) {
        core.monitor.withLock { state in
            state.beginSeek(
                EngineState.Seek(id: id, time: time, tolerance: tolerance.map { max($0, .zero) }),
                now: MonotonicClock.now)
        }
    }

    /// Delivers events that wait.
    func deliver() {
        core.deliver()
    }

    /// Durations of the packets that the decoders have taken since the start or the last seek.
    func requestedDurations(track id: Int) -> FragmentDurations {
        core.monitor.withLock { state in
            guard let track = state.tracks.first(where: { $0.id == id }) else { return FragmentDurations() }
            return FragmentDurations(
                video: track.video?.requestedDuration ?? .zero, audio: track.audio?.requestedDuration ?? .zero)
        }
    }
}
