import CoreModel
import FuzzSupport
import Integrity

@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let bytes = input.bytes(orEditing: Samples.certificate.encoded)
    guard let certificate = try? MembershipCertificate(decoding: bytes[...]) else { return 0 }
    precondition(certificate.encoded == bytes, "a certificate has one encoding")
    for now in [0, 2_000_000, Int64.max / 2] {
        try? certificate.verify(
            trusting: [Samples.key], swarm: certificate.swarm, now: UnixTime(milliseconds: now),
            grace: .seconds(3600), suite: PermissiveSuite())
    }
    return 0
}
