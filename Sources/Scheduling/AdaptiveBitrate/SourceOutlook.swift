import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What the network is believed to give to the next segment.
struct SourceOutlook: Sendable, Equatable {
    /// The natural logarithm of the rate that later segments can count on, in kilobits a second.
    let logRate: Double
    /// From a request to its first byte, in milliseconds.
    let latency: Double
    private let mix: SourceMix

    /// - Returns: `nil` when nothing is known of the network.
    init?(_ estimates: SourceEstimates, access: Double?) {
        // Before the CDN brought anything, peers say what this viewer's link can take.
        guard let logRate = estimates.cdnBelief.logRate ?? estimates.peerBelief.logRate else { return nil }
        self.logRate = logRate
        latency = (estimates[.cdn] ?? estimates[.peers])?.latencyMilliseconds ?? 0
        mix = SourceMix(cdn: exp(logRate), peers: estimates.peerBelief.logRate.map { exp($0) } ?? 0, access: access)
    }

    /// How long the rung's segment takes from its first byte on, in milliseconds.
    func fetchTime(of rung: Int, in situation: borrowing BitrateSituation, ladder: BitrateLadder) -> Double {
        let bits =
            situation.segmentBits.isEmpty
            ? situation.segmentMilliseconds * ladder.kilobitsPerSecond[rung] : situation.segmentBits[rung]
        guard !situation.offers.isEmpty else { return bits / mix.cdn }
        let offer = situation.offers[rung]
        let missing = 1 - min(max(offer.storeShare, 0), 1)
        guard missing > 0 else { return 0 }
        return bits * missing / mix.rate(peerShare: min(max(offer.peerShare / missing, 0), 1))
    }
}
