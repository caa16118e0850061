internal import CoreModel

/// Who watches: how many, when, how long, and what they do meanwhile.
package struct PopulationPlan: Sendable, Equatable {
    /// Something that viewers do again and again: exponential gaps with a mean, and an amount for each time.
    package struct Habit: Sendable, Equatable {
        /// The mean time between two, while watching.
        package var every: Duration
        /// Seconds; of a seek, how far forward (negative: back); of a pause, how long.
        package var amount: Distribution
    }

    package var viewerCount: Int
    package var arrivals: ArrivalPlan
    /// Seconds that a viewer stays; `nil` when everybody stays to the end.
    package var session: Distribution?
    /// VOD: seconds from the title's start at which a viewer begins.
    package var start: Distribution
    package var seeks: Habit?
    package var pauses: Habit?
    /// Seconds of start-up after which a viewer gives up; `nil` when nobody does.
    package var patience: Distribution?
    /// The share of viewers who have sharing switched off, and say so: they only download.
    package var leechOnly: Double
    /// The share of viewers on a metered connection, beside those of metered link classes.
    package var mobile: Double
}

extension PopulationPlan {
    static let keys = [
        "viewers", "arrivals", "session", "start", "seeks", "pauses", "patience", "leechOnly", "mobile",
    ]
    /// Viewers of the largest population.
    package static let viewerLimit = 4_000_000

    init(_ object: ScenarioObject, stream: StreamPlan) throws(ScenarioError) {
        arrivals = try ArrivalPlan(object, "arrivals")
        let count = try object.count("viewers", in: 1...Self.viewerLimit)
        switch (count, arrivals) {
        case (let count?, _): viewerCount = count
        case (nil, .listed(let list)): viewerCount = list.count
        case (nil, _):
            throw .missingKey(object.path(of: "viewers"), allowed: "a whole number from 1 to \(Self.viewerLimit)")
        }
        session = try object.distribution("session", .duration, in: 0.1...1e7)
        start = try object.distribution("start", .duration, in: 0...1e7) ?? .fixed(0)
        if object.has("start"), stream.kind == .live {
            throw .contradiction(
                object.path(of: "start"), reason: "means nothing in a live stream, which starts at its edge")
        }
        seeks = try Self.habit(object, "seeks", amount: "distance", in: -1e6...1e6)
        pauses = try Self.habit(object, "pauses", amount: "length", in: 0...1e6)
        patience = try object.distribution("patience", .duration, in: 0.1...1e6)
        leechOnly = try object.quantity("leechOnly", .share, in: 0...1) ?? 0
        mobile = try object.quantity("mobile", .share, in: 0...1) ?? 0
    }

    private static func habit(
        _ parent: ScenarioObject, _ key: String, amount: String, in range: ClosedRange<Double>
    ) throws(ScenarioError) -> Habit? {
        guard let object = try parent.object(key, keys: ["every", amount]) else { return nil }
        let every = try object.required("every", .duration, in: 1...1e7)
        guard let amount = try object.distribution(amount, .duration, in: range) else {
            throw .missingKey(object.path(of: amount), allowed: ScenarioUnit.duration.allowed(range))
        }
        return Habit(every: .clamping(seconds: every), amount: amount)
    }
}
