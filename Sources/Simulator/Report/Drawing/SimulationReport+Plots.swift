internal import CoreModel

/// The plots of a report.
extension SimulationReport {
    private typealias Point = Drawing.Point

    /// Points of a curve at most; more than its pixels would only slow the page down.
    private static let mostPoints = 200

    /// All of them, in the order of the page; their names are those of the images.
    package var plots: [Drawing] {
        [
            offloadPlot, sourcesPlot, viewersPlot, stalledPlot, copiesPlot, startupPlot, stallsPlot, uploadsPlot,
        ] + (comparison.map { [policiesPlot($0)] } ?? [])
    }

    var seedWords: String { runs.count == 1 ? "seed \(runs[0].seed)" : "means over \(runs.count) seeds" }

    // MARK: Offload

    private var offloadPlot: Drawing {
        var rows: [RangeBars.Row] = []
        if let offload = interval("offload") {
            let interval: ClosedRange<Double>? =
                if let low = offload.low, let high = offload.high { low...high } else { nil }
            rows.append(
                RangeBars.Row(
                    label: interval == nil ? "this scenario" : "this scenario, with its 95 % interval",
                    range: 0...max(0, offload.mean), ink: .peers, interval: interval, text: percent(offload.mean)))
        }
        rows += [
            RangeBars.Row(label: "in the field, over a day", range: 0.5...0.8, ink: .field, text: "50 to 80 %"),
            RangeBars.Row(
                label: "in the field, at the peak of one event", range: 0.8...0.9, ink: .field, text: "80 to 90 %"),
        ]
        for limit in limitSummaries {
            let ink: Ink = limit.strength == .hard ? .hardLimit : .softLimit
            rows.append(
                RangeBars.Row(
                    label:
                        "\(limit.strength.rawValue) limit\(limit.isTightest ? ", the least" : ""): \(limit.name.words)",
                    range: 0...limit.value, ink: ink,
                    text: percent(limit.value)))
        }
        return RangeBars(
            name: "offload", title: "Offload and its limits",
            note: "part of the delivered bytes that the CDN is spared",
            summary: rows.map { "\($0.label) \($0.text)" }.joined(separator: "; "), rows: rows
        ).drawing()
    }

    private func policiesPlot(_ comparison: PolicyComparison) -> Drawing {
        var rows = comparison.rows.compactMap { row -> RangeBars.Row? in
            guard let offload = MeanInterval(row.runs.compactMap(\.total.offload)) else { return nil }
            let stalled = row.mean { Double($0.total.stalledViewers) / Double(max(1, $0.viewerCount)) } ?? 0
            let interval: ClosedRange<Double>? =
                if let low = offload.low, let high = offload.high { low...high } else { nil }
            return RangeBars.Row(
                label: "\(row.policy.rawValue), \(percent(stalled)) of viewers stalled",
                range: 0...max(0, offload.mean),
                ink: row.policy == .ours ? .peers : .softLimit, interval: interval, text: percent(offload.mean))
        }
        if let bound = comparison.bound {
            rows.append(
                RangeBars.Row(
                    label: "hard limit, the least", range: 0...bound, ink: .hardLimit, text: percent(bound)))
        }
        return RangeBars(
            name: "policies", title: "Offload of each policy", note: "the same viewers and lines, \(seedWords)",
            summary: rows.map { "\($0.label): \($0.text)" }.joined(separator: "; "), rows: rows
        ).drawing()
    }

    // MARK: Over time

    private var isInMinutes: Bool { scenario.duration > .seconds(300) }
    private var timeLabel: String { isInMinutes ? "time, minutes" : "time, s" }

    private var timeAxis: AxisScale {
        AxisScale(from: 0, to: scenario.duration.inSeconds / (isInMinutes ? 60 : 1), count: 6, isExact: true)
    }

    /// Seconds that a point of a curve stands for: a segment at least, since media comes and goes by segments.
    private var bucket: Int {
        let count = runs[0].series.count
        let segment = Int(scenario.stream.segmentDuration.inSeconds.rounded(.up))
        return max(1, min(segment, count / 10), (count + Self.mostPoints - 1) / Self.mostPoints)
    }

    private var bucketWords: String { bucket == 1 ? "each second" : "means of \(bucket) s" }

    /// A value over time: one curve for each run.
    private func curves(_ value: (SimulationResult.Second) -> Double) -> [[Drawing.Point]] {
        runs.map { run in
            stride(from: 0, to: run.series.count, by: bucket).map { start in
                let seconds = run.series[start..<min(start + bucket, run.series.count)]
                let middle = Double(start) + Double(seconds.count) / 2
                return Drawing.Point(
                    middle / (isInMinutes ? 60 : 1),
                    seconds.reduce(0) { $0 + value($1) } / Double(seconds.count))
            }
        }
    }

