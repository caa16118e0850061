/// The kind of address translation (or firewall) a viewer sits behind.
package enum NATKind: UInt8, CaseIterable, Sendable {
    case open
    case fullCone
    case addressRestricted
    case portRestricted
    case symmetric
    /// No connection to or from another viewer at all.
    case blocked

    /// The name in scenarios.
    package var name: String { "\(self)" }
}

/// Which viewers can connect.
package struct NATMix: Sendable, Equatable {
    /// The weight of each type, in the order of ``NATKind/allCases``.
    package var weights: [Double]
    /// Whether viewers punch holes; without, one of two must be open.
    package var punchesHoles: Bool
    /// The probability that a pair whose types allow it really connects.
    package var pairSuccess: Double

    /// Whether the types alone let two viewers connect: with hole punching it fails only for symmetric with symmetric and
    /// symmetric with port-restricted (as ICE behaves).
    package func allows(_ a: NATKind, _ b: NATKind) -> Bool {
        if a == .blocked || b == .blocked { return false }
        guard punchesHoles else { return a == .open || b == .open }
        switch (a, b) {
        case (.symmetric, .symmetric), (.symmetric, .portRestricted), (.portRestricted, .symmetric): return false
        case _: return true
        }
    }

    /// The probability of success for each pair, by the kinds' raw values: a square table, the same both ways.
    package var pairProbabilities: [[Double]] {
        NATKind.allCases.map { a in NATKind.allCases.map { b in allows(a, b) ? pairSuccess : 0 } }
    }

    /// The probability that two viewers drawn at random connect.
    package var meanPairSuccess: Double {
        let total = weights.reduce(0, +)
        var sum = 0.0
        for a in NATKind.allCases {
            for b in NATKind.allCases where allows(a, b) {
                sum += weights[Int(a.rawValue)] * weights[Int(b.rawValue)]
            }
        }
        return pairSuccess * sum / (total * total)
    }
}

extension NATMix {
    /// Mixes with a name. The three that aren't open are derived so that the stated share of pairs connects.
    private enum Preset: String, CaseIterable {
        /// Everybody is open.
        case open
        /// 86 % of pairs, as vendors state for WebRTC without relays.
        case webrtc085
        /// 78 % of pairs, as measured for WebRTC conferences.
        case webrtc078
        /// 70 % of pairs, as measured for hole punching in libp2p.
        case libp2p070

        var weights: [Double] {
            switch self {
            case .open: [1, 0, 0, 0, 0, 0]
            case .webrtc085: [0.15, 0.2, 0.12, 0.37, 0.16, 0]
            case .webrtc078: [0.12, 0.16, 0.1, 0.4, 0.22, 0]
            case .libp2p070: [0.08, 0.12, 0.075, 0.475, 0.25, 0]
            }
        }
    }

    static let keys = ["mix", "types", "holePunching", "pairSuccess"]

    init(_ object: ScenarioObject?) throws(ScenarioError) {
        weights = Preset.open.weights
        punchesHoles = true
        pairSuccess = 1
        guard let object else { return }
        let preset: Preset = try object.choice("mix", default: .open)
        weights = preset.weights
        if let types = try object.object("types", keys: NATKind.allCases.map(\.name)) {
            guard !object.has("mix") else {
                throw .contradiction(object.path(of: "mix"), reason: "give \"mix\" or \"types\", not both")
            }
            weights = []
            for type in NATKind.allCases {
                weights.append(try types.quantity(type.name, .number, in: 0...1e9) ?? 0)
            }
            guard weights.contains(where: { $0 > 0 }) else {
                throw .contradiction(object.path(of: "types"), reason: "one weight must be above 0")
            }
        }
        punchesHoles = try object.boolean("holePunching", default: true)
        pairSuccess = try object.quantity("pairSuccess", .share, in: 0...1) ?? 1
    }
}
