internal import CoreModel

/// What a run of the simulation gave, and the bounds beside it.
package struct SimulationResult: Sendable {
    /// Totals, under the names that figures of real viewers have too.
    package struct Total: Sendable, Equatable {
        package var bytesCDN = 0
        package var bytesPeers = 0
        package var bytesDelivered = 0
        package var offload: Double?
        package var peerShare: Double?
        package var copiesPerSegment: Double?
        package var copiesSteady: Double?
        package var copiesElected: Double?
        package var copiesHandover: Double?
        package var copiesStartup: Double?
        package var stalls = 0
        package var stallSeconds = 0.0
        package var stalledViewers = 0
        /// Bits a second of what was delivered, over the time that it plays.
        package var meanBitrate: Double?
        /// Segments in another rendition than the one before.
        package var switches = 0
        /// Segments that were given up for a lower rendition.
        package var abandonedSegments = 0
        package var startupSecondsMedian: Double?
        package var startupSecondsP95: Double?
        package var chunksRejected = 0
        package var peersBanned = 0
        package var bytesUploaded = 0
        /// Media that came and was not used, from wherever.
        package var bytesWasted = 0
        /// Elections won.
        package var claims = 0
        /// Control messages that a viewer sent, per second of its presence.
        package var messagesPerViewerSecond: Double?
    }

    /// Bytes of chunks between viewers: what was sent has arrived, was lost, or is under way at the end.
    package struct Payload: Sendable, Equatable {
        package var sent = 0
        package var arrived = 0
        /// Of what arrived, the part of altered chunks that were found out.
        package var altered = 0
        package var lost = 0
        package var underWay = 0
    }

    /// A second of the run.
    package struct Second: Sendable, Equatable {
        /// Online at its end.
        package var viewers = 0
        /// Of these, the ones whose playback stood at its end for want of media, after it had once begun.
        package var stalledViewers = 0
        package var bytesDelivered = 0
        package var bytesCDN = 0
        package var bytesPeers = 0
        /// Bytes from the CDN for each distinct byte delivered, from the start of the run to the end of this second; `nil`
        /// before anything was delivered. The last one is the total's `copiesPerSegment`.
        package var copies: Double?
    }

    /// A segment of the stream that somebody fetched or played.
    package struct Segment: Sendable, Equatable {
        /// Its number in the stream.
        package var index: Int
        /// Of its rendition.
        package var bitsPerSecond: Int
        package var byteCount: Int
        /// From the CDN, to all viewers together.
        package var bytesCDN: Int
        package var bytesDelivered: Int
        /// How often the CDN gave it.
        package var copies: Double { Double(bytesCDN) / Double(byteCount) }
    }

    /// How much of what was delivered had one of the renditions.
    package struct Quality: Sendable, Equatable {
        package var bitsPerSecond: Int
        /// Media time of all viewers together.
        package var seconds: Double
        /// Its part of all.
        package var share: Double
    }

    package var scenario: String
    package var seed: UInt64
    package var viewerCount: Int
    package var simulatedSeconds: Double
    /// Seconds that all viewers were online together.
    package var viewerSeconds: Double
    package var total: Total
    package var limits: [Limit]
    package var series: [Second]
    /// By rendition, the lowest first; of one where viewers have no choice.
    package var quality: [Quality]
    /// Segments that somebody fetched or played, in order.
    package var segments: [Segment]
    package var fairness: UploadFairness
    /// `nil` where the scenario names no prices.
    package var cost: DeliveryCost?
    package var payload: Payload
    package var isWithoutSharedLines: Bool
    /// The decisions of the viewer that the run was asked to explain.
    package var decisionLog: DecisionLog?
    var viewers: [ViewerTally]

    /// What the CDN gave; media alone.
    package var cdnRate: DeliveryRate { DeliveryRate(series.map(\.bytesCDN)) }
    /// What it would have given if every delivered byte had come from it.
    package var cdnOnlyRate: DeliveryRate { DeliveryRate(series.map(\.bytesDelivered)) }
    /// Seconds from arrival to playback, of those who came to see anything.
    package var startups: SampleSummary {
        SampleSummary(viewers.compactMap { $0.startup?.inSeconds }, ends: SampleSummary.secondsEnds)
    }
    /// Seconds that each viewer's playback stood.
    package var stallTimes: SampleSummary {
        SampleSummary(viewers.map(\.stallTime.inSeconds), ends: SampleSummary.secondsEnds)
    }
    /// How often each viewer's playback stopped.
    package var stallCounts: SampleSummary {
        SampleSummary(viewers.map { Double($0.stalls) }, ends: SampleSummary.countEnds)
    }

    /// What the model assumes and leaves out.
    package static let assumptions = [
        "Viewers play one track. With several renditions they know neither the sizes of segments to come nor a rate from before.",
        "The CDN is one place; its caches are always warm.",
        "Manifests are fetched once; what players of live streams load again is not counted.",
        "Lines keep the rate that they were drawn with: no other traffic, no traces, no Wi-Fi.",
        "Segments are published whole, without parts.",
        "Devices are never short of processor, memory or battery, and nothing fails that the scenario does not name.",
        "TCP is modelled by windows, fair queues and the bytes of headers and acknowledgements, without packets, "
            + "retransmissions or varying delay.",
        "Viewers behind one site reach the tracker under addresses of their own.",
        "Limits per address of the tracker's server are not applied.",
    ]
}
