internal import Foundation

/// The summary for the terminal.
extension SimulationReport {
    package var lines: [String] {
        let first = runs[0]
        let seeds =
            runs.count == 1
            ? "seed \(first.seed)"
            : "seeds \(first.seed) to \(runs[runs.count - 1].seed), means and 95 % confidence intervals"
        let rival = policy == .ours ? "" : ", policy \(policy.rawValue)"
        var lines = ["\(scenario.name), \(seeds), \(first.viewerCount) viewers\(rival)"]
        func line(_ label: String, _ text: String) {
            lines.append("  " + label.padding(toLength: 20, withPad: " ", startingAt: 0) + text)
        }
        line("offload", figure("offload"))
        line("in the field", "0.50 to 0.80 on a day, 0.80 to 0.90 at the peak of one event")
        if let limit = limitSummaries.first(where: \.isTightest) {
            line("at most", "\(Self.text(limit.value)) (\(limit.name.words): \(limit.sentence))")
        }
        line(
            "copies per segment",
            "\(figure("copiesPerSegment")): elected \(figure("copiesElected")), hand-over \(figure("copiesHandover")), "
                + "start-up \(figure("copiesStartup"))")
        line(
            "stalls",
            "\(figure("stalls", "%.4g")), \(figure("stallSeconds", "%.1f")) s in all; "
                + "\(figure("stalledViewerShare", "%.2f", scale: 100)) % of viewers")
        if first.quality.count > 1 {
            line(
                "bitrate",
                "\(figure("meanBitrate", "%.2f", scale: 1e-6)) Mbps, \(figure("switchesPerViewer", "%.1f")) switches per viewer; "
                    + first.quality.map {
                        "\(Self.text(100 * $0.share, "%.0f")) % at \(DecisionWords.rate($0.bitsPerSecond))"
                    }.joined(separator: ", "))
        }
        line(
            "start-up",
            "median \(figure("startupSecondsMedian")) s, 95 % within \(figure("startupSecondsP95")) s")
        line(
            "from the CDN",
            "\(figure("bytesCDN", "%.0f", scale: 1e-6)) MB of \(figure("bytesDelivered", "%.0f", scale: 1e-6)) MB delivered; "
                + "\(figure("bytesWasted", "%.0f", scale: 1e-6)) MB came in vain")
        line(
            "CDN's rate",
            "peak \(figure("cdnPeakBitsPerSecond", "%.1f", scale: 1e-6)) Mbps, 95 % of the time within "
                + "\(figure("cdnP95BitsPerSecond", "%.1f", scale: 1e-6)) Mbps (\(windowWords))")
        line(
            "uploads",
            "Jain's index \(figure("uploadJain")), the top tenth gives \(figure("uploadShareOfTopTenth", "%.0f", scale: 100)) %"
        )
        if let currency = first.cost?.currency {
            line(
                "cost",
                "\(figure("costWithPeers", "%.4g")) \(currency), with the CDN alone \(figure("costCDNOnly", "%.4g")) \(currency)"
            )
        }
        line("messages", "\(figure("messagesPerViewerSecond", "%.1f")) per viewer and second")
        if first.isWithoutSharedLines { lines.append("  note: \(Self.sharedLinesWarning)") }
        return lines
    }

    /// What the rate's 95th percentile is of.
    var windowWords: String {
        runs[0].cdnRate.windowSeconds == 1 ? "means of 1 s, the run is short" : "means of 5 min"
    }

    static func text(_ value: Double?, _ format: String = "%.3f") -> String {
        value.map { String(format: format, $0) } ?? "-"
    }

    /// A figure's mean, and what it may be off when there are several runs.
    func figure(_ name: String, _ format: String = "%.3f", scale: Double = 1) -> String {
        guard let interval = interval(name) else { return "-" }
        let mean = String(format: format, interval.mean * scale)
        guard let half = interval.halfWidth else { return mean }
        return mean + " ± " + String(format: format, half * scale)
    }
}
