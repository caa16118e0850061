/// How the text of a whole number is read.
enum Quantity: Sendable {
    /// Digits alone.
    case plain
    /// Bits per second; may end in `bps`, `kbps`, `Mbps` or `Gbps`.
    case rate
    /// Bytes; may end in `B`, `KiB`, `MiB`, `GiB` or `TiB`.
    case size

    /// The unit, as an error shows it.
    var unit: String {
        switch self {
        case .plain: ""
        case .rate: " bits per second"
        case .size: " bytes"
        }
    }

    private var suffixes: [(text: String, factor: Double)] {
        switch self {
        case .plain: []
        case .rate: [("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("bps", 1)]
        case .size: [("KiB", 0x1p10), ("MiB", 0x1p20), ("GiB", 0x1p30), ("TiB", 0x1p40), ("B", 1)]
        }
    }

    /// The number that `text` spells, rounded to a whole one; `nil` when it spells none.
    func parse(_ text: String) -> Int? {
        if let number = Int(text) { return number }
        guard let (suffix, factor) = suffixes.first(where: { text.hasSuffix($0.text) }) else { return nil }
        let digits = text.dropLast(suffix.count)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(digits) else {
            return nil
        }
        return Int(exactly: (number * factor).rounded())
    }
}
