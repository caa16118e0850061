internal import CommandLineSupport

extension ScenarioObject {
    private enum Kind: String, CaseIterable {
        case fixed, uniform, exponential, lognormal, weibull, pareto, quantiles, samples, choices, file

        /// The keys beside `kind`, `minimum` and `maximum`.
        var keys: [String] {
            switch self {
            case .fixed: ["value"]
            case .uniform: ["from", "to"]
            case .exponential: ["mean"]
            case .lognormal: ["median", "mean", "sigma"]
            case .weibull: ["scale", "mean", "shape"]
            case .pareto: ["scale", "shape"]
            case .quantiles: ["points"]
            case .samples: ["values"]
            case .choices: ["choices"]
            case .file: ["file", "column"]
            }
        }
    }

    /// A distribution, written as one value or as an object with `kind`. Everything drawn stays within `range`.
    func distribution(
        _ key: String, _ unit: ScenarioUnit, in range: ClosedRange<Double>
    ) throws(ScenarioError) -> Distribution? {
        guard let value = value(key) else { return nil }
        guard case .object(let members) = value else {
            guard let number = unit.parse(value), range.contains(number) else {
                throw wrong(key, value, "\(unit.allowed(range)), or an object with a \"kind\" of distribution")
            }
            return .fixed(number)
        }
        let all = ["kind", "minimum", "maximum"]
        // The kind says which keys are allowed, so it is read first.
        let kind: Kind = try ScenarioObject(value, at: path(of: key), keys: members.map(\.name), files: files).choice(
            "kind")
        let object = try ScenarioObject(
            value, at: path(of: key), keys: ["kind"] + kind.keys + all.dropFirst(), files: files)
        let least = try object.quantity("minimum", unit, in: range) ?? range.lowerBound
        let most = try object.quantity("maximum", unit, in: range) ?? range.upperBound
        guard least <= most else {
            throw .contradiction(object.path(of: "minimum"), reason: "is above the maximum")
        }
        return Distribution(try object.shape(kind, unit, in: range), limits: least...most)
    }

    private func shape(
        _ kind: Kind, _ unit: ScenarioUnit, in range: ClosedRange<Double>
    ) throws(ScenarioError) -> Distribution.Shape {
        let positive = max(range.lowerBound, 1e-9)...max(range.upperBound, 1e-9)
        let shapes = 0.05...100.0
        switch kind {
        case .fixed: return .fixed(try required("value", unit, in: range))
        case .uniform:
            let low = try required("from", unit, in: range)
            let high = try required("to", unit, in: range)
            guard low <= high else { throw .contradiction(path(of: "from"), reason: "is above \"to\"") }
            return .uniform(low...high)
        case .exponential: return .exponential(mean: try required("mean", unit, in: positive))
        case .lognormal:
            let sigma = try required("sigma", .number, in: 0...5)
            if let mean = try mean(orElse: "median", unit, in: positive) {
                return Distribution.lognormal(mean: mean, sigma: sigma).shape
            }
            return .lognormal(median: try required("median", unit, in: positive), sigma: sigma)
        case .weibull:
            let shape = try required("shape", .number, in: shapes)
            if let mean = try mean(orElse: "scale", unit, in: positive) {
                return Distribution.weibull(mean: mean, shape: shape).shape
            }
            return .weibull(scale: try required("scale", unit, in: positive), shape: shape)
        case .pareto:
            return .pareto(
                minimum: try required("scale", unit, in: positive), shape: try required("shape", .number, in: shapes))
        case .quantiles: return try quantiles(unit, in: range)
        case .samples:
            guard let items = try list("values", count: 1...100_000, of: "values") else {
                throw .missingKey(path(of: "values"), allowed: "a list of values")
            }
            var values: [Double] = []
            for item in items { values.append(try Self.quantity(item.value, at: item.path, unit, in: range)) }
            return .samples(values.sorted())
        case .choices: return try choices(unit, in: range)
        case .file: return try samplesFromFile(in: range)
        }
    }

