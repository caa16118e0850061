@testable import Scheduling

/// Rates of 1, 2, 4 and 8 Mbit/s and segments of 3 s: rungs that can be worked out by hand.
enum FourRungs {
    static let ladder = BitrateLadder(bitsPerSecond: [1_000_000, 2_000_000, 4_000_000, 8_000_000])!
    static let segment = 3000.0
    static let table = OutlookTable(ladder: ladder, capacity: 25_000, segment: segment)

    static func bitrate(
        _ algorithm: BitrateAlgorithm = .outlook, tolerance: Double = 0.1, start: Double? = nil
    ) -> AdaptiveBitrate {
        var configuration = BitrateConfiguration()
        configuration.algorithm = algorithm
        configuration.capacityMilliseconds = 25_000
        configuration.segmentMilliseconds = segment
        configuration.peerTolerance = tolerance
        configuration.startKilobitsPerSecond = start
        return AdaptiveBitrate(ladder: ladder, configuration: configuration, table: table)
    }

    static func situation(
        buffer: Double, index: Int = 100, highest: Int = 3, offers: [SegmentOffer] = [], access: Double? = nil
    ) -> BitrateSituation {
        BitrateSituation(
            bufferMilliseconds: buffer, capacityMilliseconds: 25_000, segmentMilliseconds: segment,
            segmentIndex: index, segmentsLeft: 100, highestRung: highest, offers: offers,
            accessKilobitsPerSecond: access)
    }

    /// A transfer of a second at a rate.
    static func sample(
        _ kilobitsPerSecond: Double, latency: Double = 20, from source: ByteSource = .cdn, isWhole: Bool = true
    ) -> TransferSample {
        TransferSample(
            bits: kilobitsPerSecond * 1000, milliseconds: 1000, latencyMilliseconds: latency, source: source,
            isWhole: isWhole)
    }

    /// The fetch of a segment at a rung, so far.
    static func progress(_ rung: Int, received: Double, after milliseconds: Double, latency: Double = 0)
        -> SegmentProgress
    {
        SegmentProgress(
            rung: rung, bits: ladder.kilobitsPerSecond[rung] * segment, receivedBits: received,
            milliseconds: milliseconds, latencyMilliseconds: latency, segmentMilliseconds: segment)
    }
}
