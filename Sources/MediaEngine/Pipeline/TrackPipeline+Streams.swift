import CoreModel

/// The elementary streams of a source: opened with their first packets, filled with the others.
extension TrackPipeline {
    func takes(_ content: TrackKind) -> Bool { kind == .muxed || kind == content }

    func declare(_ demuxer: Demuxer) {
        var (hasVideo, hasAudio) = (false, false)
        var size: PictureSize?
        for index in 0..<demuxer.streamCount {
            guard let stream = demuxer.stream(index) else { continue }
            if stream.kind == .video {
                hasVideo = true
                size = size ?? stream.size
            } else if stream.kind == .audio {
                hasAudio = true
            }
        }
        monitor.withLock { state in
            guard !state.isCancelled(generation) else { return }
            state.declareContent(track: track, hasVideo: hasVideo, hasAudio: hasAudio, size: size)
        }
        core.deliver()
    }

    /// Makes the stream of a first packet. Nil when no decoder takes it, which fails the engine.
    func open(
        _ demuxer: Demuxer, _ packet: borrowing Packet, _ content: Demuxer.Stream, _ contentKind: TrackKind,
        _ info: SegmentInfo, _ timing: Timing
    ) -> ElementaryStream? {
        guard let pointer = unsafe demuxer.pointer(packet.streamIndex) else { return nil }
        do throws(EngineError) {
            let decoder = try unsafe Decoder(
                stream: pointer, firstPacket: packet, threadCount: core.configuration.decoderThreadCount, track: id)
            var mediaTime = MediaTime.zero
            var runningTime: MediaTime?
            switch timing {
            case .container, .transportStream:
                if let timestamp = packet.timestamp {
                    mediaTime = content.mediaTime(timestamp) ?? .zero
                }
            case .tag(let timestamp):
                var unfolder = TimestampUnfolder(expecting: expectedTimestamp(info))
                mediaTime = MediaTime(ticks: timestamp + unfolder.turns(for: timestamp), timescale: 90_000)
                runningTime = mediaTime
            case .untimed:
                runningTime = info.start - (info.mediaOffset ?? .zero)
                mediaTime = info.start
            }
            let stream = ElementaryStream(
                kind: contentKind, index: packet.streamIndex, content: content, decoder: decoder,
                placement: ElementaryStream.Placement(mediaTime: mediaTime, info: info), runningTime: runningTime)
            if timing == .untimed, info.mediaOffset == nil { stream.place(at: .zero) }
            return stream
        } catch {
            monitor.withLock { state in
                if !state.isCancelled(generation) { state.fail(error) }
            }
            core.deliver()
            return nil
        }
    }

    /// A stream has come into another segment: its timestamps must still lie where the manifest says, about.
    func entered(_ info: SegmentInfo, _ stream: ElementaryStream, _ packet: borrowing Packet) {
        stream.lastInfo = info
        guard info.mediaOffset == nil, let offset = stream.offset, let timestamp = packet.timestamp,
            let mediaTime = stream.content.mediaTime(timestamp)
        else { return }
        let distance = mediaTime + offset - info.start
        guard distance > SectionTable.tolerance || distance < -SectionTable.tolerance else { return }
        stream.replace(ElementaryStream.Placement(mediaTime: mediaTime, info: info))
    }

    func enqueue(_ packet: consuming Packet, in stream: ElementaryStream) {
        let byteCount = packet.byteCount
        let known = stream.append(packet)
        monitor.withLock { state in
            guard !state.isCancelled(generation) else { return }
            state.tracks[track].encodedByteCount += byteCount
            state.tracks[track][stream.kind]?.undecodedDuration += known.waiting
            state.tracks[track][stream.kind]?.requestedDuration += known.taken
        }
    }

    /// Where the first timestamp of a segment should lie, in 90 kHz ticks; nil when nothing is known.
    func expectedTimestamp(_ info: SegmentInfo) -> Int64? {
        let offset = info.mediaOffset ?? monitor.withLock { $0.sections.firstOffset(section: info.section) }
        return offset.map { (info.start - $0).ticks(at: 90_000) }
    }
}