    /// The curve that a function of all runs' values gives, point by point.
    private func joined(
        _ curves: [[Drawing.Point]], by function: ([Double]) -> Double = { $0.reduce(0, +) / Double($0.count) }
    ) -> [Drawing.Point] {
        curves[0].indices.map { place in
            Drawing.Point(
                curves[0][place].x, function(curves.compactMap { $0.indices.contains(place) ? $0[place].y : nil }))
        }
    }

    private var sourcesPlot: Drawing {
        let cdn = joined(curves { Double($0.bytesCDN) * 8e-6 })
        let peers = joined(curves { Double($0.bytesPeers) * 8e-6 })
        let delivered = joined(curves { Double($0.bytesDelivered) * 8e-6 })
        let sum = zip(cdn, peers).map { Drawing.Point($0.x, $0.y + $1.y) }
        let most = (sum + delivered).map(\.y).max() ?? 1
        return Plot(
            name: "sources", title: "Where the media came from", yLabel: "Mbps, \(bucketWords), \(seedWords)",
            xLabel: timeLabel,
            summary: "The CDN gave \(megabits(cdn)) Mbps and peers \(megabits(peers)) Mbps on average; players took "
                + "\(megabits(delivered)) Mbps.",
            layers: [
                Plot.Layer(
                    label: "CDN", form: .area(base: cdn.map { .init($0.x, 0) }, opacity: 0.9), ink: .cdn, points: cdn),
                Plot.Layer(label: "peers", form: .area(base: cdn, opacity: 0.75), ink: .peers, points: sum),
                Plot.Layer(label: "CDN alone would give", form: .dashedLine, ink: .text, points: delivered),
            ], x: timeAxis, y: AxisScale(from: 0, to: most)
        ).drawing()
    }

    private var viewersPlot: Drawing {
        let viewers = joined(curves { Double($0.viewers) })
        let most = viewers.map(\.y).max() ?? 0
        return Plot(
            name: "viewers", title: "Viewers", yLabel: "online, \(bucketWords), \(seedWords)", xLabel: timeLabel,
            summary: "\(AxisScale.grouped(most, decimals: 0)) viewers were online at the most.",
            layers: [Plot.Layer(label: nil, form: .line, ink: .viewers, points: viewers)], x: timeAxis,
            y: AxisScale(from: 0, to: max(1, most))
        ).drawing()
    }

    private var stalledPlot: Drawing {
        let curves = curves { Double($0.stalledViewers) }
        let mean = joined(curves)
        let upper = joined(curves) { $0.max() ?? 0 }
        let most = upper.map(\.y).max() ?? 0
        var layers = [Plot.Layer(label: nil, form: .line, ink: .trouble, points: mean)]
        if runs.count > 1 {
            let lower = joined(curves) { $0.min() ?? 0 }
            layers[0].label = "mean"
            layers.insert(
                Plot.Layer(
                    label: "from the least to the most of \(runs.count) seeds", form: .area(base: lower, opacity: 0.25),
                    ink: .trouble, points: upper), at: 0)
        }
        return Plot(
            name: "stalled", title: "Viewers whose playback stands",
            yLabel: bucket == 1 ? "at the end of each second" : "at the end of a second, \(bucketWords)",
            xLabel: timeLabel,
            summary: "At the most \(AxisScale.grouped(most, decimals: 1)) viewers were stalled at once.",
            layers: layers,
            x: timeAxis, y: AxisScale(from: 0, to: max(1, most)), remark: most == 0 ? Self.nobodyStalled : nil
        ).drawing()
    }

    private static let nobodyStalled = "nobody stalled"

    // MARK: Segments and viewers

    private var copiesPlot: Drawing {
        var sums: [Int: (copies: Double, count: Int)] = [:]
        for segment in runs.flatMap(\.segments) {
            sums[segment.index, default: (0, 0)].copies += segment.copies
            sums[segment.index, default: (0, 0)].count += 1
        }
        let points = sums.keys.sorted().map { index in
            Drawing.Point(Double(index), sums[index].map { $0.copies / Double($0.count) } ?? 0)
        }
        let group = max(1, (points.count + 399) / 400)
        let shown = stride(from: 0, to: points.count, by: group).map { start in
            let part = points[start..<min(start + group, points.count)]
            return Drawing.Point(
                part.reduce(0) { $0 + $1.x } / Double(part.count), part.reduce(0) { $0 + $1.y } / Double(part.count))
        }
        let mean = interval("copiesPerSegment")?.mean ?? 0
        let most = max(1, shown.map(\.y).max() ?? 1)
        let x = AxisScale(from: shown.first?.x ?? 0, to: shown.last?.x ?? 1, isExact: true)
        return Plot(
            name: "copies", title: "Copies from the CDN",
            yLabel: "of each segment, \(seedWords)" + (group > 1 ? ", means of \(group) segments" : ""),
            xLabel: "segment of the stream",
            summary: "The CDN gave each segment \(Self.text(mean, "%.2f")) times on average, the most demanded one "
                + "\(Self.text(most, "%.2f")) times.",
            layers: [
                Plot.Layer(label: "a segment", form: .points, ink: .cdn, points: shown),
                Plot.Layer(
                    label: "all, \(Self.text(mean, "%.2f"))", form: .dashedLine, ink: .text,
                    points: shown.isEmpty ? [] : [.init(x.low, mean), .init(x.high, mean)]),
            ], x: x, y: AxisScale(from: 0, to: most)
        ).drawing()
    }

