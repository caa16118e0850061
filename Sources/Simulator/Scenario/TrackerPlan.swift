/// What the tracker does.
package struct TrackerPlan: Sendable, Equatable {
    /// Whether there is one at all; without, elections stand in for fronts and viewers find no peers by themselves.
    package var isPresent = true
    /// Whether it names fronts; without, elections stand in.
    package var namesFronts = true
    /// Seconds from a request's arrival to the answer, beside the viewer's round trip.
    package var latency = Distribution.fixed(0.01)
    package var outages: [Outage] = []
}

extension TrackerPlan {
    static let keys = ["present", "fronts", "latency", "outages"]

    init(_ object: ScenarioObject?) throws(ScenarioError) {
        guard let object else { return }
        isPresent = try object.boolean("present", default: true)
        namesFronts = try object.boolean("fronts", default: true)
        latency = try object.distribution("latency", .duration, in: 0...60) ?? latency
        outages = try object.outages("outages")
    }
}

/// What the witness does, which signs a live stream's records. Its latency is the stream's `recordLatency`.
package struct WitnessPlan: Sendable, Equatable {
    /// Whether there is one, or another signer; without records there are no peers.
    package var isPresent = true
    package var outages: [Outage] = []
}

extension WitnessPlan {
    static let keys = ["present", "outages"]

    init(_ object: ScenarioObject?) throws(ScenarioError) {
        guard let object else { return }
        isPresent = try object.boolean("present", default: true)
        outages = try object.outages("outages")
    }
}
