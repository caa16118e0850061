import CoreModel
import FuzzSupport
import SwarmProtocol

/// Frames one after the other, as they stand in a message: what decodes encodes to something that decodes to the same.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    var reader = WireReader(input.rest())
    while reader.remaining > 0 {
        guard let frame = try? Frame(reading: &reader) else { break }
        var again = WireReader(frame.encoded)
        precondition((try? Frame(reading: &again)) == frame, "a frame survives its encoding")
        precondition(again.remaining == 0, "an encoding is one frame")
    }
    return 0
}
