/// What a run's delivery from the CDN costs at the scenario's prices, as if nothing else were delivered in the month.
package struct DeliveryCost: Sendable, Equatable {
    /// What was bought.
    package struct Bill: Sendable, Equatable {
        /// Media, manifests and catalogues.
        package var bytes: Int
        package var requests: Int
        /// For the bytes.
        package var volume: Double
        /// For the requests.
        package var requesting: Double
        /// For the 95th percentile of the rate.
        package var rate: Double
        package var sum: Double { volume + requesting + rate }

        init(bytes: Int, requests: Int, percentile95: Double, _ prices: CDNPlan.Prices) {
            self.bytes = bytes
            self.requests = requests
            volume = prices.cost(ofBytes: Double(bytes))
            requesting = Double(requests) / 1e6 * prices.perMillionRequests
            rate = percentile95 / 1e6 * prices.perMbpsAt95
        }
    }

    package let currency: String
    package let withPeers: Bill
    /// The same playback with every delivered byte from the CDN, one request for a segment, and no catalogues.
    package let cdnOnly: Bill

    /// The part of the cost that peers save; `nil` when the CDN alone would cost nothing.
    package var saved: Double? { cdnOnly.sum > 0 ? 1 - withPeers.sum / cdnOnly.sum : nil }
}

extension CDNPlan.Prices {
    /// Whether the scenario names any price at all.
    package var isEmpty: Bool { tiers.isEmpty && perMillionRequests == 0 && perMbpsAt95 == 0 }
}
