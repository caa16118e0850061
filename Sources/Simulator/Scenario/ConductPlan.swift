/// How a viewer treats the others.
package enum Conduct: UInt8, CaseIterable, Sendable {
    /// As the protocol says.
    case honest
    /// Alters each chunk that it uploads.
    case polluting
    /// Takes and never gives.
    case freeRiding
    /// Takes requests and lets them run into their timeouts.
    case stalling
    /// Claims and announces what it doesn't have.
    case lying
}

/// The shares of viewers who misbehave; no viewer does in two ways.
package struct ConductPlan: Sendable, Equatable {
    package var polluters = 0.0
    package var freeRiders = 0.0
    package var stalling = 0.0
    package var lying = 0.0

    /// The share of each conduct, in the order of ``Conduct/allCases``.
    package var shares: [Double] {
        [max(0, 1 - polluters - freeRiders - stalling - lying), polluters, freeRiders, stalling, lying]
    }
}

extension ConductPlan {
    static let keys = ["polluters", "freeRiders", "stalling", "lying"]

    init(_ object: ScenarioObject?) throws(ScenarioError) {
        guard let object else { return }
        polluters = try object.quantity("polluters", .share, in: 0...1) ?? 0
        freeRiders = try object.quantity("freeRiders", .share, in: 0...1) ?? 0
        stalling = try object.quantity("stalling", .share, in: 0...1) ?? 0
        lying = try object.quantity("lying", .share, in: 0...1) ?? 0
        guard polluters + freeRiders + stalling + lying <= 1 + 1e-9 else {
            throw .contradiction(object.path, reason: "the shares are more than 1 together")
        }
    }
}
