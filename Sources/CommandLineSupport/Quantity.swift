/// Numbers with a unit, as people type them.
public enum Quantity {
    /// A span that is not negative: `250ms`, `4s`, `10min`, `2h`, `7d`; a bare number is seconds.
    public static func duration(_ text: String) -> Duration? {
        let units: [String: Double] = ["": 1, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400]
        guard let seconds = number(text, units), seconds <= 1e9 else { return nil }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    /// Bits per second: `600kbps`, `5Mbps`, `1.5Gbps`; a bare number is bits per second.
    public static func bitsPerSecond(_ text: String) -> Int? {
        let units: [String: Double] = ["": 1, "bps": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9]
        return number(text, units).flatMap { $0 <= 1e15 ? Int($0.rounded()) : nil }
    }

    /// Bytes: `64MiB`, `1GB`; a bare number is bytes.
    public static func byteCount(_ text: String) -> Int? {
        let units: [String: Double] = [
            "": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
            "KiB": 1024, "MiB": 1_048_576, "GiB": 1_073_741_824, "TiB": 1_099_511_627_776,
        ]
        return number(text, units).flatMap { $0 <= 1e18 ? Int($0.rounded()) : nil }
    }

    /// A size for people: `1.4 MiB`.
    public static func describe(byteCount: Int) -> String {
        guard byteCount >= 1024 else { return "\(byteCount) B" }
        var value = Double(byteCount)
        var unit = 0
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    private static func number(_ text: String, _ units: [String: Double]) -> Double? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        guard let value = Double(digits), value.isFinite, let factor = units[String(unit)] else { return nil }
        return value * factor
    }
}
