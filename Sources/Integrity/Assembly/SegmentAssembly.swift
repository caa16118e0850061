public import CoreModel

/// The bytes of one segment while they come in, from peers and from the CDN, in any order.
///
/// Peers' bytes come as whole chunks and count only when they match their leaf, so the leaves of their stripe must be known
/// first. The CDN's bytes come in pieces of any size; they can be played at once, and become verified, and thereby fit to
/// be shared, when they match their leaf or, while leaves are unknown, when their whole stripe is there and matches the
/// stripe hash. CDN bytes that don't match stay playable and never become verified.
///
/// Each chunk has memory of its own from its first byte on, never written again once it is verified, so lending
/// ``chunk(at:)`` to a sender costs nothing and no later byte copies it. Every byte is copied once and hashed once.
public struct SegmentAssembly: Sendable {
    /// The record that the bytes are held against.
    public let segment: VerifiedSegment
    /// The chunks whose bytes match the record.
    public private(set) var verified = ChunkSet()
    /// The chunks that came whole from the CDN and don't match the record.
    public private(set) var mismatched = ChunkSet()

    private var slots: [Slot]
    private var stripeLeaves: [[Digest]?]
    /// The chunks at the start of which every byte is there.
    private var wholePrefix = 0
    private let suite: any CryptoSuite

    /// The state of one chunk's bytes.
    private enum Slot {
        /// Nothing is there.
        case empty
        /// Some of the CDN's bytes are there.
        case partial(PartialChunk)
        /// All bytes came from the CDN and wait for their stripe.
        case collected([UInt8])
        /// The bytes match the record.
        case verified([UInt8])
        /// All bytes came from the CDN and don't match the record.
        case mismatched([UInt8])
    }

    /// Starts with no bytes.
    public init(segment: VerifiedSegment, suite: any CryptoSuite) {
        self.segment = segment
        self.suite = suite
        slots = Array(repeating: .empty, count: segment.geometry.chunkCount)
        stripeLeaves = Array(repeating: nil, count: segment.geometry.stripeCount)
        if segment.geometry.chunkCount == 1 { stripeLeaves[0] = [segment.root] }
    }

    /// The segment's size, cut into chunks and stripes.
    public var geometry: SegmentGeometry { segment.geometry }

    /// Whether every chunk is verified.
    public var isComplete: Bool { verified.count == geometry.chunkCount }

    /// Whether every byte is there, verified or not.
    public var isPlayable: Bool { contiguousByteCount == geometry.byteCount }

    // MARK: Leaves

    /// The leaves of a stripe, once they are known; what a peer that asks for them gets.
    public func leaves(ofStripe stripe: Int) -> [Digest]? {
        stripeLeaves.indices.contains(stripe) ? stripeLeaves[stripe] : nil
    }

    /// Takes the leaves of a stripe from a peer and checks them against the stripe layer.
    ///
    /// - Returns: What became of CDN bytes that had been waiting.
    /// - Throws: ``LeafError``; each of its cases proves that the sender lies or is broken.
    public mutating func accept(leaves: [Digest], stripe: Int) throws(LeafError) -> CheckedChunks {
        guard stripeLeaves.indices.contains(stripe) else { throw .noSuchStripe }
        let expected = geometry.chunkRange(ofStripe: stripe).count
        guard leaves.count == expected else { throw .wrongCount(expected: expected, actual: leaves.count) }
        if let known = stripeLeaves[stripe] {
            guard known == leaves else { throw .mismatch }
            return CheckedChunks()
        }
        guard MerkleTree.stripeHash(leaves, in: geometry, suite: suite) == segment.stripeLayer[stripe] else {
            throw .mismatch
        }
        stripeLeaves[stripe] = leaves
        var checked = CheckedChunks()
        for chunk in geometry.chunkRange(ofStripe: stripe) { checkAgainstLeaf(chunk, &checked) }
        return checked
    }

    // MARK: Bytes from peers

    /// Whether bytes from peers for this chunk can be checked and are still wanted.
    public func canAccept(chunk: Int) -> Bool {
        geometry.chunks.contains(chunk) && !verified.contains(chunk)
            && stripeLeaves[geometry.stripe(ofChunk: chunk)] != nil
    }

