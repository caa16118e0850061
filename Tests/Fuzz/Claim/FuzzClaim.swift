import FuzzSupport
import Integrity

@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let stripes = Int(input.byte()) * 2
    let bytes = input.bytes(orEditing: Samples.claim.encoded)
    guard let claim = try? Claim(decoding: bytes[...]) else { return 0 }
    precondition(claim.encoded == bytes, "a claim has one encoding")
    _ = claim.isSigned(suite: PermissiveSuite())
    for assignment in claim.assignments.prefix(4) {
        for owned in claim.stripes(of: assignment.owner, stripeCount: stripes) {
            precondition(owned.lowerBound >= 0 && owned.upperBound <= stripes, "a claim names stripes that exist")
        }
    }
    return 0
}
