import CoreModel

/// The bytes of consecutive segments that decode as one stream, read as they are appended.
///
/// Ends before the first step of the track's input that needs another decoder: another section, mapping or window,
/// another initialisation section, or the end of the track. That step stays in the input.
final class SegmentSource: ByteSource {
    /// Where a segment starts in the bytes handed out.
    struct Boundary {
        let offset: Int64
        let info: SegmentInfo
    }

    /// What the source is part of: the first segment, and what its successors must share with it.
    let info: SegmentInfo
    let initialization: [UInt8]?
    let generation: UInt64
    /// The timestamp of the ID3 tag in front of the first segment (packed audio), in 90 kHz ticks.
    private(set) var packedTimestamp: Int64?
    /// The segments that were begun.
    private(set) var boundaries: [Boundary]
    /// Container, once its first bytes have been seen.
    private(set) var container: Container?

    private let monitor: Monitor<EngineState>
    private let track: Int
    private let trackID: Int
    private let condition: Condition
    /// Whether ``onIdle`` has something to do; called under the lock.
    private let isIdleWorkReady: (borrowing EngineState) -> Bool
    /// Called while no byte is there.
    private let onIdle: () -> Void

    private var current: ArraySlice<UInt8> = []
    private var offset: Int64 = 0
    private var isFinished = false
    private var tag: PackedAudioTag?
    /// Follows the boxes of an MP4.
    private var boxes = BoxTracker()
    /// The boxes did not fit their segment: what follows can't be read on with the same demuxer.
    private(set) var isDamaged = false
    /// Why samples that are encrypted can't be read; the engine can't go on.
    private(set) var failure: EngineError?
    /// Reads an MP4 that may be encrypted.
    private var decryptor = FragmentDecryptor()
    private var isFirstSegment = true

    init(
        monitor: Monitor<EngineState>, track: Int, id: Int, condition: Condition, generation: UInt64, info: SegmentInfo,
        initialization: [UInt8]?, isIdleWorkReady: @escaping (borrowing EngineState) -> Bool,
        onIdle: @escaping () -> Void
    ) {
        self.monitor = monitor
        self.track = track
        trackID = id
        self.condition = condition
        self.generation = generation
        self.info = info
        self.initialization = initialization
        self.isIdleWorkReady = isIdleWorkReady
        self.onIdle = onIdle
        boundaries = [Boundary(offset: Int64(initialization?.count ?? 0), info: info)]
        decryptor.keys = info.sampleKeys
        super.init()
        guard let initialization else { return }
        container = .mp4
        current = readable(initialization[...]) ?? []
        if !boxes.isAtBorder { damage() }
    }

    private func damage() {
        isDamaged = true
        isFinished = true
    }

    /// Waits for the first bytes and tells the container from them. Nil when it is unknown.
    func sniff() -> Container? {
        if isDamaged { return nil }
        if let container { return container }
        var front: ArraySlice<UInt8> = []
        tag = PackedAudioTag()
        while front.count < Container.sniffedByteCount, fill() {
            if front.isEmpty { front = current } else { front += current }
            current = []
        }
        tag = nil
        container = Container(sniffing: front)
        current = readable(front) ?? []
        return isDamaged ? nil : container
    }

    override func read(into target: UnsafeMutableRawBufferPointer) -> Result {
        while current.isEmpty {
            if !fill() { return isFinished ? .end : .cancelled }
        }
        let count = min(target.count, current.count)
        unsafe current.withUnsafeBytes { source in
            unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
        }
        current = current.dropFirst(count)
        offset += Int64(count)
        return .bytes(count)
    }

    /// The segment that the byte at `position` belongs to; the newest for an unknown position.
    func segment(at position: Int64) -> SegmentInfo {
        for boundary in boundaries.reversed() where position < 0 || boundary.offset <= position {
            return boundary.info
        }
        return boundaries.first?.info ?? info
    }

    /// Whether not one byte was read.
    var isEmpty: Bool { current.isEmpty && offset == 0 }
    /// Whether bytes came, though they may be of no known container.
    var hasBytes: Bool { !current.isEmpty }

    /// The bytes as a demuxer takes them, encrypted samples decrypted. Nil where an MP4's bytes don't go on as boxes, or
    /// can't be decrypted: the source ends.
    private func readable(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard container == .mp4 else { return bytes }
        guard boxes.take(bytes) else {
            damage()
            return nil
        }
        do throws(FragmentDecryptor.Fault) {
            return try decryptor.append(bytes)
        } catch {
            switch error {
            case .malformed: break
            case .missingKey(let id):
                failure = .missingKey(track: trackID, keyID: Hexadecimal.encode(id.bytes))
            case .unsupported(let type): failure = .unsupportedProtection(track: trackID, name: type.description)
            }
            damage()
            return nil
        }
    }

    private enum Fetched {
        case bytes(ArraySlice<UInt8>)
        case began(SegmentInfo)
        case segmentEnded
        case finished
        case cancelled
        case idleWork
    }

    /// Takes steps of the input until bytes are in ``current``. False at the end, or when cancelled.
    private func fill() -> Bool {
        while !isFinished {
            switch fetch() {
            case .bytes(let bytes):
                guard var tag else {
                    guard !bytes.isEmpty, let bytes = readable(bytes), !bytes.isEmpty else { continue }
                    current = bytes
                    return true
                }
                switch tag.append(bytes) {
                case .needsBytes:
                    self.tag = tag
                case .done(let timestamp, let rest):
                    self.tag = nil
                    if isFirstSegment { packedTimestamp = timestamp }
                    if rest.isEmpty { continue }
                    current = rest
                    return true
                }
            case .began(let info):
                isFirstSegment = false
                decryptor.keys = info.sampleKeys
                if container?.isPackedAudio == true { tag = PackedAudioTag() }
                boundaries.append(Boundary(offset: offset, info: info))
                // A container interleaves over less than this many segments.
                if boundaries.count > 16 { boundaries.removeFirst() }
            case .segmentEnded:
                if container == .mp4, !boxes.isAtBorder { damage() }
                guard let rest = tag?.finish(), !rest.isEmpty else { continue }
                tag = nil
                current = rest
                return true
            case .finished:
                isFinished = true
            case .cancelled:
                return false
            case .idleWork:
                onIdle()
            }
        }
        return false
    }

    private func fetch() -> Fetched {
        monitor.wait(on: condition) { state in
            if state.isCancelled(generation) { return .done(.cancelled) }
            while let step = state.tracks[track].input.first {
                switch step {
                case .bytes(let bytes):
                    _ = state.tracks[track].input.popFirst()
                    state.tracks[track].encodedByteCount -= bytes.count
                    return .done(.bytes(bytes))
                case .segmentBegan(let next):
                    guard isContinuation(next) else { return .done(.finished) }
                    _ = state.tracks[track].input.popFirst()
                    state.tracks[track].beganSegment(next)
                    return .done(.began(next))
                case .initialization(let bytes):
                    guard bytes == initialization else { return .done(.finished) }
                    _ = state.tracks[track].input.popFirst()
                    state.tracks[track].encodedByteCount -= bytes.count
                case .segmentEnded:
                    _ = state.tracks[track].input.popFirst()
                    return .done(.segmentEnded)
                case .endOfTrack, .fileBegan, .file:
                    return .done(.finished)
                }
            }
            return isIdleWorkReady(state) ? .done(.idleWork) : .wait(until: nil)
        }
    }

    private func isContinuation(_ next: SegmentInfo) -> Bool {
        next.section == info.section && next.mediaOffset == info.mediaOffset && next.window == info.window
            && next.quality == info.quality
    }
}
