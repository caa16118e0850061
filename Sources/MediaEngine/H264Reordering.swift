/// Whether an H.264 stream says how many frames it reorders, which tells a decoder when the next frame in presentation
/// order is certain (ITU-T H.264, E.2.1 `bitstream_restriction_flag`).
enum H264Reordering: Equatable {
    case stated
    /// Nothing is said, and the profile allows reordering.
    case unstated
    /// The profile has no reordering, or no parameter set was found.
    case none

    /// Looks at the first sequence parameter set in `bytes`: an `avcC` record, or a byte stream with start codes.
    init(_ bytes: [UInt8]) {
        guard let set = Self.parameterSet(in: bytes) else {
            self = .none
            return
        }
        var reader = BitReader(Self.unescaped(set))
        self = Self.parse(&reader) ?? .none
    }

    private static func parameterSet(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        if bytes.count > 8, bytes[0] == 1, bytes[5] & 0x1F > 0 {
            let length = Int(bytes[6]) << 8 | Int(bytes[7])
            guard length > 1, 8 + length <= bytes.count else { return nil }
            return bytes[9..<8 + length]
        }
        var index = 0
        while index + 3 < bytes.count {
            if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                if bytes[index + 3] & 0x1F == 7 { return bytes[(index + 4)...] }
                index += 3
            } else {
                index += 1
            }
        }
        return nil
    }

    /// Takes the emulation prevention bytes out.
    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var zeros = 0
        for byte in bytes.prefix(512) {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }

    private static func parse(_ reader: inout BitReader) -> H264Reordering? {
        guard let profile = reader.bits(8), reader.skip(16), reader.exponentialGolomb() != nil else { return nil }
        if profile == 66 { return H264Reordering.none }
        if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138].contains(profile) {
            guard let chroma = reader.exponentialGolomb() else { return nil }
            if chroma == 3, !reader.skip(1) { return nil }
            guard reader.exponentialGolomb() != nil, reader.exponentialGolomb() != nil, reader.skip(1),
                let hasMatrices = reader.bits(1)
            else { return nil }
            if hasMatrices == 1 {
                for index in 0..<(chroma == 3 ? 12 : 8) {
                    guard reader.skipScalingList(of: index < 6 ? 16 : 64) else { return nil }
                }
            }
        }
        guard reader.exponentialGolomb() != nil, let orderType = reader.exponentialGolomb() else { return nil }
        if orderType == 0 {
            guard reader.exponentialGolomb() != nil else { return nil }
        } else if orderType == 1 {
            guard reader.skip(1), reader.exponentialGolomb() != nil, reader.exponentialGolomb() != nil,
                let count = reader.exponentialGolomb(), count <= 255
            else { return nil }
            for _ in 0..<count where reader.exponentialGolomb() == nil { return nil }
        } else {
            return H264Reordering.none  // Type 2: output order is decoding order.
        }
        guard reader.exponentialGolomb() != nil, reader.skip(1), reader.exponentialGolomb() != nil,
            reader.exponentialGolomb() != nil, let framesOnly = reader.bits(1)
        else { return nil }
        if framesOnly == 0, !reader.skip(1) { return nil }
        guard reader.skip(1), let hasCropping = reader.bits(1) else { return nil }
        if hasCropping == 1 {
            for _ in 0..<4 where reader.exponentialGolomb() == nil { return nil }
        }
        guard let hasUsability = reader.bits(1) else { return nil }
        return hasUsability == 0 ? .unstated : parseUsability(&reader)
    }

    private static func parseUsability(_ reader: inout BitReader) -> H264Reordering? {
        guard let hasRatio = reader.bits(1) else { return nil }
        if hasRatio == 1 {
            guard let ratio = reader.bits(8) else { return nil }
            if ratio == 255, !reader.skip(32) { return nil }
        }
        guard let hasOverscan = reader.bits(1) else { return nil }
        if hasOverscan == 1, !reader.skip(1) { return nil }
        guard let hasSignal = reader.bits(1) else { return nil }
        if hasSignal == 1 {
            guard reader.skip(4), let hasColour = reader.bits(1) else { return nil }
            if hasColour == 1, !reader.skip(24) { return nil }
        }
        guard let hasLocation = reader.bits(1) else { return nil }
        if hasLocation == 1 {
            guard reader.exponentialGolomb() != nil, reader.exponentialGolomb() != nil else { return nil }
        }
        guard let hasTiming = reader.bits(1) else { return nil }
        if hasTiming == 1, !reader.skip(65) { return nil }
        var hasBufferModel = false
        for _ in 0..<2 {
            guard let hasModel = reader.bits(1) else { return nil }
            if hasModel == 1 {
                hasBufferModel = true
                guard let count = reader.exponentialGolomb(), count < 32, reader.skip(8) else { return nil }
                for _ in 0...count {
                    guard reader.exponentialGolomb() != nil, reader.exponentialGolomb() != nil, reader.skip(1) else {
                        return nil
                    }
                }
                guard reader.skip(20) else { return nil }
            }
        }
        if hasBufferModel, !reader.skip(1) { return nil }
        guard reader.skip(1), let isRestricted = reader.bits(1) else { return nil }
        return isRestricted == 1 ? .stated : .unstated
    }
}

/// Reads bits from the most significant end.
private struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next `count` bits, at most 32.
    mutating func bits(_ count: Int) -> UInt32? {
        guard position + count <= bytes.count * 8 else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            value = value << 1 | UInt32(bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1)
            position += 1
        }
        return value
    }

    mutating func skip(_ count: Int) -> Bool {
        guard position + count <= bytes.count * 8 else { return false }
        position += count
        return true
    }

    /// ue(v), also long enough to step over se(v).
    mutating func exponentialGolomb() -> UInt32? {
        var zeros = 0
        while let bit = bits(1) {
            if bit == 1 {
                guard let rest = bits(zeros) else { return nil }
                return (1 << UInt32(zeros)) - 1 + rest
            }
            zeros += 1
            if zeros > 31 { return nil }
        }
        return nil
    }

    /// se(v).
    mutating func signedExponentialGolomb() -> Int32? {
        guard let code = exponentialGolomb() else { return nil }
        let magnitude = Int32((code >> 1) + (code & 1))
        return code & 1 == 1 ? magnitude : -magnitude
    }

    mutating func skipScalingList(of count: Int) -> Bool {
        guard let isPresent = bits(1) else { return false }
        if isPresent == 0 { return true }
        var (last, next): (Int32, Int32) = (8, 8)
        for _ in 0..<count {
            if next != 0 {
                guard let delta = signedExponentialGolomb() else { return false }
                next = (last &+ delta) & 0xFF
            }
            if next != 0 { last = next }
        }
        return true
    }
}
