internal import CoreModel

/// From counters to figures.
extension Simulation {
    /// Takes note of a second at its end.
    func noteSecond() {
        var second = SimulationResult.Second()
        for index in viewers.indices {
            guard let viewer = viewers[index] else {
                second.add(tallies[index])
                continue
            }
            if viewer.isOnline {
                second.viewers += 1
                second.stalledViewers += viewer.player.isStalled ? 1 : 0
                second.add(viewer.figures)
            } else {
                // Who leaves with the second, as all do with the run's last, was there.
                second.viewers += tallies[index].online == viewer.profile.arrival.duration(to: now) ? 1 : 0
                second.add(tallies[index])
            }
        }
        if distinctBytes > 0 { second.copies = Double(second.bytesCDN) / Double(distinctBytes) }
        series.append(second.since(countedBytes))
        countedBytes = second
    }

    func finish() throws(SimulationError) -> SimulationResult {
        payload.underWay = parcels.values.reduce(0) { $0 + $1.payload }
        var total = SimulationResult.Total()
        var (startup, elected, handover) = (0, 0, 0)
        var messages = 0
        var online = 0.0
        for tally in tallies {
            total.bytesCDN += tally.bytesCDN
            total.bytesPeers += tally.bytesPeers
            total.bytesDelivered += tally.bytesDelivered
            total.stalls += tally.stalls
            total.stallSeconds += tally.stallTime.inSeconds
            total.stalledViewers += tally.stalls > 0 ? 1 : 0
            total.chunksRejected += tally.chunksRejected
            startup += tally.cdnStartup
            elected += tally.cdnElected
            handover += tally.cdnHandover
            total.claims += tally.claims
            total.peersBanned += tally.peersBanned
            total.bytesUploaded += tally.bytesUploaded
            total.bytesWasted += tally.bytesWasted
            total.switches += tally.switches
            total.abandonedSegments += tally.abandoned
            messages += tally.messagesSent
            online += tally.online.inSeconds
        }
        let shown = tallies.reduce(0) { $0 + $1.deliveredSeconds }
        if shown > 0 { total.meanBitrate = Double(total.bytesDelivered) * 8 / shown }
        let distinct = distinctBytes
        let largest =
            zip(stream.segments, segmentBytes).filter { $0.1.delivered > 0 }.map(\.0.geometry.byteCount).max() ?? 0
        if total.bytesDelivered > 0 {
            total.offload = 1 - Double(total.bytesCDN) / Double(total.bytesDelivered)
            total.peerShare = Double(total.bytesPeers) / Double(max(1, total.bytesPeers + total.bytesCDN))
        }
        if distinct > 0 {
            let size = Double(distinct)
            total.copiesPerSegment = Double(total.bytesCDN) / size
            total.copiesElected = Double(elected) / size
            total.copiesHandover = Double(handover) / size
            total.copiesSteady = Double(elected + handover) / size
            total.copiesStartup = Double(startup) / size
        }
        let startups = tallies.compactMap { $0.startup?.inSeconds }.sorted()
        total.startupSecondsMedian = Self.percentile(startups, 0.5)
        total.startupSecondsP95 = Self.percentile(startups, 0.95)
        if online > 0 { total.messagesPerViewerSecond = Double(messages) / online }

        let limits = limits(distinct: distinct, largest: largest)
        if let offload = total.offload {
            for limit in limits where limit.strength == .hard && offload > limit.value + 1e-6 {
                throw .aboveHardLimit(
                    name: limit.name.rawValue, limit: limit.value, offload: offload, seed: seed)
            }
        }
        return SimulationResult(
            scenario: scenario.name, seed: seed, viewerCount: population.viewers.count,
            simulatedSeconds: scenario.duration.inSeconds, viewerSeconds: online, total: total, limits: limits,
            series: series, quality: quality, segments: segments, fairness: fairness, cost: cost(total),
            payload: payload,
            isWithoutSharedLines: scenario.links.isWithoutSharedLines, decisionLog: decisionLog, viewers: tallies)
    }

