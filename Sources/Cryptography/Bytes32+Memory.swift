internal import CoreModel

extension Bytes32 {
    /// Lends the thirty-two bytes in order, without an allocation.
    func withBigEndianBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var copy = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        return unsafe withUnsafeBytes(of: &copy) { unsafe body($0) }
    }

    /// Makes the value from the thirty-two bytes that `fill` writes, without an allocation.
    init(filledBy fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        var raw: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &raw) { buffer in
            unsafe fill(buffer.baseAddress!.assumingMemoryBound(to: UInt8.self))
        }
        self.init(
            words: (
                UInt64(bigEndian: raw.0), UInt64(bigEndian: raw.1), UInt64(bigEndian: raw.2), UInt64(bigEndian: raw.3)
            ))
    }
}
