public import CoreModel

/// The bytes of one segment of the session, from their first to their last, with a record or without.
///
/// With a record, bytes count once they are settled: verified, or from the CDN and known to differ from the record.
/// Without one, the CDN's bytes count as they come. Not for two threads at a time.
public final class SegmentBuffer {
    /// Bytes without a record: a run from the start, or pieces of a segment whose size is known.
    ///
    /// They lie in chunks, because the player holds what it was lent: a write copies one chunk at most then, and not all
    /// that came before.
    private struct Plain {
        /// Chunks from the start; bytes that have not come are zero.
        private var chunks: [[UInt8]] = []
        private(set) var filled: [Range<Int>] = []

        /// The bytes from the start without a hole.
        var prefix: Int { filled.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }

        /// Where the last byte that has come ends.
        var end: Int { filled.last?.upperBound ?? 0 }

        var heldByteCount: Int { chunks.reduce(0) { $0 + $1.count } }

        mutating func insert(_ piece: ArraySlice<UInt8>, at offset: Int) {
            guard !piece.isEmpty else { return }
            let end = offset + piece.count
            var rest = piece
            for place in Self.places(of: offset..<end) {
                while chunks.count <= place.chunk { chunks.append([]) }
                put(rest.prefix(place.bytes.count), in: place.chunk, at: place.bytes.lowerBound)
                rest = rest.dropFirst(place.bytes.count)
            }
            var merged = offset..<end
            filled.removeAll { range in
                guard range.lowerBound <= merged.upperBound, merged.lowerBound <= range.upperBound else { return false }
                merged = min(range.lowerBound, merged.lowerBound)..<max(range.upperBound, merged.upperBound)
                return true
            }
            let place = filled.firstIndex { $0.lowerBound > merged.lowerBound } ?? filled.endIndex
            filled.insert(merged, at: place)
        }

        private mutating func put(_ bytes: ArraySlice<UInt8>, in chunk: Int, at offset: Int) {
            let held = chunks[chunk].count
            if held == 0 { chunks[chunk].reserveCapacity(SegmentGeometry.chunkByteCount) }
            if offset > held { chunks[chunk].append(contentsOf: repeatElement(0, count: offset - held)) }
            if offset >= held {
                chunks[chunk] += bytes
            } else {
                chunks[chunk].replaceSubrange(offset..<min(held, offset + bytes.count), with: bytes)
            }
        }

        /// Lends bytes that have come, a piece for each chunk.
        func pieces(in range: Range<Int>) -> [ArraySlice<UInt8>] {
            Self.places(of: range).map { chunks[$0.chunk][$0.bytes] }
        }

        /// The chunks that a range touches, with the bytes of each.
        private static func places(of range: Range<Int>) -> [(chunk: Int, bytes: Range<Int>)] {
            guard !range.isEmpty else { return [] }
            let size = SegmentGeometry.chunkByteCount
            return (range.lowerBound / size...(range.upperBound - 1) / size).map { chunk in
                let bytes = range.clamped(to: chunk * size..<(chunk + 1) * size)
                return (chunk, bytes.lowerBound - chunk * size..<bytes.upperBound - chunk * size)
            }
        }
    }

    private enum Content {
        case plain(Plain)
        case shared(SegmentAssembly)
        /// Between the two, while the bytes move over.
        case moving
    }

    private var content = Content.plain(Plain())
    /// The segment's size, once known.
    public private(set) var byteCount: Int?
    /// Chunks that count as there.
    public private(set) var present = ChunkSet()
    /// Chunks that the CDN brought.
    public private(set) var fromCDN = ChunkSet()

    /// Makes a buffer of a segment of which nothing is known.
    public init() {}

    /// The record that the bytes are held against.
    public var verifiedSegment: VerifiedSegment? {
        if case .shared(let assembly) = content { assembly.segment } else { nil }
    }

    /// Chunks that may be announced and uploaded.
    public var verified: ChunkSet {
        if case .shared(let assembly) = content { assembly.verified } else { ChunkSet() }
    }

    /// Whether every byte is verified.
    public var isVerified: Bool {
        if case .shared(let assembly) = content { assembly.isComplete } else { false }
    }

    /// Whether every byte has settled.
    public var isComplete: Bool { byteCount.map { contiguousByteCount == $0 } ?? false }

