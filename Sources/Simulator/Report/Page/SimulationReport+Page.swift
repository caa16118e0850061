internal import CoreModel

/// The page of a report: one HTML document that also is well-formed XML, with everything in it.
extension SimulationReport {
    package var page: String {
        """
        <!DOCTYPE html>
        <html lang="en" xmlns="http://www.w3.org/1999/xhtml">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
        <title>\(Markup.escaped("Simulation of \(scenario.name)"))</title>
        <style>
        \(PageStyle.sheet)
        </style>
        </head>
        <body>
        <main>
        \(sections.joined(separator: "\n"))
        </main>
        </body>
        </html>

        """
    }

    private var sections: [String] {
        var sections = [
            "<h1>\(Markup.escaped(scenario.name))</h1>\n<p>\(Markup.escaped(scenario.shows))</p>\n"
                + "<p>\(Markup.escaped(heading))</p>", tiles,
        ]
        if runs[0].isWithoutSharedLines {
            sections.append(
                "<p class=\"warning\" role=\"note\"><strong>Too optimistic.</strong> "
                    + "\(Markup.escaped(Self.sharedLinesWarning))</p>")
        }
        sections += [
            "<div class=\"plots\">\n"
                + plots.map { "<figure>\(SVGWriter.element($0))</figure>" }.joined(separator: "\n")
                + "\n</div>",
            comparisonSection,
            "<h2>Limits</h2>\n<p>\(Markup.escaped(Self.fieldFigures))</p>\n"
                + "<p>No run can exceed a hard limit: it follows from counting bytes. A soft one holds under assumptions of its "
                + "own, and a run can beat it.</p>\n" + limitTable,
            "<h2>Figures</h2>\n<p>\(Markup.escaped(figuresNote))</p>\n" + figureTable,
        ]
        if let table = costTable { sections.append("<h2>Cost</h2>\n" + table) }
        sections += [
            "<h2>Waiting</h2>\n" + waitingTable,
            "<h2>Scenario</h2>\n" + Markup.table(["what", "in this scenario"], scenario.facts),
            "<h2>What the model assumes and leaves out</h2>\n" + Markup.list(SimulationResult.assumptions),
            "<h2>Again</h2>\n<p>The same version gives the same figures for the same scenario and seeds:</p>\n"
                + "<pre>\(Markup.escaped(command))</pre>",
        ]
        return sections
    }

    /// What others would have done; empty when they were not asked.
    private var comparisonSection: String {
        guard let comparison else { return "" }
        let pairing = comparison.pairing.map { pairing in
            "<p>Ours against the CDN alone, viewer by viewer:</p>\n" + Markup.list(pairing.lines)
        }
        return "<h2>Against other policies</h2>\n<p>The same viewers, lines and seeds under each.</p>\n"
            + Markup.table(comparison.cells[0], Array(comparison.cells.dropFirst())) + "\n"
            + Markup.list(comparison.rows.map { "\($0.policy.rawValue): \($0.policy.summary)" }) + (pairing ?? "")
    }

    private var command: String {
        "pdn simulate \(scenario.name) --seed \(runs[0].seed)" + (runs.count > 1 ? " --seeds \(runs.count)" : "")
            + " --viewers \(runs[0].viewerCount) --duration \(Self.text(scenario.duration.inSeconds, "%.10g"))s"
            + policies
    }

    private var policies: String {
        guard let comparison else { return policy == .ours ? "" : " --policy \(policy.rawValue)" }
        let compared = comparison.rows.map(\.policy)
        return compared == DeliveryPolicy.allCases
            ? " --compare" : compared.map { " --policy \($0.rawValue)" }.joined()
    }

    private var heading: String {
        let seeds = runs.count == 1 ? "Seed \(runs[0].seed)" : "Seeds \(runs[0].seed) to \(runs[runs.count - 1].seed)"
        return "\(seeds), \(AxisScale.grouped(Double(runs[0].viewerCount), decimals: 0)) viewers. "
            + "Policy: \(policy.rawValue), \(policy.summary)."
    }

