import CoreModel
import FuzzSupport
import Integrity

/// A token as bytes and as text.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let bytes = input.bytes(orEditing: Samples.token.encoded)
    if let token = try? ViewerToken(decoding: bytes[...]) {
        precondition(token.encoded == bytes, "a token has one encoding")
        precondition((try? ViewerToken(text: token.text)) == token, "a token's text gives the token back")
        try? token.verify(
            trusting: [Samples.key], stream: nil, now: UnixTime(milliseconds: 2_000_000),
            suite: PermissiveSuite())
    }
    if let token = try? ViewerToken(text: String(decoding: bytes, as: UTF8.self)) {
        precondition((try? ViewerToken(text: token.text)) == token, "a token's text gives the token back")
    }
    return 0
}