    /// The bytes from the start that can be played.
    public var contiguousByteCount: Int {
        switch content {
        case .plain(let plain): return plain.prefix
        case .shared(let assembly):
            let chunks = present.runLength(from: 0)
            return assembly.geometry.byteRange(ofChunks: 0..<chunks).count
        case .moving: return 0
        }
    }

    /// The bytes from the start that are there, those of the CDN's with them that wait for the rest of their stripe: what a
    /// player can be given that would stall otherwise, for the CDN's bytes are trusted by their connection.
    public var contiguousReceivedByteCount: Int {
        switch content {
        case .plain(let plain): plain.prefix
        case .shared(let assembly): assembly.contiguousByteCount
        case .moving: 0
        }
    }

    /// The memory that the bytes take.
    public var heldByteCount: Int {
        switch content {
        case .plain(let plain): plain.heldByteCount
        case .shared: present.count * SegmentGeometry.chunkByteCount
        case .moving: 0
        }
    }

    /// The bytes that have come, whether they count already or not.
    ///
    /// - Complexity: O(chunks).
    public var receivedByteCount: Int {
        switch content {
        case .plain(let plain): plain.filled.reduce(0) { $0 + $1.count }
        case .shared(let assembly): assembly.receivedByteCount
        case .moving: 0
        }
    }

    /// Takes the size from the CDN's answer.
    public func learn(byteCount: Int) {
        if self.byteCount == nil { self.byteCount = byteCount }
    }

    /// Lends the bytes of a range that lies within ``contiguousReceivedByteCount``.
    public func pieces(in range: Range<Int>) -> [ArraySlice<UInt8>] {
        switch content {
        case .plain(let plain): plain.pieces(in: range.clamped(to: 0..<plain.prefix))
        case .shared(let assembly): assembly.pieces(in: range.clamped(to: 0..<assembly.contiguousByteCount))
        case .moving: []
        }
    }

    /// Takes bytes from the CDN.
    ///
    /// - Returns: The chunks that count as there because of them, and those of these that differ from the record;
    ///   `nil` when the bytes reach beyond the segment.
    public func take(_ bytes: ArraySlice<UInt8>, at offset: Int) -> (arrived: [Int], mismatched: [Int])? {
        switch content {
        case .plain(var plain):
            if let byteCount, offset + bytes.count > byteCount { return nil }
            content = .moving
            plain.insert(bytes, at: offset)
            content = .plain(plain)
            return (settlePlain(around: offset..<offset + bytes.count), [])
        case .shared(var assembly):
            content = .moving
            let checked = try? assembly.acceptTrusted(bytes, at: offset)
            content = .shared(assembly)
            guard let checked else { return nil }
            let settled = (checked.verified + checked.mismatched).filter { present.insert($0) }
            for chunk in settled { fromCDN.insert(chunk) }
            return (settled.sorted(), checked.mismatched)
        case .moving: return nil
        }
    }

    /// The chunks of plain bytes that have just become whole.
    private func settlePlain(around range: Range<Int>) -> [Int] {
        guard case .plain(let plain) = content else { return [] }
        let size = SegmentGeometry.chunkByteCount
        var arrived: [Int] = []
        for chunk in range.lowerBound / size...max(range.lowerBound, range.upperBound - 1) / size {
            let lower = chunk * size
            let upper = min(lower + size, byteCount ?? lower + size)
            let isWhole = plain.filled.contains { $0.lowerBound <= lower && $0.upperBound >= upper }
            if upper > lower, isWhole, present.insert(chunk) {
                fromCDN.insert(chunk)
                arrived.append(chunk)
            }
        }
        return arrived
    }

    /// The CDN's answer is over and the segment's size thereby known; returns the last chunk when it settles.
    public func finishPlain() -> [Int] {
        guard case .plain(let plain) = content, let byteCount, plain.prefix == byteCount, byteCount > 0 else {
            return []
        }
        return settlePlain(around: byteCount - 1..<byteCount)
    }

    /// Takes leaves from a peer; throws when they prove that it lies.
    public func take(leaves: [Digest], stripe: Int) throws(LeafError) -> (arrived: [Int], mismatched: [Int]) {
        guard case .shared(var assembly) = content else { return ([], []) }
        content = .moving
        defer { content = .shared(assembly) }
        let checked = try assembly.accept(leaves: leaves, stripe: stripe)
        let settled = (checked.verified + checked.mismatched).filter { present.insert($0) }
        for chunk in settled { fromCDN.insert(chunk) }
        return (settled.sorted(), checked.mismatched)
    }

