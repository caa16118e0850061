import FuzzSupport
import Manifest

/// A playlist; when it is a multivariant one, a media playlist after a line that says `#NEXT`.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let bytes = Array("#EXTM3U\n".utf8) + input.rest()
    let cut = bytes.firstRange(of: Array("#NEXT\n".utf8))
    let first = cut.map { Array(bytes[..<$0.lowerBound]) } ?? bytes
    let second = cut.map { Array(bytes[$0.upperBound...]) } ?? bytes
    if let presentation = try? Presentation.parse(first, url: "http://cdn.example/path/to/main.m3u8?token=a") {
        walk(presentation, feeding: second)
    }
    return 0
}
