import FuzzSupport
import Manifest

@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let offset = input.byte()
    let bytes = input.rest()
    _ = try? SegmentIndex.parse(bytes, at: offset == 0 ? nil : UInt64(offset))
    _ = try? SegmentIndex.parse(bytes, at: .max)
    return 0
}
