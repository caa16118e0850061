import CoreModel

/// Decoded frames come in: the first ones after a start or a seek decide where playback stands.
extension EngineState {
    /// A gap this long between a segment's start and its first frame, or a seek's target and the first frame after it,
    /// is played through; a longer one is jumped over.
    private static let leadLimit = MediaTime(seconds: 1)

    /// Takes a picture in. Returns those that belong to the presentation, in order.
    ///
    /// - Parameter isSteady: the picture's duration can be relied on; if not, an exact seek waits for the next one to
    ///   know where it ends.
    mutating func accept(
        _ frame: VideoFrame, track: Int, segmentStart: MediaTime, isSteady: Bool
    ) -> [VideoFrame] {
        if info.pictureSize == nil { info.pictureSize = frame.size }
        tracks[track].video?.decodedEnd = frame.endTime
        guard case .preparing = phase else {
            enqueue(frame, track: track)
            return [frame]
        }
        guard let seek else {
            land(frame, at: Self.position(wanted: segmentStart, found: frame.time))
            return [frame]
        }
        guard let tolerance = seek.tolerance else {
            let isInside = frame.time <= seek.time && frame.endTime > seek.time
            let isAfter = frame.time > seek.time
            land(frame, at: isInside || isAfter ? Self.position(wanted: seek.time, found: frame.time) : frame.time)
            return [frame]
        }
        if frame.time > seek.time {
            if let candidate {
                land(candidate, at: seek.time)
                enqueue(frame, track: track)
                return [candidate, frame]
            }
            land(frame, at: Self.position(wanted: seek.time, found: frame.time))
            return [frame]
        }
        if isSteady, frame.endTime - ElementaryStream.clockTick > seek.time {
            land(frame, at: seek.time)
            return [frame]
        }
        if tolerance > .zero, frame.time >= seek.time - tolerance {
            land(frame, at: frame.time)
            return [frame]
        }
        candidate = frame
        return []
    }

    private static func position(wanted: MediaTime, found: MediaTime) -> MediaTime {
        let distance = found - wanted
        return distance < leadLimit && distance > -leadLimit ? wanted : found
    }

    /// Takes samples in. Returns false when they lie before a seek's target.
    mutating func accept(_ block: AudioBlock, track: Int, segmentStart: MediaTime) -> Bool {
        tracks[track].audio?.decodedEnd = block.endTime
        if case .preparing = phase {
            if let seek, let tolerance = seek.tolerance, block.endTime <= seek.time - tolerance { return false }
            let isKept = enqueue(block, track: track)
            if !mayHoldVideo {
                let wanted = seek.map { $0.tolerance == .zero ? $0.time : max($0.time, block.time) } ?? segmentStart
                land(nil, at: seek == nil || seek?.tolerance != nil ? wanted : block.time)
            }
            return isKept
        }
        return enqueue(block, track: track)
    }

    private mutating func enqueue(_ frame: VideoFrame, track: Int) {
        guard isPaced else {
            position = frame.time
            statistics.framesPresented += 1
            outbox.append(.present(frame))
            return
        }
        tracks[track].video?.pictures.append(frame)
        tracks[track].video?.pictureByteCount += frame.byteCount
        presenter.signal()
    }

    /// Queues samples. Returns false for those from before the place where playback stands: they are not played.
    private mutating func enqueue(_ block: AudioBlock, track: Int) -> Bool {
        guard isPaced else {
            if !info.hasVideo { position = block.time }
            return true
        }
        if case .holding = phase, block.endTime <= position { return false }
        tracks[track].audio?.blocks.append(block)
        presenter.signal()
        return true
    }

    /// Playback stands at `time` now, with this picture on screen.
    private mutating func land(_ frame: VideoFrame?, at time: MediaTime) {
        candidate = nil
        position = time
        phase = .holding
        for index in tracks.indices {
            while let block = tracks[index].audio?.blocks.first, block.endTime <= time {
                _ = tracks[index].audio?.blocks.popFirst()
            }
            tracks[index].condition.signal()
        }
        if let frame {
            statistics.framesPresented += 1
            outbox.append(.present(frame))
        }
        reportReadyIfKnown()
        if !hasReportedFirstFrame {
            hasReportedFirstFrame = true
            report(.firstFrame(time: frame?.time ?? time))
        }
        if let seek { report(.seekCompleted(id: seek.id, time: time)) }
        seek = nil
        presenter.signal()
    }

    /// A container has declared its streams.
    mutating func declareContent(track: Int, hasVideo: Bool, hasAudio: Bool, size: PictureSize?) {
        let kind = tracks[track].kind
        if hasVideo, kind != .audio {
            info.hasVideo = true
            if tracks[track].video == nil { tracks[track].video = StreamState() }
        }
        if hasAudio, kind != .video {
            info.hasAudio = true
            if tracks[track].audio == nil { tracks[track].audio = StreamState() }
        }
        if let size, info.pictureSize == nil, kind != .audio { info.pictureSize = size }
        tracks[track].contentIsKnown = true
        reportReadyIfKnown()
        settle()
    }

    private mutating func reportReadyIfKnown() {
        guard !hasReportedReady, tracks.allSatisfy({ $0.contentIsKnown || $0.isEnded }) else { return }
        guard !info.hasVideo || info.pictureSize != nil else { return }
        hasReportedReady = true
        report(.ready(info))
    }

    /// A track is decoded to its end.
    mutating func endTrack(_ track: Int) {
        tracks[track].isEnded = true
        reportReadyIfKnown()
        settle()
        for other in tracks { other.condition.signal() }
        if !isPaced, failure == nil, tracks.allSatisfy({ $0.isEnded }) {
            if case .ended = phase { return }
            phase = .ended
            position =
                tracks.compactMap { max($0.video?.decodedEnd ?? .zero, $0.audio?.decodedEnd ?? .zero) }.max()
                ?? position
            report(.ended)
        }
        presenter.signal()
    }

    /// Where no picture can come any more, playback stands where it can.
    private mutating func settle() {
        guard case .preparing = phase, !mayHoldVideo else { return }
        if let candidate {
            land(candidate, at: min(seek?.time ?? candidate.time, candidate.endTime))
        } else if let first = tracks.compactMap({ $0.audio?.blocks.first }).map(\.time).min() {
            land(nil, at: seek.map { max($0.time, first) } ?? first)
        } else if !tracks.isEmpty, tracks.allSatisfy({ $0.isEnded }) {
            phase = .holding
            position = seek?.time ?? position
            if let seek { report(.seekCompleted(id: seek.id, time: position)) }
            seek = nil
        }
    }
}
