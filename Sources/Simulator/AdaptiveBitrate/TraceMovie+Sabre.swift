internal import CommandLineSupport
internal import Scheduling

extension TraceMovie {
    /// Reads a movie of Sabre: a JSON object with `segment_duration_ms`, `bitrates_kbps` and, for each segment, a list of
    /// `segment_sizes_bits`. A kilobit is 1,000 bits.
    package init(sabre bytes: [UInt8]) throws(TraceMovieError) {
        let document: JSONValue
        do { document = try JSONReader.read(bytes) } catch { throw .json(error) }
        guard let duration = document["segment_duration_ms"].flatMap(Self.number), duration > 0, duration <= 1e6 else {
            throw .value("segment_duration_ms", expected: "a number above 0, at most 1e6")
        }
        let rates = try Self.numbers(document["bitrates_kbps"], key: "bitrates_kbps")
        guard let ladder = BitrateLadder(bitsPerSecond: rates.map { Int(($0 * 1000).rounded()) }) else {
            throw .value("bitrates_kbps", expected: "at least one rate, ascending from above 0")
        }
        guard case .array(let rows) = document["segment_sizes_bits"] else {
            throw .value("segment_sizes_bits", expected: "a list with a list per segment")
        }
        var segmentBits: [[Double]] = []
        segmentBits.reserveCapacity(rows.count)
        for row in rows { segmentBits.append(try Self.numbers(row, key: "segment_sizes_bits")) }
        guard let movie = TraceMovie(ladder: ladder, segmentMilliseconds: duration, segmentBits: segmentBits) else {
            throw .value("segment_sizes_bits", expected: "at least one segment, each with a size above 0 per rate")
        }
        self = movie
    }

    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let value): Double(value)
        case .number(let value): value
        case _: nil
        }
    }

    private static func numbers(_ list: JSONValue?, key: String) throws(TraceMovieError) -> [Double] {
        guard case .array(let values) = list else { throw .value(key, expected: "a list of numbers") }
        var numbers: [Double] = []
        numbers.reserveCapacity(values.count)
        for value in values {
            guard let number = number(value), (0...1e12).contains(number) else {
                throw .value(key, expected: "numbers from 0 to 1e12")
            }
            numbers.append(number)
        }
        return numbers
    }
}
