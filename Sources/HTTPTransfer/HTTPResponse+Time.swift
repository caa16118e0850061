public import CoreModel

extension HTTPResponse {
    /// When the server made the answer, in whole seconds (Date; RFC 9110, section 6.6.1).
    public var date: UnixTime? { header("date").flatMap(Self.date) }

    /// How long the answer lay in caches (Age; RFC 9111, section 5.1).
    public var age: Duration { .seconds(min(header("age").flatMap { Int64($0) }.map { max($0, 0) } ?? 0, 86_400)) }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers may write (RFC 9110, section 5.6.7).
    static func date(_ text: String) -> UnixTime? {
        let parts = text.split { $0 == " " || $0 == "," || $0 == ":" }
        guard parts.count == 8, parts[7] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            (1_970...9_999).contains(year), let hour = Int64(parts[4]), let minute = Int64(parts[5]),
            let second = Int64(parts[6]), (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        // Years begin in March here, so that the leap day is the last of its year.
        let marchYear = month >= 2 ? year : year - 1
        let dayOfYear = (153 * Int64((month + 10) % 12) + 2) / 5 + day - 1
        let days = marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
        return UnixTime(seconds: days * 86_400 + hour * 3_600 + minute * 60 + second)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
