internal import CoreModel

/// What one viewer has of one segment: the rules of `SegmentBuffer` and `SegmentAssembly`, over chunks instead of bytes.
///
/// The CDN's bytes are genuine. They count for the player, and may be shared, when the leaves of their stripe are known or
/// their whole stripe is there, and at once while there is no record.
struct SegmentLedger {
    /// Whether bytes are held against the record.
    private(set) var hasRecord = false
    /// Chunks that count as there; with a record, these are verified.
    private(set) var present = ChunkSet()
    /// Chunks of the CDN's that wait for the rest of their stripe.
    private var collected = ChunkSet()
    /// Stripes whose leaves are known.
    private var leaves = ChunkSet()
    /// Chunks that transfers from the CDN will bring.
    var expected = ChunkSet()

    var isEmpty: Bool { present.isEmpty && collected.isEmpty }

    /// Chunks that have come, whether they count already or not.
    var receivedCount: Int { present.count + collected.count }

    /// What may be uploaded.
    var verified: ChunkSet { hasRecord ? present : ChunkSet() }

    func isComplete(_ geometry: SegmentGeometry) -> Bool { present.runLength(from: 0) >= geometry.chunkCount }

    /// Bytes from the start that can be played.
    @inline(__always) func contiguousByteCount(_ geometry: SegmentGeometry) -> Int {
        min(geometry.byteCount, present.runLength(from: 0) * SegmentGeometry.chunkByteCount)
    }

    /// Bytes from the start that are there, those of the CDN's with them that wait for the rest of their stripe.
    func contiguousReceivedByteCount(_ geometry: SegmentGeometry) -> Int {
        var chunk = 0
        while true {
            let next = max(present.runLength(from: chunk), collected.runLength(from: chunk))
            guard next > 0 else { return min(geometry.byteCount, chunk * SegmentGeometry.chunkByteCount) }
            chunk += next
        }
    }

    @inline(__always) func knowsLeaves(ofStripe stripe: Int) -> Bool { leaves.contains(stripe) }

    /// Takes a whole chunk from the CDN; the chunks that count as there because of it.
    mutating func takeFromCDN(_ chunk: Int, _ geometry: SegmentGeometry) -> Range<Int>? {
        guard !present.contains(chunk) else { return nil }
        guard hasRecord else {
            present.insert(chunk)
            return chunk..<chunk + 1
        }
        let stripe = geometry.stripe(ofChunk: chunk)
        if leaves.contains(stripe) {
            present.insert(chunk)
            return chunk..<chunk + 1
        }
        collected.insert(chunk)
        return settle(stripe, geometry)
    }

    private mutating func settle(_ stripe: Int, _ geometry: SegmentGeometry) -> Range<Int>? {
        let chunks = geometry.chunkRange(ofStripe: stripe)
        guard collected.contains(chunks) else { return nil }
        for chunk in chunks {
            collected.remove(chunk)
            present.insert(chunk)
        }
        leaves.insert(stripe)
        return chunks
    }

    /// Takes leaves from a peer; whether chunks count as there because of them.
    mutating func takeLeaves(ofStripe stripe: Int, _ geometry: SegmentGeometry) -> Bool {
        guard hasRecord, stripe < geometry.stripeCount, leaves.insert(stripe) else { return false }
        var hasSettled = false
        for chunk in geometry.chunkRange(ofStripe: stripe) where collected.remove(chunk) {
            present.insert(chunk)
            hasSettled = true
        }
        return hasSettled
    }

    /// Whether a peer's chunk can be checked and is new.
    @inline(__always) func canTakeFromPeer(_ chunk: Int, _ geometry: SegmentGeometry) -> Bool {
        hasRecord && geometry.chunks.contains(chunk) && !present.contains(chunk)
            && leaves.contains(geometry.stripe(ofChunk: chunk))
    }

    /// Takes a peer's chunk that is genuine.
    mutating func takeFromPeer(_ chunk: Int) {
        collected.remove(chunk)
        present.insert(chunk)
    }

    /// Holds the bytes against the record from now on. Those of stripes that are not whole wait for the rest.
    mutating func adoptRecord(_ geometry: SegmentGeometry) {
        guard !hasRecord else { return }
        hasRecord = true
        collected = present
        present = ChunkSet()
        if geometry.chunkCount == 1 { leaves.insert(0) }
        guard !collected.isEmpty else { return }
        for stripe in 0..<geometry.stripeCount { _ = settle(stripe, geometry) }
    }

    /// Forgets all bytes; the record stays.
    mutating func evict() {
        present = ChunkSet()
        collected = ChunkSet()
        leaves = ChunkSet()
        expected = ChunkSet()
    }
}