    /// Takes a chunk from a peer; true when it is new. Throws when it can't be believed.
    public func take(chunk bytes: ArraySlice<UInt8>, at index: Int) throws(ChunkError) -> Bool {
        guard case .shared(var assembly) = content else { return false }
        content = .moving
        defer { content = .shared(assembly) }
        guard try assembly.accept(chunk: bytes, at: index) else { return false }
        present.insert(index)
        return true
    }

    /// A verified chunk, for a peer.
    public func chunk(at index: Int) -> ArraySlice<UInt8>? {
        if case .shared(let assembly) = content { assembly.chunk(at: index) } else { nil }
    }

    /// The leaves of a stripe, where known.
    public func leaves(ofStripe stripe: Int) -> [Digest]? {
        if case .shared(let assembly) = content { assembly.leaves(ofStripe: stripe) } else { nil }
    }

    /// Holds the bytes against a record from now on, those that are there first.
    ///
    /// - Returns: The chunks that differ from it. Bytes that were there and make no whole stripe wait for the rest, so
    ///   ``present`` can shrink; a segment of another size than the record's keeps its bytes and gets no record.
    public func adopt(_ segment: VerifiedSegment, suite: any CryptoSuite) -> [Int]? {
        guard case .plain(let plain) = content else { return [] }
        if let byteCount, byteCount != segment.geometry.byteCount { return nil }
        guard plain.end <= segment.geometry.byteCount else { return nil }
        byteCount = segment.geometry.byteCount
        var assembly = SegmentAssembly(segment: segment, suite: suite)
        var mismatched: [Int] = []
        for range in plain.filled {
            var offset = range.lowerBound
            for piece in plain.pieces(in: range) {
                if let checked = try? assembly.acceptTrusted(piece, at: offset) { mismatched += checked.mismatched }
                offset += piece.count
            }
        }
        content = .shared(assembly)
        present = assembly.verified
        present.formUnion(assembly.mismatched)
        fromCDN = present
        return mismatched
    }

    /// Forgets what the CDN brought and the record doesn't confirm, so that another host's bytes can take its place.
    public func discardUnverified() {
        guard case .shared(var assembly) = content else { return }
        content = .moving
        assembly.discardUnverified()
        content = .shared(assembly)
        var unverified = present
        unverified.subtract(assembly.verified)
        present.subtract(unverified)
        fromCDN.subtract(unverified)
    }

    /// Gives the memory of verified chunks back: their bytes lie elsewhere, and come back with ``take(chunk:at:)``, which
    /// verifies them again. The record and the leaves stay.
    public func unload(_ chunks: Range<Int>) {
        guard case .shared(var assembly) = content else { return }
        content = .moving
        var unloaded = assembly.verified
        assembly.unload(chunks)
        content = .shared(assembly)
        unloaded.subtract(assembly.verified)
        present.subtract(unloaded)
    }

    /// Gives the record up: the CDN's bytes stay, those of peers go unless they were played, for the CDN serves this
    /// viewer another version of the segment.
    ///
    /// - Parameters:
    ///   - playedByteCount: Bytes from the start that the player has.
    ///   - byteCount: The size that the CDN's version has; `nil` while it isn't known to be another than the record's.
    public func abandonRecord(playedByteCount: Int, byteCount newByteCount: Int? = nil) {
        guard case .shared(let assembly) = content else { return }
        byteCount = newByteCount ?? byteCount
        var plain = Plain()
        for chunk in assembly.geometry.chunks {
            let range = assembly.geometry.byteRange(ofChunk: chunk)
            // What is not verified came from the CDN, whether its stripe was checked by now or not.
            let isPeers = assembly.verified.contains(chunk) && !fromCDN.contains(chunk)
            guard !isPeers || range.lowerBound < playedByteCount else { continue }
            guard byteCount.map({ range.upperBound <= $0 }) ?? true || !isPeers else { continue }
            for piece in assembly.pieces(in: range) { plain.insert(piece, at: range.lowerBound) }
        }
        content = .plain(plain)
        present = ChunkSet()
        fromCDN = ChunkSet()
        for run in plain.filled { _ = settlePlain(around: run) }
    }
}
