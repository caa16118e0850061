internal import CoreModel
internal import SwarmProtocol

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A population while it is drawn, one aspect after the other.
struct PopulationDraw {
    /// Events of one viewer at most; who would do more does nothing after.
    static let eventLimit = 1000
    /// Events of all viewers at most.
    static let totalEventLimit = 50_000_000

    /// What has a random sequence of its own. The raw values are part of the results: they never change.
    private enum Aspect: UInt64 {
        case arrivals = 1, sessions, starts, classes, rates, roundTrips, losses, traces, nat, conduct, leeches, mobile
        case seeks, pauses, patience, lines
    }

    let scenario: Scenario
    let seed: UInt64
    var viewers: [ViewerProfile] = []
    var events: [ViewerEvent] = []
    var sharedLines: [SharedLine] = []

    /// Draws who comes when, and stays how long.
    init(_ scenario: Scenario, seed: UInt64, count: Int) {
        self.scenario = scenario
        self.seed = seed
        let plan = scenario.population
        let sampler = ArrivalSampler(plan: plan.arrivals, duration: scenario.duration.inSeconds)
        var arrivals = sequence(.arrivals)
        var sessions = sequence(.sessions)
        var starts = sequence(.starts)
        var patience = sequence(.patience)
        for (seconds, listed) in sampler.draw(count, using: &arrivals) {
            let arrival = MonotonicInstant.origin + .clamping(seconds: seconds)
            let drawn = plan.session.map { Duration.clamping(seconds: $0.draw(using: &sessions)) }
            let start = plan.start.draw(using: &starts)
            let gives = plan.patience?.draw(using: &patience)
            guard arrival < scenario.end else { continue }
            let departure = (listed ?? drawn).map { min(scenario.end, arrival + $0) } ?? scenario.end
            viewers.append(
                ViewerProfile(
                    arrival: arrival, departure: departure,
                    startNanoseconds: Self.nanoseconds(min(start, scenario.stream.length.inSeconds)),
                    downBitsPerSecond: 0, upBitsPerSecond: 0, roundTripSeconds: 0, loss: 0,
                    patienceSeconds: gives.map { Float($0) } ?? .infinity, traceOffsetSeconds: 0, sharedLine: -1,
                    firstEvent: 0, eventCount: 0, linkClass: 0, nat: .open, conduct: .honest, sharing: .uploads))
        }
    }

    private func sequence(_ aspect: Aspect) -> SeededGenerator {
        // The generator's sequences for near seeds overlap; its outputs for them don't.
        var mixer = SeededGenerator(seed: seed ^ aspect.rawValue &* 0xD6E8_FEB8_6659_FD93)
        return SeededGenerator(seed: mixer.next() ^ mixer.next() << 1)
    }

    private static func nanoseconds(_ seconds: Double) -> Int64 {
        Duration.clamping(seconds: seconds).nanosecondsClamped
    }

    // MARK: Lines

    /// Draws link classes, rates, round trips, losses, places in traces, and who shares a line with whom.
    mutating func drawLines() {
        let classes = scenario.links.classes
        var classSequence = sequence(.classes)
        let assigned = Quota.assign(classes.map(\.weight), total: viewers.count, using: &classSequence)
        var rates = sequence(.rates)
        var roundTrips = sequence(.roundTrips)
        var losses = sequence(.losses)
        var traces = sequence(.traces)
        for index in viewers.indices {
            let link = classes[Int(assigned[index])]
            let (down, up) = Self.rates(of: link, using: &rates)
            viewers[index].linkClass = assigned[index]
            viewers[index].downBitsPerSecond = Int(down.rounded())
            viewers[index].upBitsPerSecond = Int(up.rounded())
            viewers[index].roundTripSeconds = Float(link.roundTrip.draw(using: &roundTrips))
            viewers[index].loss = Float(link.loss.draw(using: &losses))
            let place = traces.unitInterval()
            viewers[index].traceOffsetSeconds = Float(place * (link.trace?.down.duration.inSeconds ?? 0))
        }
        for (index, link) in classes.enumerated() { share(link, index: UInt8(index)) }
    }

    /// Two rates whose uniform numbers have the class's rank correlation (a Gaussian copula).
    private static func rates(
        of link: LinkPlan.LinkClass, using generator: inout SeededGenerator
    ) -> (down: Double, up: Double) {
        let u = generator.unitInterval()
        var v = generator.unitInterval()
        if link.correlation != 0 {
            // Spearman's ρ of a bivariate normal with correlation r is 6/π · asin(r/2).
            let r = 2 * sin(Double.pi * link.correlation / 6)
            let z = r * Normal.quantile(u) + (1 - r * r).squareRoot() * Normal.quantile(v)
            v = min(max(Normal.probability(below: z), 0x1p-53), 1 - 0x1p-53)
        }
        return (link.down.quantile(u), link.up.quantile(v))
    }

    /// Puts the viewers of a class on shared lines, in random order, so that neighbours don't come one after the other.
    private mutating func share(_ link: LinkPlan.LinkClass, index: UInt8) {
        guard link.sharedAccess != nil || link.site != nil else { return }
        var members = viewers.indices.filter { viewers[$0].linkClass == index }
        guard !members.isEmpty else { return }
        var order = sequence(.lines)
        for place in stride(from: members.count - 1, to: 0, by: -1) {
            members.swapAt(place, order.index(below: place + 1))
        }
        let size = link.sharedAccess.map(\.viewersPerLine) ?? link.site?.viewersPerSite
        let perLine = size ?? members.count
        for start in stride(from: 0, to: members.count, by: perLine) {
            let group = members[start..<min(members.count, start + perLine)]
            for member in group { viewers[member].sharedLine = Int32(sharedLines.count) }
            sharedLines.append(
                SharedLine(
                    downBitsPerSecond: link.sharedAccess?.downBitsPerSecond ?? link.site?.downBitsPerSecond ?? 0,
                    upBitsPerSecond: link.sharedAccess?.upBitsPerSecond ?? link.site?.upBitsPerSecond ?? 0,
                    site: link.site, viewerCount: Int32(group.count)))
        }
    }

