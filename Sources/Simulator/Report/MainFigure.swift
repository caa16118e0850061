/// The figures of a run that are averaged over seeds.
package struct MainFigure: Sendable {
    package enum Unit: String, Sendable {
        case share, copies, seconds, count, bytes, index
        case bitsPerSecond
        case currency
    }

    /// The key in the document.
    package let name: String
    package let unit: Unit
    package let value: @Sendable (SimulationResult) -> Double?

    private init(_ name: String, _ unit: Unit, _ value: @escaping @Sendable (SimulationResult) -> Double?) {
        self.name = name
        self.unit = unit
        self.value = value
    }

    package static let all: [MainFigure] = [
        MainFigure("offload", .share) { $0.total.offload },
        MainFigure("hardLimit", .share) { $0.limits.tightestHard?.value },
        MainFigure("peerShare", .share) { $0.total.peerShare },
        MainFigure("copiesPerSegment", .copies) { $0.total.copiesPerSegment },
        MainFigure("copiesSteady", .copies) { $0.total.copiesSteady },
        MainFigure("copiesElected", .copies) { $0.total.copiesElected },
        MainFigure("copiesHandover", .copies) { $0.total.copiesHandover },
        MainFigure("copiesStartup", .copies) { $0.total.copiesStartup },
        MainFigure("stalls", .count) { Double($0.total.stalls) },
        MainFigure("stallSeconds", .seconds) { $0.total.stallSeconds },
        MainFigure("stalledViewerShare", .share) { Double($0.total.stalledViewers) / Double(max(1, $0.viewerCount)) },
        MainFigure("meanBitrate", .bitsPerSecond) { $0.total.meanBitrate },
        MainFigure("switchesPerViewer", .count) { Double($0.total.switches) / Double(max(1, $0.viewerCount)) },
        MainFigure("startupSecondsMedian", .seconds) { $0.total.startupSecondsMedian },
        MainFigure("startupSecondsP95", .seconds) { $0.total.startupSecondsP95 },
        MainFigure("bytesCDN", .bytes) { Double($0.total.bytesCDN) },
        MainFigure("bytesPeers", .bytes) { Double($0.total.bytesPeers) },
        MainFigure("bytesDelivered", .bytes) { Double($0.total.bytesDelivered) },
        MainFigure("bytesWasted", .bytes) { Double($0.total.bytesWasted) },
        MainFigure("cdnPeakBitsPerSecond", .bitsPerSecond) { $0.cdnRate.peak },
        MainFigure("cdnP95BitsPerSecond", .bitsPerSecond) { $0.cdnRate.percentile95 },
        MainFigure("uploadJain", .index) { $0.fairness.index },
        MainFigure("uploadShareOfTopTenth", .share) { $0.fairness.shareOfTopTenth },
        MainFigure("costWithPeers", .currency) { $0.cost?.withPeers.sum },
        MainFigure("costCDNOnly", .currency) { $0.cost?.cdnOnly.sum },
        MainFigure("messagesPerViewerSecond", .count) { $0.total.messagesPerViewerSecond },
    ]

    /// Its mean over the runs that have it; `nil` when none has.
    package func interval(_ runs: [SimulationResult]) -> MeanInterval? { MeanInterval(runs.compactMap(value)) }
}
