import FuzzSupport
import MediaEngine

/// The engine's own parsers of media bytes: MP4 boxes in pieces, ID3 tags, H.264 parameter sets.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let parser = input.byte()
    if parser % 4 == 3 {
        MediaParsers.sniff(input.rest())
        return 0
    }
    var pieces: [[UInt8]] = []
    // One piece in all, or as the input says.
    if parser >= 128 { pieces = [input.rest()] }
    while !input.isEmpty { pieces.append(input.piece()) }
    switch parser % 4 {
    case 0: MediaParsers.walkMP4(pieces)
    case 1: MediaParsers.trackBoxes(pieces)
    default: MediaParsers.readPackedAudioTag(pieces)
    }
    return 0
}
