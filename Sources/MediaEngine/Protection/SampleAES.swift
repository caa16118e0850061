import CoreModel
import Cryptography

/// Decrypts the samples of a transport stream or of packed audio: "MPEG-2 Stream Encryption Format for HTTP Live
/// Streaming" (Apple), which RFC 8216bis, section 4.4.4.4, names for SAMPLE-AES.
///
/// Each sample begins with the vector of the playlist; what does not fill a block stays clear. Confined to the track's
/// thread.
struct SampleAES {
    /// What is encrypted: slices of pictures, or frames of sound.
    enum Codec { case h264, aac, ac3, eac3 }

    private var known: (key: ContentKey, cipher: SampleCipher)?

    /// The bytes of an access unit in the clear; as they are without a key. Never more than came in.
    ///
    /// - Parameter bytes: An access unit with start codes, or whole frames of sound with their headers.
    mutating func decrypt(_ bytes: [UInt8], _ codec: Codec, _ keys: SampleKeys) -> [UInt8] {
        guard let key = keys.other, let vector = keys.vector, let cipher = cipher(key) else { return bytes }
        switch codec {
        case .h264: return Self.pictures(bytes, cipher, vector)
        case .aac: return Self.sound(bytes, cipher, vector) { Self.adtsFrame($0) }
        case .ac3: return Self.sound(bytes, cipher, vector) { Self.ac3Frame($0) }
        case .eac3: return Self.sound(bytes, cipher, vector) { Self.eac3Frame($0) }
        }
    }

    private mutating func cipher(_ key: ContentKey) -> SampleCipher? {
        if let known, known.key == key { return known.cipher }
        guard let cipher = SampleCipher(.cbcs, key: key) else { return nil }
        known = (key, cipher)
        return cipher
    }

    // MARK: - Pictures

    /// A NAL unit of more bytes is encrypted if it is a slice.
    private static let clearNALByteCount = 48
    /// Bytes of a slice that stay clear, its type among them.
    private static let leaderByteCount = 32
    /// One block of ten.
    private static let pattern = SampleCipher.Pattern(encrypted: 1, clear: 9)

    private static func pictures(_ bytes: [UInt8], _ cipher: SampleCipher, _ vector: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var start = 0
        while start < bytes.count {
            let end = nextStartCode(bytes, from: start) ?? bytes.count
            output += nal(bytes[start..<end], cipher, vector)
            guard end < bytes.count else { break }
            output += [0, 0, 1]
            start = end + 3
        }
        return output
    }

    /// Where three bytes 0, 0, 1 stand.
    private static func nextStartCode(_ bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + 2 < bytes.count {
            if bytes[index + 2] > 1 {
                index += 3
            } else if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                return index
            } else {
                index += 1
            }
        }
        return nil
    }

    private static func nal(
        _ unit: ArraySlice<UInt8>, _ cipher: SampleCipher, _ vector: [UInt8]
    ) -> ArraySlice<UInt8> {
        guard let first = unit.first, [1, 5].contains(first & 0x1F) else { return unit }
        // A zero in front of the next start code belongs to that.
        let trailing = unit.reversed().prefix { $0 == 0 }.count
        let body = unit.dropLast(trailing)
        guard body.count > clearNALByteCount else { return unit }
        // The encrypted bytes were escaped once more, after their own escapes had been encrypted with them.
        var clear = unescaped(body)
        // A block is encrypted only if more follows it.
        let blocks = max(0, clear.count - leaderByteCount - 1) / 16
        cipher.decrypt(
            &clear, vector: vector, ranges: [leaderByteCount..<leaderByteCount + blocks * 16], pattern: pattern)
        return (clear + unit.suffix(trailing))[...]
    }

    /// Takes out each 3 behind two zeros (ISO/IEC 14496-10, 7.4.1).
    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            output.append(byte)
        }
        return output
    }

    // MARK: - Sound

    /// Bytes of a frame that stay clear behind its header.
    private static let soundLeaderByteCount = 16

    private static func sound(
        _ bytes: [UInt8], _ cipher: SampleCipher, _ vector: [UInt8],
        frame: (ArraySlice<UInt8>) -> (headerByteCount: Int, byteCount: Int)?
    ) -> [UInt8] {
        var output = bytes
        var ranges: [Range<Int>] = []
        var start = 0
        while let (header, count) = frame(bytes[start...]), count > header, start + count <= bytes.count {
            let first = start + header + soundLeaderByteCount
            let last = first + max(0, start + count - first) / 16 * 16
            if first < last { ranges.append(first..<last) }
            start += count
        }
        cipher.decrypt(&output, vector: vector, ranges: ranges)
        return output
    }

    /// A frame of ADTS (ISO/IEC 14496-3, 1.A.3.2): its header and the whole.
    private static func adtsFrame(_ bytes: ArraySlice<UInt8>) -> (Int, Int)? {
        guard bytes.count >= 7 else { return nil }
        let head = Array(bytes.prefix(7))
        guard head[0] == 0xFF, head[1] & 0xF6 == 0xF0 else { return nil }
        let count = Int(head[3] & 3) << 11 | Int(head[4]) << 3 | Int(head[5]) >> 5
        return (head[1] & 1 == 1 ? 7 : 9, count)
    }

    /// A frame of AC-3 (ETSI TS 102 366, 4.4.1 and table 4.13); its header is not set apart.
    private static func ac3Frame(_ bytes: ArraySlice<UInt8>) -> (Int, Int)? {
        guard bytes.count >= 6 else { return nil }
        let head = Array(bytes.prefix(6))
        guard head[0] == 0x0B, head[1] == 0x77 else { return nil }
        let rates = [
            32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
        ]
        let (frequency, code) = (head[4] >> 6, Int(head[4] & 0x3F))
        guard code / 2 < rates.count else { return nil }
        let rate = rates[code / 2]
        switch frequency {
        case 0: return (0, rate * 4)
        case 1: return (0, (rate * 320 / 147 + code % 2) * 2)
        case 2: return (0, rate * 6)
        default: return nil
        }
    }

    /// A frame of E-AC-3 (ETSI TS 102 366, E.1.3.1).
    private static func eac3Frame(_ bytes: ArraySlice<UInt8>) -> (Int, Int)? {
        guard bytes.count >= 4 else { return nil }
        let head = Array(bytes.prefix(4))
        guard head[0] == 0x0B, head[1] == 0x77 else { return nil }
        return (0, ((Int(head[2] & 7) << 8 | Int(head[3])) + 1) * 2)
    }
}
