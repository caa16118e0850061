import CoreModel

/// The thread of one track: reads segments, demuxes and decodes.
///
/// Demuxing runs as far ahead as there are bytes (packets wait encoded), decoding as far as there is room. Both are done
/// by the one thread, so that the first frame passes through no queue between threads.
final class TrackPipeline {
    let core: EngineCore
    let track: Int
    let id: Int
    let kind: TrackKind
    let condition: Condition

    private var initialization: [UInt8]?
    var generation: UInt64 = 0
    var damagedSegments = 0
    private var sampleAES = SampleAES()
    /// The elementary streams of the source that is being read.
    var streams: [ElementaryStream] = []

    init(core: EngineCore, track: Int, id: Int, kind: TrackKind, condition: Condition) {
        self.core = core
        self.track = track
        self.id = id
        self.kind = kind
        self.condition = condition
    }

    var monitor: Monitor<EngineState> { core.monitor }

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
        var boxes = BoxTracker()
        guard boxes.take(bytes[...]) else {
            return damaged(.malformedContainer(track: id, code: LibraryCode.invalidData.rawValue), limit: 0)
        }
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
            monitor: monitor, track: track, id: id, condition: condition, generation: generation, info: info,
            initialization: initialization, isIdleWorkReady: { [unowned self] state in canWork(state) },
            onIdle: { [unowned self] in pump() })
        defer { streams = [] }
        let limit = core.configuration.damagedSegmentLimit
        guard let container = source.sniff() else {
            guard !isCancelled else { return }
            if let failure = source.failure {
                damaged(failure, limit: 0)
            } else if source.isDamaged {
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
            if source.failure != nil || source.isDamaged { throw .invalidData }
            guard !streams.isEmpty, streams.allSatisfy({ !$0.hasDecoded }), !isCancelled else { return }
            damaged(.undecodable(track: id), limit: limit)
        } catch {
            if error == .endOfFile, source.isEmpty, !source.isDamaged { return }
            guard !isCancelled else { return }
            if let failure = source.failure { return damaged(failure, limit: 0) }
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
            // An MP4 is decrypted before it is taken apart.
            if timing != .container, let keys = info.sampleKeys, let codec = demuxer.sampleCodec(index) {
                try packet.replaceBytes { sampleAES.decrypt($0, codec, keys) }
            }
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
