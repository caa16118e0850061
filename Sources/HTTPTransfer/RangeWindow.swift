/// Cuts the bytes that were asked for out of an answer, which may be the whole resource where a server does no ranges.
public struct RangeWindow: Sendable {
    private let range: Range<UInt64>?
    /// Bytes to pass over first.
    private var skipped: UInt64 = 0
    /// Bytes still wanted; `nil` for all.
    private var left: Int?
    private var isWrong = false

    /// - Parameter range: What was asked for; `nil` for everything.
    public init(_ range: Range<UInt64>?) {
        self.range = range
        left = range.map { Int(clamping: $0.count) }
    }

    /// Whether everything that was asked for has come.
    public var isFilled: Bool { left == 0 || isWrong }

    /// Looks at the answer's head.
    public mutating func begin(_ response: HTTPResponse) {
        guard let range else { return }
        if response.status == 206 {
            // Without the field, which only a multipart answer may leave out, nobody knows which bytes these are.
            isWrong = response.contentRange?.first != range.lowerBound
        } else {
            skipped = range.lowerBound
        }
    }

    /// The wanted part of the next bytes.
    public mutating func clip(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard range != nil, !isWrong else { return isWrong ? [] : bytes }
        let drop = Int(min(UInt64(bytes.count), skipped))
        skipped -= UInt64(drop)
        let part = bytes.dropFirst(drop).prefix(left ?? .max)
        left = left.map { $0 - part.count }
        return part
    }

    /// Checks at the end of the body that everything came.
    public func finish() throws(HTTPError) {
        guard !isWrong else { throw .other("the server answered with another range than was asked for") }
        guard let range, let left, left > 0 else { return }
        throw .truncated(received: range.count - left)
    }
}
