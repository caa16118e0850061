import CoreModel
import Cryptography

/// How samples are encrypted (ISO/IEC 23001-7, sections 6 and 8.2).
struct SampleProtection: Equatable {
    var scheme: SampleCipher.Scheme
    var keyID: Bytes16
    /// The vector's size in front of each sample's description; 0 where all share ``constantVector``.
    var vectorByteCount: Int
    var constantVector: [UInt8]
    var pattern: SampleCipher.Pattern

    /// Reads what `tenc` and the entries of a `seig` group have in common. Nil when the samples are in the clear.
    ///
    /// - Parameter hasPattern: Whether the second byte says the pattern.
    init?(_ box: inout BoxReader, scheme: SampleCipher.Scheme, hasPattern: Bool) throws(BoxReader.Malformed) {
        try box.skip(1)
        let blocks = Int(try box.number(1))
        let isProtected = try box.number(1) == 1
        vectorByteCount = Int(try box.number(1))
        guard let id = Bytes16(try box.bytes(16)) else { throw box.malformed }
        constantVector = []
        if isProtected, vectorByteCount == 0 {
            let count = Int(try box.number(1))
            guard count == 8 || count == 16 else { throw box.malformed }
            constantVector = Array(try box.bytes(count))
        }
        guard isProtected else { return nil }
        guard vectorByteCount == 0 || vectorByteCount == 8 || vectorByteCount == 16 else { throw box.malformed }
        self.scheme = scheme
        keyID = id
        pattern = hasPattern ? SampleCipher.Pattern(encrypted: blocks >> 4, clear: blocks & 15) : .all
    }
}
