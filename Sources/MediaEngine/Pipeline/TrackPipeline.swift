import CoreModel

/// The thread of one track: reads segments, demuxes and decodes.
///
/// Demuxing runs as far ahead as there are bytes (packets wait encoded), decoding as far as there is room. Both are done
/// by the one thread, so that the first frame passes through no queue between threads.
final class TrackPipeline {
    private let core: EngineCore
    private let track: Int
    private let id: Int
    private let kind: TrackKind
    private let condition: Condition

    private var initialization: [UInt8]?
    private var generation: UInt64 = 0
    private var damagedSegments = 0
    /// The elementary streams of the source that is being read.
    private var streams: [ElementaryStream] = []

    init(core: EngineCore, track: Int, id: Int, kind: TrackKind, condition: Condition) {
        self.core = core
        self.track = track
        self.id = id
        self.kind = kind
        self.condition = condition
    }

    private var monitor: Monitor<EngineState> { core.monitor }

    private enum Next {
        case segment(SegmentInfo)
        case initialization([UInt8])
        case fileBegan
        case file([UInt8], SegmentInfo)
        case endOfTrack
        case restarted(UInt64)
        case stopped
    }

    /// Runs until the engine stops.
    func run() {
        while true {
            switch next() {
            case .segment(let info): play(info)
            case .initialization(let bytes): initialization = bytes
            case .fileBegan: initialization = nil
            case .file(let bytes, let info): play(file: bytes, info)
            case .restarted(let generation):
                self.generation = generation
                damagedSegments = 0
            case .endOfTrack:
                monitor.withLock { state in
                    guard !state.isCancelled(generation) else { return }
                    state.endTrack(track)
                }
                core.deliver()
            case .stopped:
                return
            }
        }
    }

    /// The next step of the input that begins something; bytes outside of a segment are dropped.
    private func next() -> Next {
        monitor.wait(on: condition) { state in
            if state.isStopping || state.failure != nil { return .done(.stopped) }
            if state.generation != generation { return .done(.restarted(state.generation)) }
            while let step = state.tracks[track].input.popFirst() {
                state.tracks[track].encodedByteCount -= step.byteCount
                switch step {
                case .initialization(let bytes): return .done(.initialization(bytes))
                case .segmentBegan(let info):
                    state.tracks[track].beganSegment(info)
                    return .done(.segment(info))
                case .file(let bytes, let info): return .done(.file(bytes, info))
                case .endOfTrack: return .done(.endOfTrack)
                case .fileBegan: return .done(.fileBegan)
                case .bytes, .segmentEnded: continue
                }
            }
            return .wait(until: nil)
        }
    }

    // MARK: - One source

    private func play(file bytes: [UInt8], _ info: SegmentInfo) {
        let generation = generation
        let memory = MemorySource(bytes) { [monitor] in monitor.withLock { $0.isCancelled(generation) } }
        defer { streams = [] }
        do throws(LibraryCode) {
            try decode(Demuxer(container: .mp4, source: memory), info, timing: .container) { _ in info }
        } catch {
            // Nothing follows that could be played in its place.
            damaged(.malformedContainer(track: id, code: error.rawValue), limit: 0)
        }
    }

    private func play(_ info: SegmentInfo) {
        // The source lives no longer than this call, and this call no longer than `self`.
        let source = SegmentSource(
            monitor: monitor, track: track, condition: condition, generation: generation, info: info,
            initialization: initialization, isIdleWorkReady: { [unowned self] state in canWork(state) },
            onIdle: { [unowned self] in pump() })
        defer { streams = [] }
        let limit = core.configuration.damagedSegmentLimit
        guard let container = source.sniff() else {
            guard !isCancelled else { return }
            if source.isDamaged {
                damaged(.malformedContainer(track: id, code: LibraryCode.invalidData.rawValue), limit: limit)
            } else if source.hasBytes {
                damaged(.unknownContainer(track: id), limit: limit)
            }
            return
        }
        let timing: Timing =
            switch container {
            case .mp4: .container
            case .mpegTS: .transportStream
            case .adts, .mp3, .ac3, .eac3: source.packedTimestamp.map { .tag($0) } ?? .untimed
            }
        do throws(LibraryCode) {
            try decode(Demuxer(container: container, source: source), info, timing: timing) {
                source.segment(at: $0)
            }
            if source.isDamaged { throw .invalidData }
            guard !streams.isEmpty, streams.allSatisfy({ !$0.hasDecoded }), !isCancelled else { return }
            damaged(.undecodable(track: id), limit: limit)
        } catch {
            if error == .endOfFile, source.isEmpty, !source.isDamaged { return }
            guard !isCancelled else { return }
            damaged(.malformedContainer(track: id, code: error.rawValue), limit: limit)
        }
    }

    private var isCancelled: Bool { monitor.withLock { $0.isCancelled(generation) } }

    /// Leaves the rest of a damaged segment; more than `limit` in a row fail the engine.
    private func damaged(_ error: EngineError, limit: Int) {
        damagedSegments += 1
        monitor.withLock { state in
            guard !state.isCancelled(generation) else { return }
            state.statistics.damagedSegments += 1
            if damagedSegments > limit { state.fail(error) }
        }
        core.deliver()
    }

