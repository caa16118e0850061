internal import CoreModel
internal import SwarmProtocol

/// A scenario in a table for people; the file has the rest.
extension Scenario {
    /// Pairs of a name and what holds.
    var facts: [[String]] {
        streamFacts + populationFacts + [
            ["lines", links.classes.map { linkWords($0) }.joined(separator: "; ")],
            ["pairs of viewers that connect", percent(nat.meanPairSuccess)],
            ["upload caps", uploadWords],
            ["links a viewer", "\(maximumLinkCount)"],
            ["CDN", cdnWords],
            [
                "tracker",
                serviceWords(tracker.isPresent, tracker.outages.count)
                    + (tracker.namesFronts ? "" : ", names no fronts"),
            ],
            ["witness", serviceWords(witness.isPresent, witness.outages.count)],
        ]
    }

    private var streamFacts: [[String]] {
        var facts = [
            ["stream", stream.kind == .live ? "live" : "video on demand, \(seconds(stream.length))"],
            ["simulated", seconds(duration)],
            ["rates", stream.ladder.map(rate).joined(separator: ", ") + " (\(stream.quality.rawValue))"],
            ["segments", seconds(stream.segmentDuration)],
        ]
        if stream.kind == .live {
            facts.append(["behind the newest media", seconds(stream.liveDelay)])
            facts.append(["room in which peers can pass a segment on", seconds(stream.room)])
        }
        return facts
    }

    private var populationFacts: [[String]] {
        var facts = [["viewers in the file", AxisScale.grouped(Double(population.viewerCount), decimals: 0)]]
        let shares = [
            ("sharing switched off", population.leechOnly), ("on mobile", population.mobile),
            ("alter what they upload", conduct.polluters), ("take and never give", conduct.freeRiders),
            ("let requests run out of time", conduct.stalling), ("announce what they don't have", conduct.lying),
        ].filter { $0.1 > 0 }.map { "\(percent($0.1)) \($0.0)" }
        if !shares.isEmpty { facts.append(["of the viewers", shares.joined(separator: ", ")]) }
        return facts
    }

    private func linkWords(_ line: LinkPlan.LinkClass) -> String {
        var words = "\(line.name) (weight \(number(line.weight)))"
        if line.isMetered { words += ", metered" }
        if let shared = line.sharedAccess {
            words +=
                ", \(shared.viewersPerLine.map { "\($0) share" } ?? "all share") \(rate(shared.downBitsPerSecond)) down "
                + "and \(rate(shared.upBitsPerSecond)) up"
        }
        if let site = line.site {
            words +=
                ", sites of \(site.viewersPerSite.map { "\($0)" } ?? "all") behind "
                + "\(rate(site.downBitsPerSecond)) down and \(rate(site.upBitsPerSecond)) up"
        }
        return words
    }

    private var uploadWords: String {
        var words: [String] = []
        if let share = uploads.caps.shareOfDownload { words.append("\(number(share)) bytes for each downloaded one") }
        if let bytes = uploads.caps.bytesPerSecond { words.append(rate(Int(bytes * 8))) }
        if let bytes = uploads.caps.bytesPerDay {
            words.append("\(AxisScale.grouped(Double(bytes) / 1e6, decimals: 0)) MB a day")
        }
        if uploads.usableShare < 1 { words.append("\(percent(uploads.usableShare)) of the line") }
        if let mean = uploads.meanUsable {
            words.append("lines scaled to a mean of \(number(mean)) × the highest rate")
        }
        return words.isEmpty ? "none" : words.joined(separator: ", ")
    }

    private var cdnWords: String {
        var words: [String] = []
        if let capacity = cdn.bitsPerSecond { words.append("\(rate(capacity)) in all") }
        if let capacity = cdn.bitsPerSecondPerTransfer { words.append("\(rate(capacity)) a transfer") }
        if cdn.failures > 0 { words.append("\(percent(cdn.failures)) of requests fail") }
        if !cdn.outages.isEmpty { words.append("\(cdn.outages.count) outages") }
        if !cdn.servesRanges { words.append("whole segments only") }
        return words.isEmpty ? "without limits" : words.joined(separator: ", ")
    }

    private func serviceWords(_ isPresent: Bool, _ outages: Int) -> String {
        guard isPresent else { return "none" }
        return outages == 0 ? "always there" : "there, with \(outages) outages"
    }

    private func seconds(_ span: Duration) -> String { number(span.inSeconds) + " s" }
    private func percent(_ share: Double) -> String { number(share * 100) + " %" }

    private func rate(_ bitsPerSecond: Int) -> String { number(Double(bitsPerSecond) / 1e6) + " Mbps" }

    private func number(_ value: Double) -> String {
        let rounded = (value * 1000).rounded() / 1000
        return rounded == rounded.rounded() && abs(rounded) < 1e15 ? String(Int(rounded)) : String(rounded)
    }
}
