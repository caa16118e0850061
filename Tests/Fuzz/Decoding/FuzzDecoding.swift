import FuzzSupport
import MediaEngine

/// Segments through the demuxers and decoders, as the engine drives them.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    MediaParsers.decode(input.rest())
    return 0
}
