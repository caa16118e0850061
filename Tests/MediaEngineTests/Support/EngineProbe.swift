import CoreModel
import Foundation
import MediaEngine
import Synchronization

/// An engine whose output is written down.
final class EngineProbe: Sendable {
    struct Picture: Hashable {
        let time: MediaTime
        let duration: MediaTime
        let size: Int
        let hash: String
    }

    private final class Record: FrameObserver {
        let state = Mutex(State())
        let hashes: Bool

        init(hashes: Bool) {
            self.hashes = hashes
        }

        struct State {
            var pictures: [Picture] = []
            var events: [EngineEvent] = []
            var shown: [MediaTime] = []
            var blocks: [MediaTime] = []
        }

        func videoFrameDecoded(_ frame: VideoFrame) {
            let picture = Picture(
                time: frame.time, duration: frame.duration, size: frame.byteCount,
                hash: hashes ? FrameHasher()?.digest(of: frame) ?? "" : "")
            state.withLock { $0.pictures.append(picture) }
        }

        func audioDecoded(_ block: AudioBlock) {
            state.withLock { $0.blocks.append(block.time) }
        }
    }

    let engine: MediaEngine
    let sink: FrameSink
    private let record: Record

    init(_ configuration: EngineConfiguration = .unpaced) {
        // In real time the hashes would take the time that the test is about.
        let record = Record(hashes: configuration.pacing == .unpaced)
        self.record = record
        sink = FrameSink { frame in record.state.withLock { $0.shown.append(frame.time) } }
        engine = MediaEngine(configuration: configuration, sink: sink, observer: record) { event in
            record.state.withLock { $0.events.append(event) }
        }
    }

    var pictures: [Picture] { record.state.withLock { $0.pictures } }
    var events: [EngineEvent] { record.state.withLock { $0.events } }
    /// Times of the samples, a block each.
    var blocks: [MediaTime] { record.state.withLock { $0.blocks } }
    /// Times of the pictures that the sink got.
    var shown: [MediaTime] { record.state.withLock { $0.shown } }

    /// Waits until an event passes `test`; nil after `seconds`.
    @discardableResult
    func wait(seconds: Double = 20, for test: (EngineEvent) -> Bool) async throws -> EngineEvent? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            if let event = events.first(where: test) { return event }
            try await Task.sleep(for: .milliseconds(2))
        }
        return nil
    }

    /// Waits for the end. Returns the error when there is one.
    func waitForEnd(seconds: Double = 20) async throws -> EngineEvent? {
        try await wait(seconds: seconds) { event in
            switch event {
            case .ended, .failed: true
            case .ready, .firstFrame, .playing, .stallBegan, .stallEnded, .seekCompleted, .seekCancelled: false
            }
        }
    }

    /// The picture on show.
    var newest: (time: MediaTime, hash: String)? {
        sink.frame.map { ($0.time, FrameHasher()?.digest(of: $0) ?? "") }
    }

    /// Appends a whole rendition, each segment cut by `split`.
    func append(
        _ rendition: TestMedia.Rendition, track: Int, from first: Int = 0, section: UInt64 = 0,
        mediaOffset: MediaTime? = nil, ends: Bool = true, split: ([UInt8]) -> [ArraySlice<UInt8>] = { [$0[...]] }
    ) {
        if let initialization = rendition.initialization {
            engine.append(track: track, .initialization(initialization))
        }
        let duration = MediaTime(seconds: Int64(TestMedia.segmentSeconds))
        for (index, segment) in rendition.segments.enumerated().dropFirst(first) {
            let info = SegmentInfo(
                start: duration * Int64(index), duration: duration, mediaOffset: mediaOffset, section: section)
            engine.append(track: track, .segmentBegan(info))
            for piece in split(segment) { engine.append(track: track, .bytes(piece)) }
            engine.append(track: track, .segmentEnded)
        }
        if ends { engine.append(track: track, .endOfTrack) }
    }
}

extension EngineEvent {
    var isPlaying: Bool { if case .playing = self { true } else { false } }
    var isFirstFrame: Bool { if case .firstFrame = self { true } else { false } }
    var isStallBegan: Bool { if case .stallBegan = self { true } else { false } }
    var isStallEnded: Bool { if case .stallEnded = self { true } else { false } }
}
