import CoreModel

/// The clock: what is due is shown, what is missing stops it.
extension EngineState {
    mutating func play() {
        guard failure == nil else { return }
        if case .ended = phase { return }
        wantsPlay = true
        presenter.signal()
    }

    mutating func pause(now: MonotonicInstant) {
        wantsPlay = false
        stopClock(now: now)
    }

    /// Lets the clock run faster or slower from `now` on.
    mutating func setRate(_ rate: Double, now: MonotonicInstant) {
        if case .running = phase {
            position = position(at: now)
            phase = .running(since: now, from: position)
        }
        self.rate = rate
        presenter.signal()
    }

    /// Stops the clock where it is; ends a stall.
    private mutating func stopClock(now: MonotonicInstant) {
        switch phase {
        case .running:
            position = position(at: now)
            phase = .holding
        case .stalled(let since):
            statistics.stallDuration += since.duration(to: now)
            phase = .holding
            report(.stallEnded(position: position))
        case .preparing, .holding, .ended:
            break
        }
    }

    /// Forgets all data and prepares to land at a new place.
    mutating func beginSeek(_ seek: Seek, now: MonotonicInstant) {
        guard failure == nil, !isStopping else {
            report(.seekCancelled(id: seek.id))
            return
        }
        if let overtaken = self.seek { report(.seekCancelled(id: overtaken.id)) }
        stopClock(now: now)
        generation += 1
        for index in tracks.indices { tracks[index].flush() }
        candidate = nil
        position = seek.time
        self.seek = seek
        phase = .preparing
        wakeAll()
    }

    /// Shows what is due at `now`. Returns when to look again; nil when only a command or new data can change anything.
    mutating func advance(now: MonotonicInstant) -> MonotonicInstant? {
        guard isPaced, failure == nil else { return nil }
        switch phase {
        case .preparing, .ended:
            return nil
        case .holding:
            guard wantsPlay, canRun(decoded: configuration.startThreshold) else { return nil }
            report(.playing(position: position))
        case .stalled(let since):
            guard wantsPlay, canRun(decoded: configuration.startThreshold, ahead: configuration.resumeThreshold) else {
                return nil
            }
            statistics.stallDuration += since.duration(to: now)
            report(.stallEnded(position: position))
        case .running(let since, let from):
            return advanceRunning(now: now, since: since, from: from)
        }
        phase = .running(since: now, from: position)
        return advanceRunning(now: now, since: now, from: position)
    }

    private mutating func advanceRunning(
        now: MonotonicInstant, since: MonotonicInstant, from: MediaTime
    ) -> MonotonicInstant? {
        let clock = position(at: now)
        let dryEnd = dryEnd(before: clock)
        let reached = dryEnd.map { max(from, $0) } ?? clock
        showDue(at: reached)
        if dryEnd != nil {
            position = reached
            phase = .stalled(since: now)
            statistics.stalls += 1
            report(.stallBegan(position: reached))
            return nil
        }
        let isComplete = tracks.allSatisfy { $0.isEnded }
        let end = lastDecodedEnd ?? from
        if isComplete, reached >= end {
            position = max(from, end)
            phase = .ended
            wantsPlay = false
            report(.ended)
            return nil
        }
        guard let next = nextChange(after: reached, isComplete: isComplete, end: end) else { return nil }
        // Rounded up to a nanosecond, so that the change is due when the clock gets there.
        let wait = (next - from).duration
        return since.advanced(by: (rate == 1 ? wait : .clamping(seconds: wait.inSeconds / rate)) + .nanoseconds(1))
    }

    /// The earliest end of a stream that the clock has passed with nothing decoded after it; nil when there is none.
    private func dryEnd(before clock: MediaTime) -> MediaTime? {
        var earliest: MediaTime?
        for track in tracks {
            if !track.contentIsKnown, !track.isEnded { return clock }
            for kind in [TrackKind.video, .audio] where track.isRequired(kind) {
                guard let stream = track[kind], stream.isEmpty else { continue }
                let end = stream.decodedEnd ?? clock
                if end <= clock { earliest = min(earliest ?? end, end) }
            }
        }
        return earliest
    }

    private var lastDecodedEnd: MediaTime? {
        tracks.flatMap { [$0.video?.decodedEnd, $0.audio?.decodedEnd] }.compactMap { $0 }.max()
    }

    /// Shows the newest picture that is due; earlier ones are late and are dropped. Takes played samples off.
    private mutating func showDue(at clock: MediaTime) {
        for index in tracks.indices {
            var hasMadeRoom = false
            var due: VideoFrame?
            while let picture = tracks[index].video?.pictures.first, picture.time <= clock {
                if due != nil { statistics.framesDropped += 1 }
                due = tracks[index].video?.pictures.popFirst()
                tracks[index].video?.pictureByteCount -= picture.byteCount
                hasMadeRoom = true
            }
            if let due {
                statistics.framesPresented += 1
                outbox.append(.present(due))
            }
            while let block = tracks[index].audio?.blocks.first, block.endTime <= clock {
                _ = tracks[index].audio?.blocks.popFirst()
                hasMadeRoom = true
            }
            if hasMadeRoom { tracks[index].condition.signal() }
        }
    }

    private func nextChange(after clock: MediaTime, isComplete: Bool, end: MediaTime) -> MediaTime? {
        var next: MediaTime? = isComplete ? end : nil
        func consider(_ time: MediaTime?) {
            guard let time else { return }
            next = min(next ?? time, time)
        }
        for track in tracks {
            consider(track.video?.pictures.first?.time)
            consider(track.audio?.blocks.first?.endTime)
            for kind in [TrackKind.video, .audio] where track.isRequired(kind) {
                if let stream = track[kind], stream.isEmpty { consider(stream.decodedEnd) }
            }
        }
        return next
    }

    /// Whether every track holds something at the position, has `decoded` from there on, and has that much `ahead` of it,
    /// decoded or not. A stream without room for more has enough.
    private func canRun(decoded: Duration, ahead: Duration = .zero) -> Bool {
        for (index, track) in tracks.enumerated() where !track.isEnded {
            guard track.contentIsKnown else { return false }
            for kind in [TrackKind.video, .audio] where track.isRequired(kind) {
                guard let stream = track[kind], let end = stream.decodedEnd, !stream.isEmpty || end > position else {
                    return false
                }
                guard hasRoom(track: index, kind: kind) else { continue }
                if (end - position).duration < decoded { return false }
                guard ahead > .zero else { continue }
                if (end - position + stream.undecodedDuration).duration < ahead, !track.isSealed { return false }
            }
        }
        return true
    }
}
