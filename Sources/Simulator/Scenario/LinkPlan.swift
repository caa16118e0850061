internal import CoreModel

/// What the viewers' lines carry.
package struct LinkPlan: Sendable, Equatable {
    /// A line that several viewers share: its capacities cap their sum.
    package struct SharedAccess: Sendable, Equatable {
        /// Viewers on one line; `nil`: all of the class.
        package var viewersPerLine: Int?
        package var downBitsPerSecond: Int
        package var upBitsPerSecond: Int
    }

    /// A network of its own behind one line to the outside, such as an office or a campus.
    package struct Site: Sendable, Equatable {
        /// Viewers of one site; `nil`: all of the class.
        package var viewersPerSite: Int?
        /// The site's line to the outside.
        package var downBitsPerSecond: Int
        package var upBitsPerSecond: Int
        /// What the network inside carries in all; `nil`: it is switched, and only the viewers' own ports count, which are
        /// the class's `down` and `up`.
        package var lanBitsPerSecond: Int?
        /// Between two viewers of the site.
        package var lanRoundTrip: Duration
    }

    /// Rates over time instead of drawn ones; each viewer enters at another place of the trace.
    package struct Trace: Sendable, Equatable {
        package var down: NetworkTrace
        /// `nil` when the class's `up` says it.
        package var up: NetworkTrace?
    }

    package struct LinkClass: Sendable, Equatable {
        package var name: String
        /// How many of the viewers, beside the other classes' weights.
        package var weight: Double
        /// Bits a second; with a ``trace`` it stands in for it where one is needed.
        package var down: Distribution
        package var up: Distribution
        /// The rank correlation (Spearman's) of a viewer's two rates.
        package var correlation: Double
        /// Seconds from the viewer to the core of the network and back.
        package var roundTrip: Distribution
        /// The share of packets that get lost; a link carries that much less.
        package var loss: Distribution
        /// Whether the connection is metered: viewers only download then, unless the rules for uploads say otherwise.
        package var isMetered: Bool
        package var sharedAccess: SharedAccess?
        package var site: Site?
        package var trace: Trace?
        /// Seconds by which its viewers learn of live segments, in place of the stream's.
        package var discovery: Distribution?
    }

    /// At least one.
    package var classes: [LinkClass]
    /// What two viewers' round trip has beside halves of their own ones to the core.
    package var between: Duration

    /// Whether no class shares a line: such a model is too optimistic for viewers at home (by 3 × in a study of an
    /// operator's real network), and a report should say so.
    package var isWithoutSharedLines: Bool { classes.allSatisfy { $0.sharedAccess == nil && $0.site == nil } }
}

extension LinkPlan {
    static let keys = ["classes", "between"]
    private static let classKeys = [
        "name", "weight", "down", "up", "correlation", "rtt", "loss", "metered", "sharedAccess", "site", "trace",
        "discovery",
    ]
    /// Classes of the longest list; a viewer keeps its class in a byte.
    package static let classLimit = 200

    init(_ object: ScenarioObject) throws(ScenarioError) {
        let what = "objects with the keys \(Self.classKeys.joined(separator: ", "))"
        guard let items = try object.list("classes", count: 1...Self.classLimit, of: what) else {
            throw .missingKey(object.path(of: "classes"), allowed: "a list of \(what)")
        }
        classes = []
        for item in items {
            classes.append(
                try LinkClass(
                    ScenarioObject(item.value, at: item.path, keys: Self.classKeys, files: object.files)))
        }
        guard classes.contains(where: { $0.weight > 0 }) else {
            throw .contradiction(object.path(of: "classes"), reason: "one weight must be above 0")
        }
        between = .clamping(seconds: try object.quantity("between", .duration, in: 0...60) ?? 0.01)
    }
}

extension LinkPlan.LinkClass {
    private static let rates = 0.0...1e12

    fileprivate init(_ object: ScenarioObject) throws(ScenarioError) {
        guard let name = try object.text("name", allowed: "a name") else {
            throw .missingKey(object.path(of: "name"), allowed: "a name")
        }
        self.name = name
        weight = try object.quantity("weight", .number, in: 0...1e9) ?? 1
        trace = try LinkPlan.Trace(object)
        down = try Self.rate(object, "down", trace: trace?.down)
        up = try Self.rate(object, "up", trace: trace?.up)
        correlation = try object.quantity("correlation", .number, in: -1...1) ?? 0
        roundTrip = try object.distribution("rtt", .duration, in: 0...60) ?? .fixed(0.02)
        loss = try object.distribution("loss", .share, in: 0...0.9) ?? .fixed(0)
        isMetered = try object.boolean("metered", default: false)
        discovery = try object.distribution("discovery", .duration, in: 0...60)
        sharedAccess = try LinkPlan.SharedAccess(object)
        site = try LinkPlan.Site(object)
        if site != nil, sharedAccess != nil {
            throw .contradiction(object.path(of: "site"), reason: "a class has shared access lines or sites, not both")
        }
    }

