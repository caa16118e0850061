import CoreModel

/// Reads durations of XML Schema (`xs:duration`), as ISO/IEC 23009-1 uses them.
enum DurationText {
    /// Reads a duration such as `PT1H2M3.5S` or `-P1DT1S`, exactly.
    ///
    /// A year counts as 365 days and a month as 30, which the standard leaves open and other players do. `nil` if the
    /// text is no duration or needs more than 64 bits.
    static func parse(_ text: String) -> MediaTime? {
        var rest = Array(text.utf8)[...].trimmingBlanks
        let isNegative = rest.first == ASCII.minus
        if isNegative { rest.removeFirst() }
        guard rest.popFirst() == UInt8(ascii: "P") else { return nil }
        var isTime = false
        var total = MediaTime.zero
        var componentCount = 0
        while let next = rest.first {
            if next == UInt8(ascii: "T"), !isTime {
                isTime = true
                rest.removeFirst()
                continue
            }
            guard let end = rest.firstIndex(where: { !ASCII.isDigit($0) && $0 != ASCII.point }),
                let amount = NumberText.decimal(rest[..<end]),
                let unit = secondsPerUnit(rest[end], isTime: isTime),
                amount.seconds * Double(unit) < 9e15
            else { return nil }
            total += amount * unit
            componentCount += 1
            rest = rest[(end + 1)...]
        }
        guard componentCount > 0, total.seconds < 9e15 else { return nil }
        return isNegative ? -total : total
    }

    private static func secondsPerUnit(_ letter: UInt8, isTime: Bool) -> Int64? {
        switch (letter, isTime) {
        case (UInt8(ascii: "Y"), false): 365 * 86_400
        case (UInt8(ascii: "M"), false): 30 * 86_400
        case (UInt8(ascii: "W"), false): 7 * 86_400
        case (UInt8(ascii: "D"), false): 86_400
        case (UInt8(ascii: "H"), true): 3_600
        case (UInt8(ascii: "M"), true): 60
        case (UInt8(ascii: "S"), true): 1
        default: nil
        }
    }
}
