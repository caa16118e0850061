internal import CoreModel

/// From counters to figures.
extension Simulation {
    /// Takes note of the totals at the end of a second.
    func noteSecond() {
        var second = SimulationResult.Second(viewers: 0, bytesCDN: 0, bytesPeers: 0)
        for index in viewers.indices {
            if let viewer = viewers[index], viewer.isOnline {
                second.viewers += 1
                second.bytesCDN += viewer.figures.bytesCDN
                second.bytesPeers += viewer.figures.bytesPeers
            } else {
                second.bytesCDN += tallies[index].bytesCDN
                second.bytesPeers += tallies[index].bytesPeers
            }
        }
        series.append(second)
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
            messages += tally.messagesSent
            online += tally.online.inSeconds
        }
        var distinct = 0
        var largest = 0
        for (index, segment) in stream.segments.enumerated() where isDelivered[index] {
            distinct += segment.geometry.byteCount
            largest = max(largest, segment.geometry.byteCount)
        }
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
                throw .aboveHardLimit(name: limit.name.rawValue, limit: limit.value, offload: offload)
            }
        }
        return SimulationResult(
            scenario: scenario.name, seed: seed, viewerCount: population.viewers.count,
            simulatedSeconds: scenario.duration.inSeconds, viewerSeconds: online, total: total, limits: limits,
            series: series, payload: payload,
            isWithoutSharedLines: scenario.links.isWithoutSharedLines, viewers: tallies)
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
                + (tallies.compactMap(\.startup).max() ?? .zero), frontCount: max(1, maximumFront))
        return totals.limits(population, scenario)
    }

    private static func percentile(_ sorted: [Double], _ share: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let place = Int((Double(sorted.count) * share).rounded(.up)) - 1
        return sorted[min(max(place, 0), sorted.count - 1)]
    }
}
