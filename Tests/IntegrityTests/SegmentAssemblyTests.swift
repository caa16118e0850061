import CoreModel
import Integrity
import Testing

struct SegmentAssemblyTests {
    private let bytes = Fixtures.bytes(300_000)  // 19 chunks in 3 stripes, the last chunk of 5,088 bytes

    private func chunk(_ index: Int) -> ArraySlice<UInt8> {
        bytes[SegmentGeometry(byteCount: bytes.count)!.byteRange(ofChunk: index)]
    }

    private func assembly() throws -> SegmentAssembly {
        SegmentAssembly(segment: try Fixtures.verified(bytes), suite: suite)
    }

    @Test func `Chunks from peers verify against their leaves`() throws {
        var assembly = try assembly()
        #expect(throws: ChunkError.leavesUnknown) { try assembly.accept(chunk: chunk(3), at: 3) }
        #expect(!assembly.canAccept(chunk: 3))
        for stripe in 0..<3 {
            #expect(try assembly.accept(leaves: Fixtures.leaves(bytes, stripe: stripe), stripe: stripe) == .init())
        }
        for index in (0..<19).reversed() {
            #expect(assembly.canAccept(chunk: index))
            #expect(try assembly.accept(chunk: chunk(index), at: index))
            #expect(assembly.chunk(at: index) == chunk(index))
            #expect(assembly.contiguousByteCount == (index == 0 ? 300_000 : 0))
        }
        #expect(assembly.isComplete && assembly.isPlayable)
        #expect(assembly.pieces(in: 0..<300_000).flatMap { $0 } == bytes)
        #expect(try !assembly.accept(chunk: chunk(0), at: 0))
    }

