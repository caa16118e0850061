internal import CoreModel

/// What a run counted, as far as its bounds depend on it. Lists are by viewer, in the order of ``Population/viewers``.
package struct RunTotals: Sendable {
    /// Bytes handed to each player, replays from the own store left out.
    package var deliveredBytes: [Double]
    /// Bytes that each viewer received, from wherever: what the cap by download counts.
    package var downloadedBytes: [Double]
    package var onlineSeconds: [Double]
    /// Whether each viewer could connect to at least one other while it was there.
    package var isReachable: [Bool]
    /// Bytes of all segments, in each rendition, that were delivered to anybody, each counted once.
    package var distinctBytes: Double
    /// Bits of the largest of them.
    package var largestSegmentBits: Double
    /// Live: the longest time between a segment's availability to the swarm and a viewer's deadline.
    package var longestRoom: Duration
    /// Live: the most viewers who fetched one copy of a segment between them.
    package var frontCount: Int
    /// The mean of what was delivered, where viewers choose among renditions; else `nil`.
    package var bitsPerSecond: Double?

    package init(
        deliveredBytes: [Double], downloadedBytes: [Double], onlineSeconds: [Double], isReachable: [Bool],
        distinctBytes: Double, largestSegmentBits: Double, longestRoom: Duration, frontCount: Int,
        bitsPerSecond: Double? = nil
    ) {
        self.deliveredBytes = deliveredBytes
        self.downloadedBytes = downloadedBytes
        self.onlineSeconds = onlineSeconds
        self.isReachable = isReachable
        self.distinctBytes = distinctBytes
        self.largestSegmentBits = largestSegmentBits
        self.longestRoom = longestRoom
        self.frontCount = frontCount
        self.bitsPerSecond = bitsPerSecond
    }

    /// Every bound that applies to the run, the hard ones first.
    ///
    /// Shared lines count for the uplink's bound; deadline and injection take each viewer's line as its own, which only
    /// makes them weaker.
    package func limits(_ population: Population, _ scenario: Scenario) -> [Limit] {
        let delivered = deliveredBytes.reduce(0, +)
        let uploadable = population.uploadableBytes(
            onlineSeconds: onlineSeconds, downloadedBytes: downloadedBytes, scenario: scenario)
        let reachable = zip(deliveredBytes, isReachable).reduce(0) { $0 + ($1.1 ? $1.0 : 0) }
        var limits = [
            HardLimits.firstCopy(distinctBytes: distinctBytes, deliveredBytes: delivered),
            HardLimits.uplink(uploadableBytes: uploadable, deliveredBytes: delivered),
            HardLimits.reach(reachableBytes: reachable, deliveredBytes: delivered),
        ]
        let rate = bitsPerSecond ?? Double(scenario.stream.topBitsPerSecond)
        let usable = population.usableUplinks
        let online = onlineSeconds.reduce(0, +)
        switch scenario.stream.kind {
        case .live:
            let lines = population.peakUplinks(scenario).sorted(by: >)
            let largest = lines.first ?? 0
            let chunkBits = Double(SegmentGeometry.chunkByteCount * 8)
            limits.append(
                HardLimits.deadline(room: longestRoom, firstCopySeconds: 0, unitBits: chunkBits, largestUplink: largest)
            )
            // With several renditions each has its viewers and its front: nothing is known of the least of them.
            if scenario.stream.playedLadder.count == 1 {
                limits.append(
                    HardLimits.injection(
                        room: longestRoom, segmentBits: largestSegmentBits,
                        frontUplinks: lines.prefix(max(1, frontCount)).reduce(0, +),
                        unitSeconds: largest > 0 ? chunkBits / largest : 0, viewerCount: population.viewers.count,
                        frontCount: frontCount))
            }
            limits.append(SoftLimits.fluid(uplinks: usable, bitsPerSecond: rate))
        case .vod:
            // Who came first is furthest on.
            limits.append(SoftLimits.fluid(uplinks: usable, bitsPerSecond: rate))
            limits.append(SoftLimits.order(uplinks: usable, bitsPerSecond: rate))
            limits.append(
                SoftLimits.swarmSize(
                    concurrency: online / scenario.duration.inSeconds,
                    uplinkRatio: population.meanUsableUplink / rate))
        }
        limits.append(
            SoftLimits.warmUp(
                scenario.stream.segmentDuration,
                watched: .clamping(seconds: online / Double(max(1, onlineSeconds.count)))))
        return limits
    }
}
