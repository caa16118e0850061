extension RawSpan {
    /// The first two bytes as a number in network order.
    ///
    /// - Precondition: there are two.
    var bigEndian16: Int { Int(unsafeLoadUnaligned(fromByteOffset: 0, as: UInt16.self).bigEndian) }
}

extension [UInt8] {
    /// Appends a span's bytes, or the first `limit` of them.
    mutating func append(_ span: RawSpan, atMost limit: Int = .max) {
        let part = span.extracting(0..<Swift.min(limit, span.byteCount))
        part.withUnsafeBytes { append(contentsOf: $0) }
    }
}