    private var startupPlot: Drawing {
        let values = SampleSummary(runs.flatMap(\.startups.sorted), ends: [])
        let count = Double(max(1, runs.reduce(0) { $0 + $1.viewerCount }))
        let most = values.percentile(99) ?? 1
        let step = max(1, values.count / Self.mostPoints)
        var points = [Drawing.Point(0, 0)]
        for place in stride(from: 0, to: values.count, by: step) where values.sorted[place] <= most {
            // The curve of a finite set has steps.
            points.append(Drawing.Point(values.sorted[place], points[points.count - 1].y))
            points.append(Drawing.Point(values.sorted[place], 100 * Double(place + 1) / count))
        }
        let median = values.percentile(50)
        return Plot(
            name: "startup", title: "Start-up", yLabel: "% of viewers play within this time",
            xLabel: "seconds since arrival",
            summary: "Half of those who began to play did so within \(Self.text(median, "%.2f")) s, 95 % within "
                + "\(Self.text(values.percentile(95), "%.2f")) s.",
            layers: [Plot.Layer(label: nil, form: .line, ink: .viewers, points: points)],
            x: AxisScale(from: 0, to: most), y: AxisScale(from: 0, to: 100, isExact: true)
        ).drawing()
    }

    private var stallsPlot: Drawing {
        let times = runs.flatMap(\.stallTimes.sorted)
        let summary = SampleSummary(times, ends: [0, 0.5, 1, 2, 5, 10, 30])
        let count = Double(max(1, times.count))
        let bars = summary.histogram.dropFirst().enumerated().map {
            Drawing.Point(Double($0.offset), 100 * Double($0.element.count) / count)
        }
        let free = Self.text(100 * Double(summary.histogram[0].count) / count, "%.1f")
        var plot = Plot(
            name: "stalls", title: "Time stalled", yLabel: "% of viewers; \(free) % never stalled",
            xLabel: "seconds in all, up to", summary: "\(free) % of viewers never stalled.",
            layers: [Plot.Layer(label: nil, form: .bars(width: 0.7), ink: .trouble, points: bars)],
            x: AxisScale(from: -0.5, to: Double(bars.count) - 0.5, isExact: true),
            y: AxisScale(from: 0, to: max(1, bars.map(\.y).max() ?? 0)))
        if summary.histogram[0].count == times.count { plot.remark = Self.nobodyStalled }
        plot.categories = ["0.5", "1", "2", "5", "10", "30", "more"]
        return plot.drawing()
    }

    private var uploadsPlot: Drawing {
        // Each run's curve: the least busy viewers' share of all that was uploaded.
        let places = 50
        let curves = runs.map { run in
            let bytes = run.fairness.bytes
            let sum = max(1, bytes.reduce(0, +))
            var sums = [0.0]
            for value in bytes { sums.append(sums[sums.count - 1] + value) }
            return (0...places).map { place in
                let count = Double(bytes.count) * Double(place) / Double(places)
                let whole = Int(count)
                let next = whole < bytes.count ? bytes[whole] * (count - Double(whole)) : 0
                return Drawing.Point(Double(place) * 100 / Double(places), (sums[whole] + next) / sum * 100)
            }
        }
        let index = interval("uploadJain")?.mean
        return Plot(
            name: "uploads", title: "Who uploads",
            yLabel: "% of uploaded bytes; Jain's index \(Self.text(index, "%.2f"))",
            xLabel: "% of the viewers who may upload, least first",
            summary: "Jain's index of the uploaded bytes is \(Self.text(index, "%.2f")).",
            layers: [
                Plot.Layer(label: "uploads", form: .line, ink: .peers, points: joined(curves)),
                Plot.Layer(
                    label: "if all gave the same", form: .dashedLine, ink: .quiet,
                    points: [.init(0, 0), .init(100, 100)]),
            ], x: AxisScale(from: 0, to: 100, isExact: true), y: AxisScale(from: 0, to: 100, isExact: true)
        ).drawing()
    }

    // MARK: Words

    func percent(_ share: Double) -> String { Self.text(share * 100, "%.1f") + " %" }

    private func megabits(_ points: [Drawing.Point]) -> String {
        Self.text(points.reduce(0) { $0 + $1.y } / Double(max(1, points.count)), "%.1f")
    }
}
