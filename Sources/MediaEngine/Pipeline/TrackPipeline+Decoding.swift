import CoreModel

/// From queued packets to frames that are handed on.
extension TrackPipeline {
    /// Decodes as far as there are packets and room.
    func pump() {
        var hasAdvanced = true
        while hasAdvanced {
            hasAdvanced = false
            for stream in streams where advance(stream) { hasAdvanced = true }
        }
    }

    /// Does one unit of work on a stream. False when there is none.
    private func advance(_ stream: ElementaryStream) -> Bool {
        if stream.placement != nil { place(stream) }
        guard stream.hasWork else { return false }
        let mayDecode = monitor.withLock { state in
            !state.isCancelled(generation) && state.hasRoom(track: track, kind: stream.kind)
        }
        guard mayDecode else { return false }
        let progress = stream.step { queued in
            monitor.withLock { state in
                guard !state.isCancelled(generation) else { return }
                state.tracks[track].encodedByteCount -= queued.packet.byteCount
                state.tracks[track][stream.kind]?.undecodedDuration += -queued.duration
                state.tracks[track][stream.kind]?.requestedDuration += queued.duration
            }
        }
        switch progress {
        case .decoded(.picture(let frame)):
            damagedSegments = 0
            take(frame, of: stream)
        case .decoded(.samples(let block)):
            damagedSegments = 0
            take(block, of: stream)
        case .damaged:
            monitor.withLock { $0.statistics.decodeErrors += 1 }
        case .advanced:
            break
        case .idle, .finished:
            return false
        }
        return true
    }

    private func take(_ frame: VideoFrame, of stream: ElementaryStream) {
        if let window = stream.lastInfo.window, !window.contains(frame.time) { return }
        let accepted = monitor.withLock { state -> [VideoFrame] in
            guard !state.isCancelled(generation) else { return [] }
            let accepted = state.accept(
                frame, track: track, segmentStart: stream.segmentStart, isSteady: stream.isSteady)
            state.statistics.framesDecoded += accepted.count
            return accepted
        }
        core.deliver()
        if let observer = core.observer {
            for frame in accepted { observer.videoFrameDecoded(frame) }
        }
    }

    private func take(_ block: AudioBlock, of stream: ElementaryStream) {
        let isInside = stream.lastInfo.window?.contains(block.time) ?? true
        let isAccepted = monitor.withLock { state in
            guard !state.isCancelled(generation) else { return false }
            state.statistics.audioSamplesDecoded += block.sampleCount
            return isInside && state.accept(block, track: track, segmentStart: stream.segmentStart)
        }
        core.deliver()
        if isAccepted { core.observer?.audioDecoded(block) }
    }

    /// Gives out what the decoders hold, waiting for room.
    func finish() {
        for stream in streams { stream.end() }
        while true {
            pump()
            if streams.allSatisfy({ $0.isFinished }) { return }
            let goesOn = monitor.wait(on: condition) { state -> Monitor<EngineState>.Step<Bool> in
                if state.isCancelled(generation) { return .done(false) }
                return canWork(state) ? .done(true) : .wait(until: nil)
            }
            if !goesOn { return }
        }
    }

    /// Whether ``pump()`` would do something.
    func canWork(_ state: borrowing EngineState) -> Bool {
        streams.contains { stream in
            if stream.placement != nil { return offset(for: stream, state) != nil }
            return stream.hasWork && state.hasRoom(track: track, kind: stream.kind)
        }
    }
}