    private var tiles: String {
        let limit = limitSummaries.first(where: \.isTightest).map { percent($0.value) } ?? "-"
        let tiles = [
            ("offload", figure("offload", "%.1f", scale: 100) + " %"), ("at most, by the hard limits", limit),
            ("in the field, on a day", "50 to 80 %"), ("in the field, peak of one event", "80 to 90 %"),
            ("copies of a segment", figure("copiesPerSegment", "%.2f")),
            ("viewers who stalled", figure("stalledViewerShare", "%.1f", scale: 100) + " %"),
            ("start-up, median", figure("startupSecondsMedian", "%.2f") + " s"),
        ]
        return "<dl class=\"tiles\">\n"
            + tiles.map { "<div><dt>\(Markup.escaped($0.0))</dt><dd>\(Markup.escaped($0.1))</dd></div>" }
            .joined(separator: "\n") + "\n</dl>"
    }

    private var limitTable: String {
        let offload = interval("offload").map { percent($0.mean) } ?? "-"
        let rows = limitSummaries.map { limit in
            [
                limit.name.words, limit.strength.rawValue + (limit.isTightest ? ", the least" : ""),
                percent(limit.value),
                offload, limit.sentence,
            ]
        }
        return Markup.table(["limit", "kind", "offload at most", "this run", "meaning"], rows)
    }

    private var figuresNote: String {
        let rate =
            "The CDN's 95th percentile is of "
            + (runs[0].cdnRate.windowSeconds == 1
                ? "means of one second: the run is too short for the five minutes that are billed by."
                : "means of five minutes.")
        guard runs.count > 1 else { return "One seed: run several for confidence intervals. " + rate }
        return "Means of \(runs.count) seeds with the 95 % confidence interval of Student's t. " + rate
    }

    private var figureTable: String {
        let rows = figures.map { item in
            let unit = item.figure.unit
            return [item.figure.name, unit.words(item.interval.mean, currency: currency)]
                + (runs.count > 1
                    ? [item.interval.low, item.interval.high].map { value in
                        value.map { unit.words($0, currency: currency) } ?? "-"
                    } : [])
        }
        return Markup.table(["figure", "mean"] + (runs.count > 1 ? ["from", "to"] : []), rows)
    }

    private var currency: String { runs[0].cost?.currency ?? "" }

    private var costTable: String? {
        let costs = runs.compactMap(\.cost)
        guard !costs.isEmpty else { return nil }
        func mean(_ value: (DeliveryCost) -> Double) -> String {
            MainFigure.Unit.currency.words(costs.reduce(0) { $0 + value($1) } / Double(costs.count), currency: currency)
        }
        return
            "<p>At the scenario's prices, as if nothing else were delivered in the month. The CDN alone: every delivered "
            + "byte from it, one request for a segment.</p>\n"
            + Markup.table(
                ["for", "with peers", "CDN alone"],
                [
                    ["bytes", mean(\.withPeers.volume), mean(\.cdnOnly.volume)],
                    ["requests", mean(\.withPeers.requesting), mean(\.cdnOnly.requesting)],
                    ["95th percentile", mean(\.withPeers.rate), mean(\.cdnOnly.rate)],
                    ["sum", mean(\.withPeers.sum), mean(\.cdnOnly.sum)],
                ])
    }

    private var waitingTable: String {
        let startups = SampleSummary(runs.flatMap(\.startups.sorted), ends: [])
        let stalls = SampleSummary(runs.flatMap(\.stallTimes.sorted), ends: [])
        let rows = SampleSummary.ranks.map { rank in
            [
                "\(rank) %", Self.text(startups.percentile(rank), "%.3f") + " s",
                Self.text(stalls.percentile(rank), "%.3f") + " s",
            ]
        }
        let absent = runs.reduce(0) { $0 + $1.viewerCount - $1.startups.count }
        return "<p>\(absent) of \(runs.reduce(0) { $0 + $1.viewerCount }) viewers left before playback began.</p>\n"
            + Markup.table(["of the viewers within", "start-up", "stalled in all"], rows)
    }
}
