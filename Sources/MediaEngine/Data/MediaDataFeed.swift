public import CoreModel
internal import Synchronization

/// Feeds a ``MediaEngine`` with MP4 data that nobody has cut into segments: any split of the bytes, fragmented or plain.
///
/// Data is checked before the decoder sees it; what is refused changes nothing. Times are those of the media, from zero.
/// Thread-safe; calls return at once. The engine takes its input from this feed alone.
public final class MediaDataFeed: Sendable {
    private struct State {
        var walkers: [DataCoding: MP4Walker] = [:]
        /// Codings that the engine has a track for.
        var added: Set<DataCoding> = []
        /// Codings whose next bytes go on with the initialisation section from before a seek.
        var restarted: Set<DataCoding> = []
        var isEnded = false
    }

    private let engine: MediaEngine
    private let fileByteLimit: Int
    private let state = Mutex(State())

    /// Makes a feed.
    ///
    /// - Parameter fileByteLimit: what is kept of a plain MP4 until the `moov` at its end makes it playable.
    public init(engine: MediaEngine, fileByteLimit: Int = 256 << 20) {
        self.engine = engine
        self.fileByteLimit = fileByteLimit
    }

    /// Appends the next bytes of a coding. An initialisation section comes first; each call continues the last one, except
    /// the first and after a seek.
    public func append(_ data: [UInt8], coding: DataCoding) throws(DataError) {
        if let failure = engine.failure { throw .engineFailed(failure) }
        let error = try state.withLock { state throws(DataError) -> EngineError? in
            guard !state.isEnded else { throw .afterEndOfStream }
            var walker =
                state.walkers.removeValue(forKey: coding)
                ?? MP4Walker(coding: coding, fileByteLimit: fileByteLimit)
            // Put back changed or not: a walker that refuses is as it was.
            defer { state.walkers[coding] = walker }
            let units = try walker.append(data[...])
            if state.added.insert(coding).inserted { engine.addTrack(id: coding.trackID, kind: coding.trackKind) }
            var steps = units.flatMap(Self.steps)
            if let first = steps.first, state.restarted.remove(coding) != nil, case .bytes = first {
                steps.insert(.segmentBegan(Self.info), at: 0)
            }
            for step in steps {
                if let error = engine.appendQuietly(track: coding.trackID, step) { return error }
            }
            return nil
        }
        if let error { engine.fail(error) }
    }

    private static let info = SegmentInfo(start: .zero, mediaOffset: .zero)

    private static func steps(for unit: MP4Walker.Unit) -> [InputStep] {
        switch unit {
        case .initialization(let bytes): [.initialization(bytes), .segmentBegan(info)]
        case .bytes(let bytes, begins: true): [.fileBegan, .segmentBegan(info), .bytes(bytes)]
        case .bytes(let bytes, begins: false): [.bytes(bytes)]
        case .file(let bytes): [.file(bytes, info)]
        }
    }

    /// Playback finishes after what was appended. Forgotten at a seek.
    public func endOfStream() {
        let error = state.withLock { state -> EngineError? in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            for coding in DataCoding.allCases {
                guard let walker = state.walkers[coding] else { continue }
                if walker.isHolding { return .incompleteFile(track: coding.trackID) }
                _ = engine.appendQuietly(track: coding.trackID, .endOfTrack)
            }
            return nil
        }
        if let error { engine.fail(error) }
    }

    /// Drops what is buffered and seeks; the caller appends again, from a random access point at or before `time`.
    public func seek(id: UInt64, to time: MediaTime, tolerance: MediaTime? = .zero) {
        state.withLock { state in
            state.isEnded = false
            for coding in DataCoding.allCases where state.walkers[coding]?.reset() != nil {
                state.restarted.insert(coding)
            }
            engine.seekQuietly(id: id, to: time, tolerance: tolerance)
        }
        engine.deliver()
    }

    /// Duration that was appended and not yet asked for decoding: the smaller one of audio and video.
    public var bufferedDuration: MediaTime {
        state.withLock { state in
            var durations: [MediaTime] = []
            for (coding, walker) in state.walkers {
                let (appended, requested) = (walker.appended, engine.requestedDurations(track: coding.trackID))
                for kind in [TrackKind.video, .audio] where walker.holds(kind) {
                    durations.append(max(.zero, appended[kind] - requested[kind]))
                }
            }
            return durations.min() ?? .zero
        }
    }
}
