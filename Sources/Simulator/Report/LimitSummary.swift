/// A bound on offload over several runs.
package struct LimitSummary: Sendable, Equatable {
    package let name: Limit.Name
    package let strength: Limit.Strength
    /// The mean of the runs' bounds.
    package let value: Double
    package let sentence: String
    /// Whether it is the least of the hard ones.
    package var isTightest = false
}

extension Limit.Name {
    /// For people.
    package var words: String {
        switch self {
        case .firstCopy: "first copy"
        case .swarmSize: "swarm size"
        case .warmUp: "warm-up"
        case .uplink, .reach, .deadline, .injection, .fluid, .order: rawValue
        }
    }
}

extension SimulationReport {
    /// The bounds of the runs, the hard ones first, in order of value.
    package var limitSummaries: [LimitSummary] {
        var summaries = runs[0].limits.map { limit in
            let values = runs.compactMap { run in run.limits.first { $0.name == limit.name }?.value }
            return LimitSummary(
                name: limit.name, strength: limit.strength, value: values.reduce(0, +) / Double(values.count),
                sentence: limit.sentence)
        }
        summaries.sort { ($0.strength == .hard ? 0 : 1, $0.value) < ($1.strength == .hard ? 0 : 1, $1.value) }
        if summaries.first?.strength == .hard { summaries[0].isTightest = true }
        return summaries
    }
}
