import CoreModel
@testable import Delivery
import Integrity
import Testing

/// The bytes of a segment, with its record and without.
@Suite struct SegmentBufferTests {
    private let title = TestTitle(segmentCount: 1)
    private var bytes: [UInt8] { title.segments[0] }
    private let chunk = SegmentGeometry.chunkByteCount
    private let stripe = SegmentGeometry.chunkByteCount * SegmentGeometry.chunksPerStripe

    private func record() throws -> VerifiedSegment { try title.verified(0, now: Stage.now) }

    private func joined(_ buffer: SegmentBuffer) -> [UInt8] {
        buffer.pieces(in: 0..<bytes.count).flatMap { Array($0) }
    }

    @Test func withoutARecordBytesCountAsTheyCome() {
        let buffer = SegmentBuffer()
        #expect(buffer.take(bytes[..<20_000], at: 0)?.arrived == [0])
        #expect(buffer.contiguousByteCount == 20_000)
        #expect(buffer.verified.isEmpty)
        #expect(!buffer.isComplete)
    }

    @Test func aSizeThatIsLearntAtTheEndCompletesTheLastChunk() {
        let buffer = SegmentBuffer()
        _ = buffer.take(bytes[...], at: 0)
        #expect(!buffer.isComplete)
        buffer.learn(byteCount: bytes.count)
        #expect(buffer.finishPlain() == [bytes.count / chunk])
        #expect(buffer.isComplete)
        #expect(joined(buffer) == bytes)
    }

    @Test func piecesOutOfOrderMakeTheSameSegment() {
        let buffer = SegmentBuffer()
        buffer.learn(byteCount: bytes.count)
        let cuts = Array(stride(from: 0, to: bytes.count, by: 7001)) + [bytes.count]
        for (lower, upper) in zip(cuts, cuts.dropFirst()).reversed() {
            _ = buffer.take(bytes[lower..<upper], at: lower)
        }
        #expect(buffer.isComplete)
        #expect(buffer.present.count == (bytes.count + chunk - 1) / chunk)
        #expect(joined(buffer) == bytes)
    }

    @Test func withARecordBytesOfAStripeThatIsNotWholeAreThereForWhoCannotWait() throws {
        let buffer = SegmentBuffer()
        _ = buffer.adopt(try record(), suite: TestTitle.suite)
        _ = buffer.take(bytes[..<20_000], at: 0)
        #expect(buffer.contiguousByteCount == 0 && buffer.verified.isEmpty)
        #expect(buffer.contiguousReceivedByteCount == 20_000)
        #expect(buffer.pieces(in: 0..<20_000).flatMap { Array($0) } == Array(bytes[..<20_000]))
        #expect(buffer.pieces(in: 0..<30_000).flatMap { Array($0) } == Array(bytes[..<20_000]))
        _ = buffer.take(bytes[20_000..<stripe + 5], at: 20_000)
        #expect(buffer.contiguousByteCount == stripe)
        #expect(buffer.contiguousReceivedByteCount == stripe + 5)
    }

    @Test func whatWasLentStaysAndMakesLaterWritesCopyNoMoreThanAChunk() {
        let buffer = SegmentBuffer()
        var lent: [ArraySlice<UInt8>] = []
        let cuts = Array(stride(from: 0, to: bytes.count, by: 7001)) + [bytes.count]
        for (lower, upper) in zip(cuts, cuts.dropFirst()) {
            _ = buffer.take(bytes[lower..<upper], at: lower)
            lent += buffer.pieces(in: lower..<upper)
        }
        #expect(lent.flatMap { Array($0) } == bytes)
        #expect(lent.allSatisfy { $0.startIndex >= 0 && $0.endIndex <= chunk })
        #expect(buffer.heldByteCount == bytes.count)
    }

    @Test func bytesBeyondTheEndAreRefused() {
        let buffer = SegmentBuffer()
        buffer.learn(byteCount: 100)
        #expect(buffer.take(bytes[..<101], at: 0) == nil)
    }

    @Test func withARecordAStripeCountsWhenItIsWholeAndRight() throws {
        let buffer = SegmentBuffer()
        #expect(buffer.adopt(try record(), suite: TestTitle.suite) == [])
        #expect(buffer.take(bytes[..<(stripe - 1)], at: 0)?.arrived == [])
        #expect(buffer.contiguousByteCount == 0)
        #expect(buffer.take(bytes[(stripe - 1)..<stripe], at: stripe - 1)?.arrived == Array(0..<8))
        #expect(buffer.verified == ChunkSet(0..<8))
        #expect(buffer.contiguousByteCount == stripe)
    }

    @Test func aRecordThatComesLateFindsTheBytesThatAreThere() throws {
        let buffer = SegmentBuffer()
        _ = buffer.take(bytes[..<(stripe + chunk)], at: 0)
        #expect(buffer.present.count == 9)
        #expect(buffer.adopt(try record(), suite: TestTitle.suite) == [])
        // The ninth chunk waits for the rest of its stripe.
        #expect(buffer.verified == ChunkSet(0..<8))
        #expect(buffer.present == ChunkSet(0..<8))
        _ = buffer.take(bytes[(stripe + chunk)...], at: stripe + chunk)
        #expect(buffer.isComplete)
        #expect(buffer.verified.count == buffer.present.count)
        #expect(joined(buffer) == bytes)
    }