    @Test func `What a bad peer sends is refused and changes nothing`() throws {
        var assembly = try assembly()
        let leaves = Fixtures.leaves(bytes, stripe: 0)
        #expect(throws: LeafError.noSuchStripe) { try assembly.accept(leaves: leaves, stripe: 3) }
        #expect(throws: LeafError.noSuchStripe) { try assembly.accept(leaves: leaves, stripe: -1) }
        #expect(throws: LeafError.wrongCount(expected: 8, actual: 7)) {
            try assembly.accept(leaves: leaves.dropLast(), stripe: 0)
        }
        #expect(throws: LeafError.wrongCount(expected: 3, actual: 8)) { try assembly.accept(leaves: leaves, stripe: 2) }
        #expect(throws: LeafError.mismatch) { try assembly.accept(leaves: leaves, stripe: 1) }
        #expect(throws: LeafError.mismatch) { try assembly.accept(leaves: leaves.reversed(), stripe: 0) }
        _ = try assembly.accept(leaves: leaves, stripe: 0)
        #expect(throws: LeafError.mismatch) { try assembly.accept(leaves: leaves.reversed(), stripe: 0) }
        #expect(throws: ChunkError.noSuchChunk) { try assembly.accept(chunk: chunk(0), at: 19) }
        #expect(throws: ChunkError.noSuchChunk) { try assembly.accept(chunk: chunk(0), at: -1) }
        #expect(throws: ChunkError.wrongLength(expected: 16384, actual: 0)) { try assembly.accept(chunk: [], at: 0) }
        #expect(throws: ChunkError.mismatch) { try assembly.accept(chunk: chunk(1), at: 0) }
        var flipped = Array(chunk(0))
        flipped[16383] ^= 1
        #expect(throws: ChunkError.mismatch) { try assembly.accept(chunk: flipped[...], at: 0) }
        #expect(assembly.verified.isEmpty)
        #expect(assembly.pieces(in: 0..<300_000).isEmpty)
    }

    @Test(arguments: [1000, 16384, 17001, 131_072, 300_000])
    func `Bytes from the CDN in any split verify a stripe at a time`(size: Int) throws {
        var assembly = try assembly()
        var verified: [Int] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let end = min(bytes.count, start + size)
            let checked = try assembly.acceptTrusted(bytes[start..<end], at: start)
            #expect(checked.mismatched.isEmpty)
            verified += checked.verified
            #expect(assembly.contiguousByteCount == end)
            #expect(assembly.contiguousVerifiedByteCount == (end == bytes.count ? end : end / 131_072 * 131_072))
            #expect(assembly.pieces(in: 0..<end).flatMap { $0 } == Array(bytes[..<end]))
        }
        #expect(verified == Array(0..<19))
        #expect(assembly.isComplete)
        #expect(assembly.leaves(ofStripe: 2) == Fixtures.leaves(bytes, stripe: 2))
    }

    @Test func `Random overlapping pieces in random order`() throws {
        for seed in 0..<30 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var assembly = try assembly()
            var verified = ChunkSet()
            var isThere = [Bool](repeating: false, count: bytes.count)
            for round in 0..<200 where !assembly.isComplete {
                let start = Int.random(in: 0..<bytes.count, using: &generator)
                let longest = round < 150 ? 20_000 : 150_000
                let end = min(bytes.count, start + Int.random(in: 0...longest, using: &generator))
                let checked = try assembly.acceptTrusted(bytes[start..<end], at: start)
                for index in start..<end { isThere[index] = true }
                #expect(checked.mismatched.isEmpty)
                for chunk in checked.verified {
                    let isNew = verified.insert(chunk)
                    #expect(isNew)
                }
                let prefix = isThere.firstIndex(of: false) ?? bytes.count
                #expect(assembly.contiguousByteCount == prefix)
                #expect(assembly.pieces(in: 0..<prefix).flatMap { $0 } == Array(bytes[..<prefix]))
            }
            _ = try assembly.acceptTrusted(bytes[...], at: 0)
            #expect(assembly.isComplete, "seed \(seed)")
            #expect(assembly.pieces(in: 5..<299_999).flatMap { $0 } == Array(bytes[5..<299_999]))
        }
    }

    @Test func `With the leaves known a chunk of the CDN verifies at once`() throws {
        var assembly = try assembly()
        _ = try assembly.acceptTrusted(chunk(9), at: 9 * 16384)
        _ = try assembly.acceptTrusted(chunk(10).prefix(100), at: 10 * 16384)
        #expect(assembly.verified.isEmpty)
        let waiting = try assembly.accept(leaves: Fixtures.leaves(bytes, stripe: 1), stripe: 1)
        #expect(waiting.verified == [9])
        let checked = try assembly.acceptTrusted(bytes[10 * 16384 + 100..<11 * 16384], at: 10 * 16384 + 100)
        #expect(checked.verified == [10])
        // And a peer's chunk takes the place of a part.
        _ = try assembly.acceptTrusted(chunk(11).prefix(100), at: 11 * 16384)
        #expect(try assembly.accept(chunk: chunk(11), at: 11))
    }

    @Test func `CDN bytes that don't match stay playable and are never verified`() throws {
        var assembly = try assembly()
        var altered = bytes
        altered[140_000] ^= 1
        let checked = try assembly.acceptTrusted(altered[...], at: 0)
        #expect(checked.verified == Array(0..<8) + Array(16..<19))
        #expect(checked.mismatched == Array(8..<16))
        #expect(assembly.mismatched.count == 8)
        #expect(assembly.isPlayable && !assembly.isComplete)
        #expect(assembly.chunk(at: 8) == nil)
        #expect(assembly.leaves(ofStripe: 1) == nil)
        #expect(assembly.pieces(in: 0..<300_000).flatMap { $0 } == altered)
        // Another host has the right bytes.
        assembly.discardUnverified()
        #expect(assembly.contiguousByteCount == 131_072)
        #expect(try assembly.acceptTrusted(bytes[131_072..<262_144], at: 131_072).verified == Array(8..<16))
        #expect(assembly.isComplete && assembly.mismatched.isEmpty)
        #expect(assembly.pieces(in: 0..<300_000).flatMap { $0 } == bytes)
    }

    @Test func `Bytes beyond the end are refused`() throws {
        var assembly = try assembly()
        #expect(throws: ChunkError.outOfBounds) { try assembly.acceptTrusted([1, 2], at: 299_999) }
        #expect(throws: ChunkError.outOfBounds) { try assembly.acceptTrusted([1], at: -1) }
        #expect(throws: ChunkError.outOfBounds) { try assembly.acceptTrusted([], at: 300_001) }
        #expect(throws: ChunkError.outOfBounds) { try assembly.acceptTrusted([1], at: .max) }
        #expect(try assembly.acceptTrusted([], at: 300_000) == CheckedChunks())
    }

    @Test func `A segment of one chunk needs no leaves`() throws {
        var assembly = SegmentAssembly(segment: try Fixtures.verified([1, 2, 3]), suite: suite)
        #expect(throws: ChunkError.mismatch) { try assembly.accept(chunk: [1, 2, 4], at: 0) }
        #expect(try assembly.accept(chunk: [1, 2, 3], at: 0))
        #expect(assembly.isComplete)
    }

    @Test func `Lent bytes stay as they were`() throws {
        var assembly = try assembly()
        _ = try assembly.acceptTrusted(bytes[..<100], at: 0)
        let lent = assembly.pieces(in: 0..<100)
        _ = try assembly.acceptTrusted(bytes[100...], at: 100)
        #expect(lent.flatMap { $0 } == Array(bytes[..<100]))
    }
}
