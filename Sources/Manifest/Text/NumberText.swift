import CoreModel

/// Reads the numbers of manifests exactly: no floating point, no locale, no overflow.
enum NumberText {
    /// Reads a decimal integer without sign; `nil` if there is anything else, or it needs more than 64 bits.
    static func unsigned(_ text: some Collection<UInt8>) -> UInt64? {
        guard !text.isEmpty else { return nil }
        var value: UInt64 = 0
        for byte in text {
            guard ASCII.isDigit(byte) else { return nil }
            let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = scaled.addingReportingOverflow(UInt64(byte &- ASCII.zero))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    /// Reads a decimal integer with an optional sign.
    static func signed(_ text: some Collection<UInt8>) -> Int64? {
        guard let first = text.first else { return nil }
        let isNegative = first == ASCII.minus
        let digits = isNegative || first == ASCII.plus ? text.dropFirst() : text.dropFirst(0)
        guard let magnitude = unsigned(digits) else { return nil }
        if isNegative { return magnitude <= UInt64(Int64.max) ? -Int64(magnitude) : nil }
        return Int64(exactly: magnitude)
    }

    /// Reads a decimal number with an optional sign and fraction as an exact time in seconds.
    ///
    /// Digits of the fraction that no 64-bit numerator can hold are dropped; an integer part above 64 bits is `nil`.
    static func decimal(_ text: some Collection<UInt8>) -> MediaTime? {
        var digits = text[...]
        guard let first = digits.first else { return nil }
        let isNegative = first == ASCII.minus
        if isNegative || first == ASCII.plus { digits = digits.dropFirst() }
        var ticks: Int64 = 0
        var timescale: Int64 = 1
        var digitCount = 0
        var isFraction = false
        for byte in digits {
            if byte == ASCII.point, !isFraction {
                isFraction = true
                continue
            }
            guard ASCII.isDigit(byte) else { return nil }
            digitCount += 1
            let (scaled, overflow) = ticks.multipliedReportingOverflow(by: 10)
            let (sum, carry) = scaled.addingReportingOverflow(Int64(byte &- ASCII.zero))
            let (finer, tooFine) = timescale.multipliedReportingOverflow(by: isFraction ? 10 : 1)
            guard !overflow, !carry, !tooFine else {
                if isFraction { continue }
                return nil
            }
            ticks = sum
            timescale = finer
        }
        guard digitCount > 0 else { return nil }
        return MediaTime(ticks: isNegative ? -ticks : ticks, timescale: timescale)
    }
}

extension String {
    /// The text as a decimal integer without sign.
    var unsignedNumber: UInt64? { NumberText.unsigned(utf8) }
    /// The text as a decimal number.
    var decimalNumber: MediaTime? { NumberText.decimal(utf8) }
}
