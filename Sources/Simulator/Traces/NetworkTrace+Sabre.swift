internal import CommandLineSupport

extension NetworkTrace {
    /// Reads a trace of Sabre: a JSON list of periods, each with `duration_ms`, `bandwidth_kbps` and, for the delay that a
    /// request pays once, `latency_ms`. A kilobit is 1,000 bits.
    package init(sabre bytes: [UInt8]) throws(TraceError) {
        try Self.checkLength(bytes)
        let document: JSONValue
        do { document = try JSONReader.read(bytes) } catch { throw .json(error) }
        guard case .array(let periods) = document else { throw .element(0, expected: "a list of periods") }
        guard periods.count <= Self.stepLimit else { throw .tooManySteps(limit: Self.stepLimit) }
        var steps: [Step] = []
        steps.reserveCapacity(periods.count)
        for (index, period) in periods.enumerated() {
            let duration = try Self.number("duration_ms", of: period, at: index)
            let bandwidth = try Self.number("bandwidth_kbps", of: period, at: index)
            let latency = period["latency_ms"] == nil ? 0 : try Self.number("latency_ms", of: period, at: index)
            guard duration > 0 else { throw .element(index, expected: "a duration_ms above 0") }
            steps.append(
                Step(
                    duration: .nanoseconds(Int64((duration * 1e6).rounded(.up))),
                    bitsPerSecond: Int((bandwidth * 1e3).rounded()),
                    latency: .nanoseconds(Int64((latency * 1e6).rounded()))))
        }
        guard let trace = NetworkTrace(steps: steps) else { throw .carriesNothing }
        self = trace
    }

    private static func number(_ key: String, of period: JSONValue, at index: Int) throws(TraceError) -> Double {
        let value: Double? =
            switch period[key] {
            case .integer(let value): Double(value)
            case .number(let value): value
            case _: nil
            }
        guard let value, (0...1e12).contains(value) else { throw .element(index, expected: "\(key), from 0 to 1e12") }
        return value
    }
}
