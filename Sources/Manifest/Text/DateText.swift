import CoreModel

/// Reads dates of ISO 8601, in the forms that RFC 8216bis (section 4.4.4.6) and `xs:dateTime` use.
enum DateText {
    /// Reads `2024-01-01T00:00:00.5+02:00`; a date without a zone is taken as UTC, and a date alone as its midnight.
    ///
    /// Fractions finer than a millisecond are dropped. `nil` if the text is no date between the years 1 and 9999.
    static func parse(_ text: String) -> UnixTime? {
        var rest = Array(text.utf8)[...].trimmingBlanks
        guard let year = digits(4, from: &rest), year >= 1, take(ASCII.minus, from: &rest),
            let month = digits(2, from: &rest), (1...12).contains(month), take(ASCII.minus, from: &rest),
            let day = digits(2, from: &rest), (1...31).contains(day)
        else { return nil }
        var milliseconds = dayNumber(year: year, month: month, day: day) * 86_400_000
        guard !rest.isEmpty else { return UnixTime(milliseconds: milliseconds) }
        let separator = rest.removeFirst()
        guard separator | 0x20 == UInt8(ascii: "t") || separator == ASCII.space,
            let hour = digits(2, from: &rest), hour <= 24, take(ASCII.colon, from: &rest),
            let minute = digits(2, from: &rest), minute < 60
        else { return nil }
        milliseconds += (hour * 60 + minute) * 60_000
        if take(ASCII.colon, from: &rest) {
            guard let second = digits(2, from: &rest), second <= 60 else { return nil }
            milliseconds += second * 1_000
            if take(ASCII.point, from: &rest) || take(ASCII.comma, from: &rest) {
                var weight: Int64 = 100
                guard let first = rest.first, ASCII.isDigit(first) else { return nil }
                while let byte = rest.first, ASCII.isDigit(byte) {
                    milliseconds += Int64(byte &- ASCII.zero) * weight
                    weight /= 10
                    rest.removeFirst()
                }
            }
        }
        guard let zone = zoneMinutes(&rest), rest.isEmpty else { return nil }
        return UnixTime(milliseconds: milliseconds - zone * 60_000)
    }

    private static func zoneMinutes(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard let sign = rest.first else { return 0 }
        rest.removeFirst()
        if sign | 0x20 == UInt8(ascii: "z") { return 0 }
        guard sign == ASCII.plus || sign == ASCII.minus, let hours = digits(2, from: &rest) else { return nil }
        var minutes = hours * 60
        if !rest.isEmpty {
            _ = take(ASCII.colon, from: &rest)
            guard let part = digits(2, from: &rest) else { return nil }
            minutes += part
        }
        return sign == ASCII.minus ? -minutes : minutes
    }

    private static func digits(_ count: Int, from rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.count >= count, let value = NumberText.unsigned(rest.prefix(count)) else { return nil }
        rest = rest.dropFirst(count)
        return Int64(value)
    }

    private static func take(_ byte: UInt8, from rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that the leap day is
    /// the last of its year, in eras of 400 years.
    private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let era = marchYear / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
