package import CoreModel

/// When viewers come.
package enum ArrivalPlan: Sendable, Equatable {
    /// All from an instant on, evenly spread over a span.
    case together(at: MonotonicInstant, spread: Duration)
    /// Exponential gaps from an instant on, at a rate in viewers a second.
    case poisson(from: MonotonicInstant, perSecond: Double)
    /// Exponential gaps whose rate follows from the number of viewers: so many come, on average, within the span.
    case poissonOver(from: MonotonicInstant, span: Duration)
    case flashCrowd(FlashCrowd)
    /// At these instants, in order, with the session length of each where the file has it. More viewers than instants
    /// draw among them again.
    case listed([Listed])

    package struct Listed: Sendable, Equatable {
        package var instant: MonotonicInstant
        /// How long the viewer stays; `nil` when the scenario's session lengths decide.
        package var session: Duration?
    }
}

/// A crowd: its rate rises in a straight line before an instant and falls exponentially after it, as audiences of a match
/// do at kick-off and at each goal.
package struct FlashCrowd: Sendable, Equatable {
    package struct Wave: Sendable, Equatable {
        /// When the rate is highest.
        package var peak: MonotonicInstant
        /// How long it rises before.
        package var ramp: Duration
        /// The time in which it falls to 1/e after.
        package var decay: Duration
        /// The wave's part of the viewers who come in waves.
        package var weight: Double
    }

    /// The share of viewers who are there from the start: they come evenly within ``presentSpread``.
    package var present: Double
    package var presentSpread: Duration
    /// The share of viewers who come evenly over the whole run, beside the waves.
    package var steady: Double
    /// At least one.
    package var waves: [Wave]
}

extension ArrivalPlan {
    private enum Kind: String, CaseIterable {
        case together, poisson, flashCrowd, times, file

        var keys: [String] {
            switch self {
            case .together: ["at", "spread"]
            case .poisson: ["from", "perSecond", "over"]
            case .flashCrowd: ["present", "presentSpread", "steady", "waves"]
            case .times: ["times"]
            case .file: ["file", "column", "sessionColumn"]
            }
        }
    }

    private static let instants = 0.0...1e7
    private static let spans = 1e-3...1e7

    init(_ parent: ScenarioObject, _ key: String) throws(ScenarioError) {
        let any = Kind.allCases.flatMap(\.keys)
        guard let kind: Kind = try parent.object(key, keys: ["kind"] + any)?.choice("kind"),
            let object = try parent.object(key, keys: ["kind"] + kind.keys)
        else {
            self = .together(at: .origin, spread: .zero)
            return
        }
        switch kind {
        case .together:
            self = .together(
                at: try object.instant("at") ?? .origin,
                spread: .clamping(seconds: try object.quantity("spread", .duration, in: Self.instants) ?? 0))
        case .poisson:
            let start = try object.instant("from") ?? .origin
            let rate = try object.quantity("perSecond", .number, in: 1e-6...1e6)
            let span = try object.quantity("over", .duration, in: Self.spans)
            switch (rate, span) {
            case (let rate?, nil): self = .poisson(from: start, perSecond: rate)
            case (nil, let span?): self = .poissonOver(from: start, span: .clamping(seconds: span))
            case _:
                throw .contradiction(object.path(of: "perSecond"), reason: "give either \"perSecond\" or \"over\"")
            }
        case .flashCrowd: self = .flashCrowd(try FlashCrowd(object))
        case .times:
            guard let items = try object.list("times", count: 1...1_000_000, of: "durations from the start") else {
                throw .missingKey(object.path(of: "times"), allowed: "a list of durations from the start")
            }
            var seconds: [Double] = []
            for item in items {
                seconds.append(try ScenarioObject.quantity(item.value, at: item.path, .duration, in: Self.instants))
            }
            self = .listed(seconds.sorted().map { .init(instant: .origin + .clamping(seconds: $0), session: nil) })
        case .file: self = .listed(try Self.listed(object))
        }
    }

    private static func listed(_ object: ScenarioObject) throws(ScenarioError) -> [Listed] {
        let column = try object.text("column", allowed: "the name of a column")
        guard let seconds = try object.column(column, ofFile: "file", in: instants) else {
            throw .missingKey(object.path(of: "file"), allowed: "the name of a CSV file, relative to the scenario")
        }
        var sessions: [Double?] = Array(repeating: nil, count: seconds.count)
        if let name = try object.text("sessionColumn", allowed: "the name of a column"),
            let lengths = try object.column(name, ofFile: "file", in: instants)
        {
            sessions = lengths
        }
        return zip(seconds, sessions).sorted { ($0.0, $0.1 ?? 0) < ($1.0, $1.1 ?? 0) }.map {
            Listed(instant: .origin + .clamping(seconds: $0), session: $1.map { .clamping(seconds: $0) })
        }
    }
}

extension FlashCrowd {
    fileprivate init(_ object: ScenarioObject) throws(ScenarioError) {
        present = try object.quantity("present", .share, in: 0...1) ?? 0
        presentSpread = .clamping(seconds: try object.quantity("presentSpread", .duration, in: 0...1e7) ?? 10)
        steady = try object.quantity("steady", .share, in: 0...1) ?? 0
        guard present + steady <= 1 else {
            throw .contradiction(
                object.path(of: "present"), reason: "\"present\" and \"steady\" are more than 1 together")
        }
        let what = "objects with at, ramp, decay and weight"
        guard let items = try object.list("waves", count: 1...100, of: what) else {
            throw .missingKey(object.path(of: "waves"), allowed: "a list of \(what)")
        }
        waves = []
        for item in items {
            let wave = try ScenarioObject(
                item.value, at: item.path, keys: ["at", "ramp", "decay", "weight"], files: object.files)
            let peak = try wave.required("at", .duration, in: 0...1e7)
            let ramp = try wave.quantity("ramp", .duration, in: 0...1e7) ?? 0
            guard ramp <= peak else {
                throw .contradiction(wave.path(of: "ramp"), reason: "begins before the start of the run")
            }
            waves.append(
                Wave(
                    peak: .origin + .clamping(seconds: peak), ramp: .clamping(seconds: ramp),
                    decay: .clamping(seconds: try wave.required("decay", .duration, in: 1e-3...1e7)),
                    weight: try wave.quantity("weight", .number, in: 1e-9...1e9) ?? 1))
        }
    }
}

extension ScenarioObject {
    /// An instant, written as the duration since the start of the run.
    func instant(_ key: String) throws(ScenarioError) -> MonotonicInstant? {
        try quantity(key, .duration, in: 0...1e7).map { .origin + .clamping(seconds: $0) }
    }
}