    /// Takes a whole chunk from a peer.
    ///
    /// - Returns: false, with nothing checked, when the chunk was verified before.
    /// - Throws: ``ChunkError``. A wrong length or a mismatch proves that the sender lies or is broken.
    /// - Complexity: One SHA-256 and one copy of the chunk.
    @discardableResult
    public mutating func accept(chunk bytes: ArraySlice<UInt8>, at index: Int) throws(ChunkError) -> Bool {
        guard geometry.chunks.contains(index) else { throw .noSuchChunk }
        let expected = geometry.byteRange(ofChunk: index).count
        guard bytes.count == expected else { throw .wrongLength(expected: expected, actual: bytes.count) }
        guard !verified.contains(index) else { return false }
        guard let leaf = leaf(of: index) else { throw .leavesUnknown }
        guard MerkleTree.leaf(bytes.span.bytes, suite: suite) == leaf else { throw .mismatch }
        slots[index] = .verified(Array(bytes))
        verified.insert(index)
        mismatched.remove(index)
        advanceWholePrefix()
        return true
    }

    // MARK: Bytes from the CDN

    /// Takes bytes from the CDN, which TLS, status and length vouch for.
    ///
    /// Pieces may overlap and come in any order; bytes that are there already are left as they are.
    ///
    /// - Returns: The chunks that were checked because of these bytes.
    /// - Throws: ``ChunkError/outOfBounds`` when the piece reaches beyond the segment; nothing of it is taken then.
    /// - Complexity: One copy of the bytes, and one SHA-256 of each chunk that can be checked now.
    public mutating func acceptTrusted(
        _ bytes: ArraySlice<UInt8>, at offset: Int
    ) throws(ChunkError) -> CheckedChunks {
        guard offset >= 0, offset <= geometry.byteCount, bytes.count <= geometry.byteCount - offset else {
            throw .outOfBounds
        }
        var checked = CheckedChunks()
        var rest = bytes
        var position = offset
        while !rest.isEmpty {
            let chunk = position / SegmentGeometry.chunkByteCount
            let range = geometry.byteRange(ofChunk: chunk)
            let piece = rest.prefix(range.upperBound - position)
            collect(piece, at: position - range.lowerBound, chunk: chunk, byteCount: range.count)
            if case .collected = slots[chunk] {
                if stripeLeaves[geometry.stripe(ofChunk: chunk)] != nil {
                    checkAgainstLeaf(chunk, &checked)
                } else {
                    checkStripe(of: chunk, &checked)
                }
            }
            position += piece.count
            rest = rest.dropFirst(piece.count)
        }
        advanceWholePrefix()
        return checked
    }

    /// Forgets every byte that is not verified, so that another host's bytes can take their place.
    public mutating func discardUnverified() {
        for chunk in slots.indices where !verified.contains(chunk) { slots[chunk] = .empty }
        mismatched = ChunkSet()
        wholePrefix = 0
        advanceWholePrefix()
    }

    /// Gives the memory of verified chunks back; they can be taken again as those of peers are, for the leaves stay.
    public mutating func unload(_ chunks: Range<Int>) {
        for chunk in chunks.clamped(to: geometry.chunks) where verified.remove(chunk) { slots[chunk] = .empty }
        wholePrefix = min(wholePrefix, max(0, chunks.lowerBound))
        advanceWholePrefix()
    }

    // MARK: Reading

    /// The bytes of a verified chunk; `nil` for any other.
    public func chunk(at index: Int) -> ArraySlice<UInt8>? {
        guard slots.indices.contains(index), case .verified(let bytes) = slots[index] else { return nil }
        return bytes[...]
    }

    /// The bytes from the start that are there without a hole, verified or from the CDN: what can be played.
    public var contiguousByteCount: Int {
        guard wholePrefix < slots.count else { return geometry.byteCount }
        return wholePrefix * SegmentGeometry.chunkByteCount + byteCount(in: wholePrefix)
    }

    /// The bytes that are there, those of chunks that wait for the rest of their stripe with them and pieces of chunks without.
    ///
    /// - Complexity: O(chunks).
    public var receivedByteCount: Int {
        slots.indices.reduce(0) { $0 + (isWhole($1) ? geometry.byteRange(ofChunk: $1).count : 0) }
    }

    /// The bytes from the start that are verified without a hole.
    public var contiguousVerifiedByteCount: Int {
        let chunks = verified.runLength(from: 0)
        return chunks == geometry.chunkCount ? geometry.byteCount : chunks * SegmentGeometry.chunkByteCount
    }

    /// The chunks of which every byte is there, verified or not.
    public var present: ChunkSet {
        var present = ChunkSet()
        for chunk in slots.indices where isWhole(chunk) {
            present.insert(chunk)
        }
        return present
    }

