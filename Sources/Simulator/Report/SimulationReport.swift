package import CommandLineSupport

/// Everything that is said about a scenario: its runs, one for each seed, and their figures together.
package struct SimulationReport: Sendable {
    /// A figure over the runs.
    package struct Figure: Sendable {
        package let figure: MainFigure
        package let interval: MeanInterval
    }

    package let scenario: Scenario
    /// One for each seed; at least one.
    package let runs: [SimulationResult]
    /// Who decided for the viewers.
    package let policy: DeliveryPolicy
    /// The same seeds under other policies, when they were run too.
    package let comparison: PolicyComparison?
    /// Those that any run has.
    package let figures: [Figure]

    package init(
        _ scenario: Scenario, runs: [SimulationResult], policy: DeliveryPolicy = .ours,
        comparison: PolicyComparison? = nil
    ) {
        precondition(!runs.isEmpty, "a report on no run")
        self.scenario = scenario
        self.runs = runs
        self.policy = policy
        self.comparison = comparison
        figures = MainFigure.all.compactMap { figure in
            figure.interval(runs).map { Figure(figure: figure, interval: $0) }
        }
    }

    /// A report on runs under several policies, ours first and foremost when it is among them.
    package init(_ scenario: Scenario, _ comparison: PolicyComparison) {
        let main = comparison.row(.ours) ?? comparison.rows[0]
        self.init(scenario, runs: main.runs, policy: main.policy, comparison: comparison)
    }

    /// A figure's mean and interval.
    package func interval(_ name: String) -> MeanInterval? { figures.first { $0.figure.name == name }?.interval }

    /// What published systems report, in the words of every report.
    package static let fieldFigures =
        "Systems in the field report 50 to 80 % over a day and 80 to 90 % at the peak of one event: much that lowers their "
        + "figures is not in this model."

    package static let sharedLinesWarning =
        "No viewers share a line in this scenario, which is too optimistic for viewers at home."

    /// The document that `pdn simulate --json` prints: that of the run with one seed; with several, their figures together
    /// and each run without its viewers.
    package var json: JSONValue {
        if runs.count == 1 { return runs[0].json }
        return [
            "scenario": .string(scenario.name),
            "seeds": .array(runs.map { JSONValue($0.seed) }),
            "confidence": .number(MeanInterval.confidence),
            "figures": .object(figures.map { (name: $0.figure.name, value: $0.interval.json($0.figure.unit)) }),
            "runs": .array(runs.map { $0.json(withViewers: false) }),
        ]
    }
}

extension MeanInterval {
    fileprivate func json(_ unit: MainFigure.Unit) -> JSONValue {
        [
            "unit": .string(unit.rawValue), "runs": .integer(count), "mean": .number(mean), "low": JSONValue(low),
            "high": JSONValue(high), "standardDeviation": JSONValue(standardDeviation),
        ]
    }
}