    private static func rate(
        _ object: ScenarioObject, _ key: String, trace: NetworkTrace?
    ) throws(ScenarioError) -> Distribution {
        if let trace {
            guard !object.has(key) else {
                throw .contradiction(object.path(of: key), reason: "the trace says it already")
            }
            return .fixed(trace.meanBitsPerSecond)
        }
        // Nobody watches over a line without a downlink.
        let range = key == "down" ? 1000...1e12 : rates
        guard let rate = try object.distribution(key, .rate, in: range) else {
            throw .missingKey(
                object.path(of: key),
                allowed: "\(ScenarioUnit.rate.allowed(range)), or an object with a \"kind\" of distribution")
        }
        return rate
    }
}

extension LinkPlan.SharedAccess {
    fileprivate init?(_ parent: ScenarioObject) throws(ScenarioError) {
        guard let object = try parent.object("sharedAccess", keys: ["viewers", "down", "up"]) else { return nil }
        viewersPerLine = try object.count("viewers", in: 1...PopulationPlan.viewerLimit)
        downBitsPerSecond = Int(try object.required("down", .rate, in: 1000...1e13))
        upBitsPerSecond = Int(try object.required("up", .rate, in: 1000...1e13))
    }
}

extension LinkPlan.Site {
    fileprivate init?(_ parent: ScenarioObject) throws(ScenarioError) {
        guard let object = try parent.object("site", keys: ["viewers", "down", "up", "lan", "lanRTT"]) else {
            return nil
        }
        viewersPerSite = try object.count("viewers", in: 1...PopulationPlan.viewerLimit)
        downBitsPerSecond = Int(try object.required("down", .rate, in: 1000...1e13))
        upBitsPerSecond = Int(try object.required("up", .rate, in: 1000...1e13))
        lanBitsPerSecond = try object.quantity("lan", .rate, in: 1000...1e13).map { Int($0) }
        lanRoundTrip = .clamping(seconds: try object.quantity("lanRTT", .duration, in: 0...1) ?? 0.001)
    }
}

extension LinkPlan.Trace {
    fileprivate init?(_ parent: ScenarioObject) throws(ScenarioError) {
        guard let object = try parent.object("trace", keys: ["format", "down", "up", "steps"]) else { return nil }
        if object.has("steps") {
            for key in ["format", "down", "up"] where object.has(key) {
                throw .contradiction(object.path(of: key), reason: "the steps are the trace already")
            }
            self = try Self.steps(object)
            return
        }
        let format: TraceFormat = try object.choice("format")
        let files = "the name of a file, relative to the scenario"
        guard let down = try Self.trace(object, "down", format, .down) else {
            throw .missingKey(object.path(of: "down"), allowed: files)
        }
        self.down = down
        up = try Self.trace(object, "up", format, .up)
    }

    private static func trace(
        _ object: ScenarioObject, _ key: String, _ format: TraceFormat, _ direction: LinkDirection
    ) throws(ScenarioError) -> NetworkTrace? {
        guard let (name, bytes) = try object.file(key) else { return nil }
        do { return try NetworkTrace(bytes, format: format, direction: direction) } catch {
            throw .file(object.path(of: key), name: name, reason: "\(error)")
        }
    }

    /// A trace written into the scenario.
    private static func steps(_ object: ScenarioObject) throws(ScenarioError) -> LinkPlan.Trace {
        var down: [NetworkTrace.Step] = []
        var up: [NetworkTrace.Step] = []
        var upCount = 0
        for item in try object.list("steps", count: 1...100_000, of: "objects with length, down and up") ?? [] {
            let step = try ScenarioObject(
                item.value, at: item.path, keys: ["length", "down", "up"], files: object.files)
            let length = Duration.clamping(seconds: try step.required("length", .duration, in: 1e-3...1e7))
            down.append(.init(duration: length, bitsPerSecond: Int(try step.required("down", .rate, in: 0...1e12))))
            let rate = try step.quantity("up", .rate, in: 0...1e12)
            upCount += rate == nil ? 0 : 1
            up.append(.init(duration: length, bitsPerSecond: Int(rate ?? 0)))
        }
        guard let downTrace = NetworkTrace(steps: down) else {
            throw .contradiction(object.path(of: "steps"), reason: "nothing is ever carried down")
        }
        guard upCount > 0 else { return LinkPlan.Trace(down: downTrace, up: nil) }
        guard upCount == up.count else {
            throw .contradiction(object.path(of: "steps"), reason: "give \"up\" in each step or in none")
        }
        guard let upTrace = NetworkTrace(steps: up) else {
            throw .contradiction(object.path(of: "steps"), reason: "nothing is ever carried up; leave \"up\" out")
        }
        return LinkPlan.Trace(down: downTrace, up: upTrace)
    }
}
