internal import CommandLineSupport

/// What the CDN does and costs.
package struct CDNPlan: Sendable, Equatable {
    /// Bits a second of all transfers together; `nil`: no limit.
    package var bitsPerSecond: Int?
    /// Bits a second of one transfer; `nil`: no limit but the link's.
    package var bitsPerSecondPerTransfer: Int?
    /// Seconds from a request's arrival to the first byte, beside the viewer's round trip.
    package var latency: Distribution
    /// The share of requests that fail.
    package var failures: Double
    /// Whether ranges are served; without, only whole segments.
    package var servesRanges: Bool
    package var outages: [Outage]
    package var prices: Prices
}

extension CDNPlan {
    /// What the operator pays.
    package struct Prices: Sendable, Equatable {
        /// A price that holds up to a volume of the month.
        package struct Tier: Sendable, Equatable {
            /// Bytes up to which it holds; `nil`: from here on.
            package var upTo: Double?
            /// For 10⁹ bytes.
            package var perGigabyte: Double
        }

        /// The currency's code, for reports.
        package var currency: String
        /// In order; the last holds from there on.
        package var tiers: [Tier]
        package var perMillionRequests: Double
        /// For a Mbps of the 95th percentile, a month; 0 where volume is billed.
        package var perMbpsAt95: Double

        /// What so many bytes cost, when nothing else was delivered in the month.
        package func cost(ofBytes byteCount: Double) -> Double {
            var cost = 0.0
            var from = 0.0
            for tier in tiers {
                let end = min(byteCount, tier.upTo ?? .infinity)
                if end > from { cost += (end - from) / 1e9 * tier.perGigabyte }
                from = max(from, end)
            }
            return cost
        }
    }

    static let keys = [
        "capacity", "perTransfer", "latency", "failures", "ranges", "outages", "prices",
    ]

    init(_ object: ScenarioObject?) throws(ScenarioError) {
        latency = .fixed(0.03)
        failures = 0
        servesRanges = true
        outages = []
        prices = Prices(currency: "USD", tiers: [], perMillionRequests: 0, perMbpsAt95: 0)
        guard let object else { return }
        bitsPerSecond = try object.quantity("capacity", .rate, in: 1000...1e15).map { Int($0) }
        bitsPerSecondPerTransfer = try object.quantity("perTransfer", .rate, in: 1000...1e15).map { Int($0) }
        latency = try object.distribution("latency", .duration, in: 0...60) ?? latency
        failures = try object.quantity("failures", .share, in: 0...1) ?? 0
        servesRanges = try object.boolean("ranges", default: true)
        outages = try object.outages("outages")
        if let object = try object.object("prices", keys: Prices.keys) { prices = try Prices(object) }
    }
}

extension CDNPlan.Prices {
    static let keys = ["currency", "perGB", "perMillionRequests", "perMbpsAt95"]

    fileprivate init(_ object: ScenarioObject) throws(ScenarioError) {
        currency = try object.text("currency", allowed: "a currency such as \"USD\"") ?? "USD"
        perMillionRequests = try object.quantity("perMillionRequests", .number, in: 0...1e6) ?? 0
        perMbpsAt95 = try object.quantity("perMbpsAt95", .number, in: 0...1e6) ?? 0
        tiers = []
        guard let listed = object.value("perGB"), case .array(_) = listed else {
            if let price = try object.quantity("perGB", .number, in: 0...1e6) {
                tiers = [Tier(upTo: nil, perGigabyte: price)]
            }
            return
        }
        let items = try object.list("perGB", count: 1...100, of: "objects with upTo and price") ?? []
        for (index, item) in items.enumerated() {
            let tier = try ScenarioObject(item.value, at: item.path, keys: ["upTo", "price"], files: object.files)
            let end = try tier.quantity("upTo", .size, in: 1...1e18)
            if (end == nil) != (index == items.count - 1) {
                throw .contradiction(
                    tier.path(of: "upTo"), reason: "each tier but the last has an end, the last has none")
            }
            if let end, let last = tiers.last?.upTo, end <= last {
                throw .contradiction(tier.path(of: "upTo"), reason: "is not above that of the tier before")
            }
            tiers.append(Tier(upTo: end, perGigabyte: try tier.required("price", .number, in: 0...1e6)))
        }
    }
}
