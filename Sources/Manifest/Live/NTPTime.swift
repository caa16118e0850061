public import CoreModel

/// Requests and answers of the simple network time protocol: RFC 4330.
public enum NTPTime {
    /// A request: version 4, mode 3 (client).
    public static let request: [UInt8] = [0x23] + [UInt8](repeating: 0, count: 47)

    private static let byteCount = 48
    /// Seconds from 1900 to 1970.
    private static let epochOffset: Int64 = 2_208_988_800

    /// The time at which a server sent its answer; `nil` if it is no answer of a server that knows the time.
    public static func parse(_ bytes: [UInt8]) -> UnixTime? {
        guard bytes.count >= byteCount, bytes[0] & 7 == 4, bytes[0] >> 6 != 3, (1...15).contains(bytes[1]) else {
            return nil
        }
        let seconds = bytes[40..<44].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let fraction = bytes[44..<48].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard seconds != 0 else { return nil }
        // The seconds began again in 2036 (RFC 4330, section 3).
        let turn: Int64 = seconds < 1 << 31 ? 1 << 32 : 0
        return UnixTime(milliseconds: (seconds + turn - epochOffset) * 1_000 + (fraction * 1_000) >> 32)
    }
}