    /// Reads a source to its end, decoding meanwhile, and then all that is left.
    ///
    /// - Parameters:
    ///   - segment: the segment that lies at a position of the source.
    ///   - timing: where the timestamps come from.
    private func decode(
        _ demuxer: Demuxer, _ first: SegmentInfo, timing: Timing, segment: (Int64) -> SegmentInfo
    ) throws(LibraryCode) {
        var unfolder = TimestampUnfolder(expecting: expectedTimestamp(first))
        if demuxer.streamCount > 0 { declare(demuxer) }
        var failure: LibraryCode?
        while failure == nil {
            let packet = try Packet()
            do throws(LibraryCode) {
                try demuxer.read(packet)
            } catch {
                if error != .again { failure = error }
                continue
            }
            let index = packet.streamIndex
            guard let content = demuxer.stream(index), let contentKind = content.kind, takes(contentKind) else {
                demuxer.discard(index)
                continue
            }
            if timing == .transportStream, let timestamp = packet.timestamp {
                packet.shift(by: unfolder.turns(for: timestamp))
            }
            let info = segment(packet.position)
            if let stream = streams.first(where: { $0.kind == contentKind }) {
                guard stream.index == index else {
                    demuxer.discard(index)
                    continue
                }
                if info != stream.lastInfo { entered(info, stream, packet) }
                enqueue(packet, in: stream)
            } else {
                declare(demuxer)
                guard let stream = open(demuxer, packet, content, contentKind, info, timing) else { return }
                streams.append(stream)
                enqueue(packet, in: stream)
            }
            pump()
        }
        guard let failure, failure != .exit else { return }
        finish()
        if failure != .endOfFile { throw failure }
    }

    private func takes(_ content: TrackKind) -> Bool { kind == .muxed || kind == content }

    private func declare(_ demuxer: Demuxer) {
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
    private func open(
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
    private func entered(_ info: SegmentInfo, _ stream: ElementaryStream, _ packet: borrowing Packet) {
        stream.lastInfo = info
        guard info.mediaOffset == nil, let offset = stream.offset, let timestamp = packet.timestamp,
            let mediaTime = stream.content.mediaTime(timestamp)
        else { return }
        let distance = mediaTime + offset - info.start
        guard distance > SectionTable.tolerance || distance < -SectionTable.tolerance else { return }
        stream.replace(ElementaryStream.Placement(mediaTime: mediaTime, info: info))
    }

    private func enqueue(_ packet: consuming Packet, in stream: ElementaryStream) {
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
    private func expectedTimestamp(_ info: SegmentInfo) -> Int64? {
        let offset = info.mediaOffset ?? monitor.withLock { $0.sections.firstOffset(section: info.section) }
        return offset.map { (info.start - $0).ticks(at: 90_000) }
    }

    // MARK: - Decoding

    /// Decodes as far as there are packets and room.
    private func pump() {
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
    private func finish() {
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
    private func canWork(_ state: borrowing EngineState) -> Bool {
        streams.contains { stream in
            if stream.placement != nil { return offset(for: stream, state) != nil }
            return stream.hasWork && state.hasRoom(track: track, kind: stream.kind)
        }
    }

    // MARK: - Timeline

    private func place(_ stream: ElementaryStream) {
        let placed = monitor.withLock { state -> MediaTime? in
            guard !state.isCancelled(generation), let placement = stream.placement else { return nil }
            guard let found = offset(for: stream, state) else {
                state.tracks[track][stream.kind]?.awaitsAnchor = true
                state.presenter.signal()
                return nil
            }
            state.tracks[track][stream.kind]?.awaitsAnchor = false
            switch found {
            case .known(let offset): return offset
            case .new:
                let offset = state.sections.anchor(
                    section: placement.info.section, mediaTime: placement.mediaTime, start: placement.info.start)
                for other in state.tracks { other.condition.signal() }
                return offset
            }
        }
        if let placed { stream.place(at: placed) }
    }

    private enum FoundOffset {
        case known(MediaTime)
        /// The stream may anchor its section.
        case new
    }

    /// The offset of a stream that waits to be placed; nil while a video track must anchor the section first.
    private func offset(for stream: ElementaryStream, _ state: borrowing EngineState) -> FoundOffset? {
        guard let placement = stream.placement else { return nil }
        // Another track may have been anchored a turn of the 33-bit clock away.
        for turns in [MediaTime.zero, Self.turn, -Self.turn] {
            let time = placement.mediaTime + turns
            if let offset = state.sections.offset(
                section: placement.info.section, mediaTime: time, start: placement.info.start)
            {
                return .known(offset + turns)
            }
        }
        if stream.kind == .audio {
            for (index, other) in state.tracks.enumerated() where index != track && other.mayHoldVideo { return nil }
            if kind == .muxed, state.tracks[track].video != nil, !stream.isEnding,
                !streams.contains(where: { $0.kind == .video })
            {
                return nil
            }
        }
        return .new
    }

    private static let turn = MediaTime(ticks: 1 << 33, timescale: 90_000)
}

/// Where the timestamps of a source come from.
enum Timing: Equatable {
    case container
    /// The container's, 33 bits wide.
    case transportStream
    /// Packed audio: from a tag in front of the first segment, then by counting samples.
    case tag(Int64)
    /// Packed audio without a tag: from the manifest, then by counting samples.
    case untimed
}