    // MARK: Conduct

    /// Draws address translation, conduct, and who doesn't upload.
    mutating func drawConduct() {
        let count = viewers.count
        func kinds(_ weights: [Double], _ aspect: Aspect) -> [UInt8] {
            var generator = sequence(aspect)
            return Quota.assign(weights, total: count, using: &generator)
        }
        let plan = scenario.population
        let nat = kinds(scenario.nat.weights, .nat)
        let conduct = kinds(scenario.conduct.shares, .conduct)
        let leeches = kinds([1 - plan.leechOnly, plan.leechOnly], .leeches)
        let mobile = kinds([1 - plan.mobile, plan.mobile], .mobile)
        for index in viewers.indices {
            viewers[index].nat = NATKind.allCases[Int(nat[index])]
            viewers[index].conduct = Conduct.allCases[Int(conduct[index])]
            let isMetered = mobile[index] == 1 || scenario.links.classes[Int(viewers[index].linkClass)].isMetered
            if leeches[index] == 1 {
                viewers[index].sharing = .leechOnly
            } else if isMetered, !scenario.uploads.uploadsOnMetered {
                viewers[index].sharing = .metered
            }
        }
    }

    // MARK: Uplinks

    /// What a viewer may upload when its line is `factor` times as fast, in bits a second, apart from the cap by download.
    func lineUplink(_ viewer: ViewerProfile, factor: Double) -> Double {
        guard viewer.givesUploads, viewer.nat != .blocked || viewer.sharedLine >= 0 else { return 0 }
        let rules = scenario.uploads
        var usable = Double(viewer.upBitsPerSecond) * factor * rules.usableShare
        if let cap = rules.caps.bytesPerSecond { usable = min(usable, cap * 8) }
        if let day = rules.caps.bytesPerDay {
            usable = min(usable, Double(day) * 8 / max(1e-9, viewer.session.inSeconds))
        }
        return usable
    }

    /// The same under the cap by download too, for who downloads at the ladder's highest rate.
    func usableUplink(_ viewer: ViewerProfile, factor: Double) -> Double {
        let line = lineUplink(viewer, factor: factor)
        guard let share = scenario.uploads.caps.shareOfDownload else { return line }
        return min(line, share * Double(scenario.stream.topBitsPerSecond))
    }

    /// The factor on all uplinks that gives the mean usable uplink which the scenario asks for; 1 when it asks for none.
    func uplinkFactor() throws(PopulationError) -> Double {
        guard let wanted = scenario.uploads.meanUsable else { return 1 }
        let top = Double(scenario.stream.topBitsPerSecond)
        func mean(_ factor: Double) -> Double {
            viewers.reduce(0) { $0 + usableUplink($1, factor: factor) } / Double(viewers.count) / top
        }
        // The mean rises with the factor until every line is capped; halving the interval of its logarithm finds the place.
        var low = -40.0
        var high = 40.0
        let greatest = mean(exp(high))
        guard greatest >= wanted * (1 - 1e-9) else {
            throw .unreachableMeanUsable(wanted: wanted, greatest: (greatest * 1000).rounded() / 1000)
        }
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if mean(exp(middle)) < wanted * (1 - 1e-9) { low = middle } else { high = middle }
        }
        return exp(high)
    }

    // MARK: Events

    /// Draws seeks and pauses.
    mutating func drawEvents() throws(PopulationError) {
        let plan = scenario.population
        guard plan.seeks != nil || plan.pauses != nil else { return }
        var seeks = sequence(.seeks)
        var pauses = sequence(.pauses)
        for index in viewers.indices {
            var own: [ViewerEvent] = []
            let session = viewers[index].session.inSeconds
            if let habit = plan.seeks { Self.draw(habit, .seek, during: session, into: &own, using: &seeks) }
            if let habit = plan.pauses { Self.draw(habit, .pause, during: session, into: &own, using: &pauses) }
            own.sort { ($0.offsetNanoseconds, $0.kind.rawValue) < ($1.offsetNanoseconds, $1.kind.rawValue) }
            guard events.count + own.count <= Self.totalEventLimit else {
                throw .tooManyEvents(limit: Self.totalEventLimit)
            }
            viewers[index].firstEvent = Int32(events.count)
            viewers[index].eventCount = Int32(min(own.count, Self.eventLimit))
            events.append(contentsOf: own.prefix(Self.eventLimit))
        }
    }

    private static func draw(
        _ habit: PopulationPlan.Habit, _ kind: ViewerEvent.Kind, during session: Double,
        into events: inout [ViewerEvent],
        using generator: inout SeededGenerator
    ) {
        var offset = 0.0
        for _ in 0..<eventLimit {
            offset -= habit.every.inSeconds * log1p(-generator.unitInterval())
            guard offset < session else { return }
            let amount = habit.amount.draw(using: &generator)
            events.append(
                ViewerEvent(
                    kind: kind, offsetNanoseconds: nanoseconds(offset), amountNanoseconds: nanoseconds(amount)))
        }
    }
}
