import FuzzSupport
import TrackerProtocol

/// Messages of the control connection in both directions: what decodes encodes to something that decodes to the same.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let fromViewer = input.byte() & 1 == 0
    let bytes = input.rest()
    if fromViewer {
        guard let message = try? ViewerMessage(decoding: bytes[...]) else { return 0 }
        precondition((try? ViewerMessage(decoding: message.encoded()[...])) == message, "a message survives")
    } else if case .some(.some(let message)) = try? TrackerMessage.decode(bytes[...]) {
        let again = try? TrackerMessage.decode(message.encoded()[...])
        // The text of an error is repaired on the way in, which can make it longer than what goes out again.
        if case .error = message { return 0 }
        precondition(again == message, "a message survives")
    }
    return 0
}
