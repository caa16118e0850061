/// One figure, and the limit that it is held against.
struct Measurement {
    /// The figure's name in the issues and in Scripts/lib/bench-limits.py.
    var name: String
    var value: Double
    var unit: String
    /// The physical limit, or what a bare program needs, measured in the same run; `nil` when there is none.
    var limit: Double?

    /// `value` over `limit`.
    var ratio: Double? { limit.map { value / $0 } }

    /// The line of JSON that contracts ask for.
    var line: String {
        let limit = limit.map(Self.number) ?? "null"
        let ratio = ratio.map(Self.number) ?? "null"
        return "{\"name\": \"\(name)\", \"value\": \(Self.number(value)), \"unit\": \"\(unit)\", \"limit\": \(limit), "
            + "\"ratio\": \(ratio)}"
    }

    /// Four digits behind the point are more than any figure here is good for.
    private static func number(_ value: Double) -> String { "\((value * 10_000).rounded() / 10_000)" }
}
