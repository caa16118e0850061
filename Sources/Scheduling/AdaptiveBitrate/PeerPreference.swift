/// Prefers, within a tolerance, a rung that peers hold.
///
/// A segment that is held whole may cost the tolerance in outlook. What viewers lose by it in quality stays within a hundredth
/// of the bitrate in the long run: steps down must be made up by steps up, or by the allowance of the segments since.
struct PeerPreference: Sendable, Equatable {
    /// How much utility each segment may lose in the mean: a hundredth of the bitrate.
    private static let allowance = 0.01
    /// What can be saved up, so that one step down, of about half the bitrate, is possible at once.
    private static let savingsLimit = 0.7

    let tolerance: Double
    private var savings = savingsLimit

    init(tolerance: Double) { self.tolerance = min(max(tolerance, 0), 1) }

    /// What is added to the outlook of a rung with this offer.
    func bonus(_ offer: SegmentOffer) -> Double {
        tolerance * min(max(offer.peerShare + offer.storeShare, 0), 1)
    }

    /// Whether the preferred rung may be taken over the best; counts it when so.
    mutating func accepts(_ preferred: Int, over best: Int, ladder: BitrateLadder) -> Bool {
        let loss = ladder.utilities[best] - ladder.utilities[preferred]
        guard loss <= savings else { return false }
        savings = min(savings - loss + Self.allowance, Self.savingsLimit)
        return true
    }

    /// Counts a segment that was fetched at the best rung.
    mutating func followed() { savings = min(savings + Self.allowance, Self.savingsLimit) }
}