    /// The value of `mean`, where the shape can be given by its mean or by `other`, and by one of the two only.
    private func mean(
        orElse other: String, _ unit: ScenarioUnit, in range: ClosedRange<Double>
    ) throws(ScenarioError) -> Double? {
        guard has("mean") else { return nil }
        guard !has(other) else {
            throw .contradiction(path(of: "mean"), reason: "give \"mean\" or \"\(other)\", not both")
        }
        return try required("mean", unit, in: range)
    }

    private func quantiles(
        _ unit: ScenarioUnit, in range: ClosedRange<Double>
    ) throws(ScenarioError) -> Distribution.Shape {
        let what = "points [probability, value], rising, the first with probability 0 and the last with 1"
        guard let items = try list("points", count: 2...1000, of: what) else {
            throw .missingKey(path(of: "points"), allowed: "a list of \(what)")
        }
        var points: [Distribution.Point] = []
        for item in items {
            guard case .array(let pair) = item.value, pair.count == 2 else {
                throw .wrongValue(item.path, found: Self.found(item.value), allowed: "[probability, value]")
            }
            let probability = try Self.quantity(pair[0], at: "\(item.path)[0]", .share, in: 0...1)
            let value = try Self.quantity(pair[1], at: "\(item.path)[1]", unit, in: range)
            if let last = points.last, probability <= last.probability || value < last.value {
                throw .contradiction(item.path, reason: "points must rise")
            }
            points.append(.init(probability: probability, value: value))
        }
        guard points.first?.probability == 0, points.last?.probability == 1 else {
            throw .contradiction(path(of: "points"), reason: "the first probability must be 0 and the last 1")
        }
        return .quantiles(points)
    }

    private func choices(
        _ unit: ScenarioUnit, in range: ClosedRange<Double>
    ) throws(ScenarioError) -> Distribution.Shape {
        guard let items = try list("choices", count: 1...1000, of: "objects with value and weight") else {
            throw .missingKey(path(of: "choices"), allowed: "a list of objects with value and weight")
        }
        var choices: [Distribution.Choice] = []
        for item in items {
            let choice = try ScenarioObject(item.value, at: item.path, keys: ["value", "weight"], files: files)
            choices.append(
                .init(
                    value: try choice.required("value", unit, in: range),
                    weight: try choice.required("weight", .number, in: 0...1e9)))
        }
        guard choices.contains(where: { $0.weight > 0 }) else {
            throw .contradiction(path(of: "choices"), reason: "one weight must be above 0")
        }
        return .choices(choices.sorted { ($0.value, $0.weight) < ($1.value, $1.weight) })
    }

    private func samplesFromFile(in range: ClosedRange<Double>) throws(ScenarioError) -> Distribution.Shape {
        let column = try text("column", allowed: "the name of a column")
        guard let values = try self.column(column, ofFile: "file", in: range) else {
            throw .missingKey(path(of: "file"), allowed: "the name of a CSV file, relative to the scenario")
        }
        return .samples(values.sorted())
    }

    /// A column of a CSV file in the unit that values are kept in (seconds, bits a second, bytes); the first one when
    /// `name` is `nil`. At least one value.
    func column(
        _ name: String?, ofFile key: String, in range: ClosedRange<Double>
    ) throws(ScenarioError) -> [Double]? {
        guard let (file, bytes) = try file(key) else { return nil }
        let table: CommaSeparatedTable
        do { table = try CommaSeparatedTable(bytes) } catch {
            throw .file(path(of: key), name: file, reason: "\(error)")
        }
        var index = 0
        if let name {
            guard let found = table.names.firstIndex(of: name.lowercased()) else {
                let names = table.names.isEmpty ? "it has no header" : "it has \(table.names.joined(separator: ", "))"
                throw .file(path(of: key), name: file, reason: "no column \(name); \(names)")
            }
            index = found
        }
        guard !table.rows.isEmpty else { throw .file(path(of: key), name: file, reason: "no row of numbers") }
        for row in table.rows where !range.contains(row.values[index]) {
            throw .file(
                path(of: key), name: file,
                reason: "line \(row.line): \(row.values[index]) is not from \(range.lowerBound) to \(range.upperBound)")
        }
        return table.rows.map { $0.values[index] }
    }
}