    /// Lends the playable bytes of a range, in order, as pieces of at most a chunk.
    ///
    /// - Parameter range: Within what ``contiguousByteCount`` says, or within chunks that are ``present``; what lies
    ///   beyond is left out.
    public func pieces(in range: Range<Int>) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var position = max(0, range.lowerBound)
        let end = min(range.upperBound, geometry.byteCount)
        while position < end {
            let chunk = position / SegmentGeometry.chunkByteCount
            let start = geometry.byteRange(ofChunk: chunk).lowerBound
            let available = byteCount(in: chunk)
            let upper = min(available, end - start)
            guard upper > position - start else { break }
            switch slots[chunk] {
            case .empty: return pieces
            case .partial(let partial): pieces.append(partial.bytes[position - start..<upper])
            case .collected(let bytes), .verified(let bytes), .mismatched(let bytes):
                pieces.append(bytes[position - start..<upper])
            }
            position = start + upper
            guard available == geometry.byteRange(ofChunk: chunk).count else { break }
        }
        return pieces
    }

    // MARK: Helpers

    /// The bytes at the start of a chunk that are there.
    private func byteCount(in chunk: Int) -> Int {
        switch slots[chunk] {
        case .empty: 0
        case .partial(let partial): partial.prefixByteCount
        case .collected(let bytes), .verified(let bytes), .mismatched(let bytes): bytes.count
        }
    }

    private func isWhole(_ chunk: Int) -> Bool { byteCount(in: chunk) == geometry.byteRange(ofChunk: chunk).count }

    private mutating func advanceWholePrefix() {
        while wholePrefix < slots.count, isWhole(wholePrefix) { wholePrefix += 1 }
    }

    private func leaf(of chunk: Int) -> Digest? {
        let stripe = geometry.stripe(ofChunk: chunk)
        return stripeLeaves[stripe]?[chunk - stripe * SegmentGeometry.chunksPerStripe]
    }

    private mutating func collect(_ piece: ArraySlice<UInt8>, at offset: Int, chunk: Int, byteCount: Int) {
        switch slots[chunk] {
        case .collected, .verified, .mismatched: return
        case .empty:
            if piece.count == byteCount {
                slots[chunk] = .collected(Array(piece))
            } else {
                slots[chunk] = .partial(PartialChunk(piece, at: offset, byteCount: byteCount))
            }
        case .partial(var partial):
            // Taken out of the slot while it grows, so that its memory has one owner and is not copied.
            slots[chunk] = .empty
            partial.insert(piece, at: offset)
            slots[chunk] = partial.isComplete ? .collected(partial.bytes) : .partial(partial)
        }
    }

    /// Checks one collected chunk when its leaf is known.
    private mutating func checkAgainstLeaf(_ chunk: Int, _ checked: inout CheckedChunks) {
        guard case .collected(let bytes) = slots[chunk], let leaf = leaf(of: chunk) else { return }
        settle(chunk, bytes, isGenuine: MerkleTree.leaf(bytes.span.bytes, suite: suite) == leaf, &checked)
    }

    /// Checks a stripe whose leaves are unknown when all its chunks are collected.
    private mutating func checkStripe(of chunk: Int, _ checked: inout CheckedChunks) {
        let stripe = geometry.stripe(ofChunk: chunk)
        let chunks = geometry.chunkRange(ofStripe: stripe)
        var leaves: [Digest] = []
        for chunk in chunks {
            guard case .collected = slots[chunk] else { return }
        }
        for chunk in chunks {
            guard case .collected(let bytes) = slots[chunk] else { return }
            leaves.append(MerkleTree.leaf(bytes.span.bytes, suite: suite))
        }
        let isGenuine = MerkleTree.stripeHash(leaves, in: geometry, suite: suite) == segment.stripeLayer[stripe]
        if isGenuine { stripeLeaves[stripe] = leaves }
        for chunk in chunks {
            guard case .collected(let bytes) = slots[chunk] else { continue }
            settle(chunk, bytes, isGenuine: isGenuine, &checked)
        }
    }

    private mutating func settle(_ chunk: Int, _ bytes: [UInt8], isGenuine: Bool, _ checked: inout CheckedChunks) {
        if isGenuine {
            slots[chunk] = .verified(bytes)
            verified.insert(chunk)
            checked.verified.append(chunk)
        } else {
            slots[chunk] = .mismatched(bytes)
            mismatched.insert(chunk)
            checked.mismatched.append(chunk)
        }
    }
}