    private var fairness: UploadFairness {
        UploadFairness(
            zip(population.viewers, tallies).enumerated().filter { $0.1.0.sharing == .uploads }.map { index, viewer in
                let capacity = population.lineUplinks[index] / 8 * viewer.1.online.inSeconds
                return (bytes: Double(viewer.1.bytesUploaded), capacity: capacity)
            })
    }

    private func cost(_ total: SimulationResult.Total) -> DeliveryCost? {
        let prices = scenario.cdn.prices
        guard !prices.isEmpty else { return nil }
        let manifests = tallies.reduce(0) { $0 + $1.bytesManifest }
        let catalogues = tallies.reduce(0) { $0 + $1.bytesCatalogue }
        let manifestRequests = tallies.reduce(0) { $0 + $1.requestsManifest }
        return DeliveryCost(
            currency: prices.currency,
            withPeers: DeliveryCost.Bill(
                bytes: total.bytesCDN + manifests + catalogues,
                requests: tallies.reduce(manifestRequests) { $0 + $1.requestsCDN + $1.requestsCatalogue },
                percentile95: DeliveryRate(series.map(\.bytesCDN)).percentile95, prices),
            cdnOnly: DeliveryCost.Bill(
                bytes: total.bytesDelivered + manifests,
                requests: tallies.reduce(manifestRequests) { $0 + $1.segments },
                percentile95: DeliveryRate(series.map(\.bytesDelivered)).percentile95, prices))
    }

    private var quality: [SimulationResult.Quality] {
        let all = tallies.reduce(0) { $0 + $1.deliveredSeconds }
        return stream.ladder.indices.map { rung in
            let seconds =
                stream.ladder.count == 1
                ? all : tallies.reduce(0) { $0 + ($1.rungSeconds.isEmpty ? 0 : $1.rungSeconds[rung]) }
            return SimulationResult.Quality(
                bitsPerSecond: stream.ladder[rung], seconds: seconds, share: all > 0 ? seconds / all : 0)
        }
    }

    private var segments: [SimulationResult.Segment] {
        zip(stream.segments, segmentBytes).enumerated().compactMap { index, segment in
            guard segment.1.delivered > 0 || segment.1.cdn > 0 else { return nil }
            return SimulationResult.Segment(
                index: index % stream.count, bitsPerSecond: stream.ladder[index / stream.count],
                byteCount: segment.0.geometry.byteCount, bytesCDN: segment.1.cdn,
                bytesDelivered: segment.1.delivered)
        }
    }

    private func limits(distinct: Int, largest: Int) -> [Limit] {
        guard tallies.contains(where: { $0.bytesDelivered > 0 }) else { return [] }
        let totals = RunTotals(
            deliveredBytes: tallies.map { Double($0.bytesDelivered) },
            downloadedBytes: tallies.map { Double($0.bytesCDN + $0.bytesPeers + $0.bytesWasted) },
            onlineSeconds: tallies.map { $0.online.inSeconds },
            isReachable: tallies.map(\.hasMet), distinctBytes: Double(distinct),
            largestSegmentBits: Double(largest) * 8,
            // From its publication a segment may be played for as long as a stalled viewer is late.
            longestRoom: scenario.stream.liveDelay
                + (tallies.map(\.stallTime).max() ?? .zero)
                + (tallies.compactMap(\.startup).max() ?? .zero), frontCount: max(1, maximumFront),
            bitsPerSecond: stream.ladder.count > 1
                ? quality.reduce(0) { $0 + Double($1.bitsPerSecond) * $1.share } : nil)
        return totals.limits(population, scenario)
    }

    private static func percentile(_ sorted: [Double], _ share: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let place = Int((Double(sorted.count) * share).rounded(.up)) - 1
        return sorted[min(max(place, 0), sorted.count - 1)]
    }
}

extension SimulationResult.Second {
    fileprivate mutating func add(_ figures: ViewerTally) {
        bytesDelivered += figures.bytesDelivered
        bytesCDN += figures.bytesCDN
        bytesPeers += figures.bytesPeers
    }

    /// The bytes of this second alone, when all up to its end are counted here and all up to its start there.
    fileprivate func since(_ start: Self) -> Self {
        var second = self
        second.bytesDelivered -= start.bytesDelivered
        second.bytesCDN -= start.bytesCDN
        second.bytesPeers -= start.bytesPeers
        return second
    }
}
