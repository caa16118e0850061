internal import CoreModel

/// What is played.
package struct StreamPlan: Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable {
        case live
        case vod
    }

    /// Which rendition a viewer plays.
    package enum Quality: String, CaseIterable, Sendable {
        /// As the production rules choose.
        case adaptive
        /// The first of the ladder, always.
        case lowest
        /// The last of the ladder, always.
        case highest
    }

    package var kind: Kind
    /// Bits a second of each rendition, rising.
    package var ladder: [Int]
    package var quality: Quality
    package var segmentDuration: Duration
    /// `nil` when segments are published whole.
    package var partDuration: Duration?
    /// The standard deviation of a segment's size over its mean; sizes are lognormal.
    package var sizeVariation: Double
    /// VOD: the title's length.
    package var length: Duration
    /// Live: how far behind the end of the newest media a viewer plays.
    package var liveDelay: Duration
    /// Live: how much media the manifest lists.
    package var window: Duration
    /// Live: from a segment's publication until viewers learn of it from a manifest, in seconds.
    package var discovery: Distribution
    /// Live: from a segment's publication until its record reaches a viewer, in seconds.
    package var recordLatency: Distribution

    /// The highest rate of the ladder.
    package var topBitsPerSecond: Int { ladder[ladder.count - 1] }

    /// The renditions that viewers play at all.
    package var playedLadder: [Int] {
        switch quality {
        case .lowest: [ladder[0]]
        case .highest: [topBitsPerSecond]
        case .adaptive: ladder
        }
    }

    /// Live: the room D between a segment's availability to the swarm and its deadline: delay minus segment (or part),
    /// discovery and record, the last two at their medians. What is left decides how much peers can bring.
    package var room: Duration {
        let unit = partDuration ?? segmentDuration
        let late = Duration.clamping(seconds: discovery.quantile(0.5) + recordLatency.quantile(0.5))
        return max(.zero, liveDelay - unit - late)
    }
}

extension StreamPlan {
    static let keys = [
        "type", "ladder", "quality", "segment", "part", "sizeVariation", "length", "liveDelay", "window", "discovery",
        "recordLatency",
    ]

    init(_ object: ScenarioObject) throws(ScenarioError) {
        kind = try object.choice("type")
        ladder = try Self.ladder(object)
        quality = try object.choice("quality", default: .adaptive)
        segmentDuration = .clamping(seconds: try object.required("segment", .duration, in: 0.2...60))
        partDuration = try object.quantity("part", .duration, in: 0.05...60).map { .clamping(seconds: $0) }
        if let partDuration, partDuration > segmentDuration {
            throw .contradiction(object.path(of: "part"), reason: "a part is not longer than its segment")
        }
        sizeVariation = try object.quantity("sizeVariation", .number, in: 0...2) ?? 0
        let spans = 1.0...604_800.0
        let isLive = kind == .live
        for key in isLive ? ["length"] : ["part", "liveDelay", "window", "discovery", "recordLatency"]
        where object.has(key) {
            throw .contradiction(object.path(of: key), reason: "means nothing with \"type\": \"\(kind.rawValue)\"")
        }
        length = isLive ? .zero : .clamping(seconds: try object.required("length", .duration, in: spans))
        liveDelay = isLive ? .clamping(seconds: try object.required("liveDelay", .duration, in: 0.2...600)) : .zero
        discovery = try object.distribution("discovery", .duration, in: 0...60) ?? .fixed(0.25)
        recordLatency = try object.distribution("recordLatency", .duration, in: 0...60) ?? .fixed(0.25)
        window = .clamping(seconds: try object.quantity("window", .duration, in: spans) ?? 60)
        guard isLive else { return }
        guard liveDelay >= partDuration ?? segmentDuration else {
            throw .contradiction(
                object.path(of: "liveDelay"),
                reason: "is below a segment (or part), which is published when it is complete")
        }
        guard window >= liveDelay else {
            throw .contradiction(object.path(of: "window"), reason: "is below the live delay")
        }
    }

    private static func ladder(_ object: ScenarioObject) throws(ScenarioError) -> [Int] {
        let what = "rates that rise, such as [\"800kbps\", \"5Mbps\"]"
        guard let items = try object.list("ladder", count: 1...32, of: what) else {
            throw .missingKey(object.path(of: "ladder"), allowed: "a list of \(what)")
        }
        var ladder: [Int] = []
        for item in items {
            let rate = Int(try ScenarioObject.quantity(item.value, at: item.path, .rate, in: 8_000...1e9).rounded())
            if let last = ladder.last, rate <= last {
                throw .contradiction(item.path, reason: "is not above the rate before it")
            }
            ladder.append(rate)
        }
        return ladder
    }
}
