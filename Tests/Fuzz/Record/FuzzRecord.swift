import CoreModel
import FuzzSupport
import Integrity

/// A signed segment from a peer: what decodes encodes to the same bytes, and what a policy accepts takes leaves and chunks.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let suite = PermissiveSuite()
    let bytes = input.bytes(orEditing: Samples.segment(number: 1).encoded)
    guard let segment = try? SignedSegment(decoding: bytes[...]) else { return 0 }
    precondition(segment.encoded == bytes, "a record has one encoding")
    _ = segment.statement.duration
    let key = Samples.key
    let policy = AuthorityPolicy(stream: segment.statement.name.stream, keys: [key], suite: suite)
    for now in [0, 2_000_000, Int64.max / 2] {
        guard let verified = try? policy.verify(segment, now: UnixTime(milliseconds: now), suite: suite) else {
            continue
        }
        guard verified.geometry.byteCount < 1 << 20 else { continue }
        var assembly = SegmentAssembly(segment: verified, suite: suite)
        _ = try? assembly.acceptTrusted(bytes[...], at: 0)
        _ = try? assembly.accept(chunk: bytes[...], at: 0)
        _ = try? assembly.accept(leaves: [verified.root], stripe: 0)
        _ = assembly.pieces(in: 0..<verified.geometry.byteCount)
    }
    return 0
}
