extension [UInt8] {
    /// Grows by `count` bytes that `fill` writes.
    ///
    /// The bytes are not zeroed first where the array has room for them.
    mutating func appendUninitialised(_ count: Int, fill: (UnsafeMutablePointer<UInt8>) -> Bool) -> Bool {
        var result = false
        append(addingCapacity: count) { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer, initialised in
                result = unsafe fill(buffer.baseAddress!)
                initialised = count
            }
        }
        return result
    }
}
