import CoreModel
import FuzzSupport
import Integrity

/// A catalogue, fed in pieces as ranges of a file come, then its pages, both as they followed the index and one by one.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let portion = Int(input.byte()) * 16 + 1
    let file = input.bytes(orEditing: Samples.catalogue)
    let now = UnixTime(seconds: 2000)
    var reader = CatalogueReader(trusting: [Samples.key], stream: nil, suite: PermissiveSuite())
    var rest = file[...]
    while !rest.isEmpty {
        if reader.requiredRange.map({ $0.isEmpty }) == true { preconditionFailure("an empty range is asked for") }
        guard (try? reader.feed(rest.prefix(portion), now: now)) != nil else { return 0 }
        rest = rest.dropFirst(portion)
    }
    guard (try? reader.finish()) != nil else { return 0 }
    precondition(reader.requiredRange == nil, "a known index needs nothing")
    for page in 0..<min(reader.pageCount, 8) {
        let range = reader.byteRange(ofPage: page)
        guard range.upperBound <= UInt64(file.count) else { continue }
        let bytes = file[Int(range.lowerBound)..<Int(range.upperBound)]
        for segment in (try? reader.accept(page: page, bytes)) ?? [] {
            _ = reader.pageRange(for: segment.name)
            _ = segment.duration
        }
    }
    _ = try? reader.takePages()
    return 0
}
