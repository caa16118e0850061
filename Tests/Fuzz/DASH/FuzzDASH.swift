import FuzzSupport
import Manifest

@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let bytes = input.rest()
    if let presentation = try? Presentation.parse(bytes, url: "http://cdn.example/path/to/main.mpd?token=a") {
        walk(presentation, feeding: bytes)
    }
    return 0
}
