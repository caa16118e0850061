import CoreModel

/// What threads share of one track. Kept under the engine's lock.
struct TrackState {
    let id: Int
    let kind: TrackKind
    /// Wakes the track's thread: bytes, room, an anchor or a command came.
    let condition: Condition

    /// Steps that the track's thread has not taken yet.
    var input = Queue<InputStep>()
    /// Bytes in ``input`` and in packets that wait for the decoder.
    var encodedByteCount = 0
    /// Duration of the whole segments in ``input``.
    var queuedSegmentDuration = MediaTime.zero
    /// `endOfTrack` was appended: nothing more is taken before the next seek.
    var isSealed = false

    /// The elementary streams, once the container has declared them.
    var video: StreamState?
    var audio: StreamState?
    var contentIsKnown = false
    /// Everything is decoded.
    var isEnded = false

    subscript(kind: TrackKind) -> StreamState? {
        get { kind == .video ? video : audio }
        set { if kind == .video { video = newValue } else { audio = newValue } }
    }

    /// Whether a picture may still come of it.
    var mayHoldVideo: Bool {
        guard !isEnded else { return false }
        switch kind {
        case .video: return true
        case .audio: return false
        case .muxed: return !contentIsKnown || video != nil
        }
    }

    /// The track's thread has begun to read a segment.
    mutating func beganSegment(_ info: SegmentInfo) {
        guard let duration = info.duration else { return }
        queuedSegmentDuration = max(.zero, queuedSegmentDuration - duration)
    }

    /// Forgets all data, for a seek. What the container holds stays known.
    mutating func flush() {
        input.removeAll()
        encodedByteCount = 0
        queuedSegmentDuration = .zero
        isSealed = false
        isEnded = false
        video?.flush()
        audio?.flush()
    }

    /// Whether the clock must not pass the end of what this stream has decoded.
    ///
    /// A stream that a container declares without filling it is not waited for once its sibling runs well ahead.
    func isRequired(_ kind: TrackKind) -> Bool {
        guard let stream = self[kind], !isEnded, !stream.awaitsAnchor else { return false }
        guard self.kind == .muxed, let sibling = self[kind == .video ? .audio : .video] else { return true }
        return sibling.undecodedDuration <= Self.interleaveLimit
    }

    /// How far apart a container may interleave its streams.
    private static let interleaveLimit = MediaTime(seconds: 3)
}

/// What threads share of one elementary stream: decoded, waiting for its time.
struct StreamState {
    var pictures = Queue<VideoFrame>()
    var pictureByteCount = 0
    var blocks = Queue<AudioBlock>()
    /// End of the last frame decoded.
    var decodedEnd: MediaTime?
    /// Duration of the packets that wait for the decoder.
    var undecodedDuration = MediaTime.zero
    /// Duration of the packets that the decoder has taken since the start or the last seek.
    var requestedDuration = MediaTime.zero
    /// The stream can't be placed on the timeline before another track has been.
    var awaitsAnchor = false

    var isEmpty: Bool { pictures.isEmpty && blocks.isEmpty }

    mutating func flush() {
        self = StreamState()
    }
}

/// A step of a track's input as its thread takes it.
enum InputStep {
    case initialization([UInt8])
    case segmentBegan(SegmentInfo)
    case bytes(ArraySlice<UInt8>)
    case segmentEnded
    /// The initialisation section in force doesn't hold for what follows, which brings its own.
    case fileBegan
    /// A whole file that is not stored in the order it is read in.
    case file([UInt8], SegmentInfo)
    case endOfTrack

    init(_ input: TrackInput) {
        self =
            switch input {
            case .initialization(let bytes): .initialization(bytes)
            case .segmentBegan(let info): .segmentBegan(info)
            case .bytes(let bytes): .bytes(bytes)
            case .segmentEnded: .segmentEnded
            case .endOfTrack: .endOfTrack
            }
    }

    /// The bytes it carries.
    var byteCount: Int {
        switch self {
        case .initialization(let bytes): bytes.count
        case .bytes(let bytes): bytes.count
        case .file(let bytes, _): bytes.count
        case .segmentBegan, .segmentEnded, .fileBegan, .endOfTrack: 0
        }
    }
}

extension TrackState {
    /// Duration that is encoded and not yet asked for decoding.
    var bufferedDuration: MediaTime {
        let streams = [video, audio].compactMap { $0?.undecodedDuration }
        return queuedSegmentDuration + (streams.min() ?? .zero)
    }
}

extension EngineState {
    /// Takes a step of input. Returns what is wrong with it.
    mutating func append(_ step: InputStep, track index: Int) -> EngineError? {
        guard !isStopping, failure == nil, !tracks[index].isSealed else { return nil }
        let total = tracks.reduce(step.byteCount) { $0 + $1.encodedByteCount }
        guard total <= configuration.encodedByteLimit else {
            return .bufferOverflow(track: tracks[index].id, limit: configuration.encodedByteLimit)
        }
        tracks[index].encodedByteCount += step.byteCount
        switch step {
        case .segmentBegan(let info): tracks[index].queuedSegmentDuration += info.duration ?? .zero
        case .endOfTrack: tracks[index].isSealed = true
        case .initialization, .bytes, .segmentEnded, .fileBegan, .file: break
        }
        tracks[index].input.append(step)
        tracks[index].condition.signal()
        return nil
    }
}