    @Test func aRecordOfAnotherSizeIsNotTaken() throws {
        let buffer = SegmentBuffer()
        buffer.learn(byteCount: bytes.count + 1)
        #expect(buffer.adopt(try record(), suite: TestTitle.suite) == nil)
        #expect(buffer.verifiedSegment == nil)
    }

    @Test func bytesThatDifferFromTheRecordArePlayableAndNeverVerified() throws {
        var altered = bytes
        altered[5] ^= 1
        let buffer = SegmentBuffer()
        _ = buffer.adopt(try record(), suite: TestTitle.suite)
        let result = try #require(buffer.take(altered[...], at: 0))
        #expect(result.mismatched == Array(0..<8))
        #expect(buffer.isComplete)
        #expect(buffer.verified == ChunkSet(8..<buffer.present.count))
        #expect(buffer.chunk(at: 0) == nil)
        #expect(joined(buffer) == altered)
    }

    @Test func aPeersChunkCountsWhenItsLeafIsKnown() throws {
        let source = SegmentBuffer()
        _ = source.adopt(try record(), suite: TestTitle.suite)
        _ = source.take(bytes[...], at: 0)
        let buffer = SegmentBuffer()
        _ = buffer.adopt(try record(), suite: TestTitle.suite)
        let payload = try #require(source.chunk(at: 1))
        #expect(throws: ChunkError.leavesUnknown) { try buffer.take(chunk: payload, at: 1) }
        _ = try buffer.take(leaves: #require(source.leaves(ofStripe: 0)), stripe: 0)
        #expect(throws: ChunkError.mismatch) { try buffer.take(chunk: payload, at: 2) }
        #expect(try buffer.take(chunk: payload, at: 1))
        #expect(try !buffer.take(chunk: payload, at: 1))
        #expect(buffer.verified == ChunkSet(1..<2))
        #expect(buffer.fromCDN.isEmpty)
    }

    @Test func givingTheRecordUpKeepsTheCDNsBytesAndWhatWasPlayed() throws {
        let source = SegmentBuffer()
        _ = source.adopt(try record(), suite: TestTitle.suite)
        _ = source.take(bytes[...], at: 0)
        let buffer = SegmentBuffer()
        _ = buffer.adopt(try record(), suite: TestTitle.suite)
        _ = try buffer.take(leaves: #require(source.leaves(ofStripe: 0)), stripe: 0)
        for index in [0, 1, 5] { _ = try buffer.take(chunk: #require(source.chunk(at: index)), at: index) }
        // A whole chunk and a part of one, whose stripe is not there yet.
        _ = buffer.take(bytes[stripe..<(stripe + chunk + 10)], at: stripe)
        buffer.abandonRecord(playedByteCount: chunk)
        #expect(buffer.verifiedSegment == nil)
        #expect(buffer.verified.isEmpty)
        #expect(buffer.present == ChunkSet([0, 8]))
        #expect(buffer.contiguousByteCount == chunk)
        _ = buffer.take(bytes[(stripe + chunk + 10)...], at: stripe + chunk + 10)
        _ = buffer.take(bytes[chunk..<stripe], at: chunk)
        #expect(buffer.isComplete)
        #expect(joined(buffer) == bytes)
    }

    @Test func givingTheRecordUpTakesTheSizeOfTheCDNsVersion() throws {
        let buffer = SegmentBuffer()
        _ = buffer.adopt(try record(), suite: TestTitle.suite)
        _ = buffer.take(bytes[..<stripe], at: 0)
        buffer.abandonRecord(playedByteCount: 0, byteCount: stripe + 1)
        #expect(buffer.byteCount == stripe + 1)
        #expect(buffer.take(bytes[stripe...stripe], at: stripe)?.arrived == [8])
        #expect(buffer.isComplete)
    }

    @Test func whatWasUnloadedComesBackVerifiedOrNotAtAll() throws {
        let buffer = SegmentBuffer()
        _ = buffer.adopt(try record(), suite: TestTitle.suite)
        _ = buffer.take(bytes[...], at: 0)
        #expect(buffer.isVerified && buffer.isComplete)
        buffer.unload(2..<5)
        #expect(!buffer.isVerified && buffer.contiguousByteCount == 2 * chunk)
        #expect(buffer.verified.missing(in: 0..<8) == [2..<5] && buffer.present == buffer.verified)
        #expect(buffer.chunk(at: 3) == nil && buffer.chunk(at: 5) != nil)
        #expect(buffer.leaves(ofStripe: 0) != nil)
        buffer.unload(0..<4096)
        #expect(buffer.heldByteCount == 0 && buffer.contiguousByteCount == 0)
        var altered = Array(bytes[..<chunk])
        altered[7] ^= 1
        #expect(throws: ChunkError.mismatch) { try buffer.take(chunk: altered[...], at: 0) }
        #expect(buffer.present.isEmpty)
        for number in stride(from: 0, to: bytes.count, by: chunk) {
            let isNew = try buffer.take(chunk: bytes[number..<min(number + chunk, bytes.count)], at: number / chunk)
            #expect(isNew)
        }
        #expect(buffer.isVerified && joined(buffer) == bytes)
    }
}
