/// Chooses the rung of each segment of one stream, and whether to give up a fetch for a lower one.
///
/// The driver calls ``choose(_:)`` before it fetches a segment; ``measured(_:)`` when a transfer ends; ``abandon(_:buffer:)``
/// some ten times a second while a segment is on its way; ``fetched(_:buffer:)`` or ``abandoned(_:for:buffer:)`` at its end;
/// ``waited(milliseconds:)`` after it waited for room in the buffer, and ``sought()`` after a seek. Equal calls give equal
/// choices, and a choice allocates nothing.
public struct AdaptiveBitrate: Sendable {
    private enum Rule: Sendable {
        case outlook(OutlookRule)
        case throughput(ThroughputRule)
        case bola(BolaRule)
        case enhancedBola(EnhancedBolaRule)
        case dynamic(DynamicRule)
    }

    /// At first no more than this share of what the network is said to give.
    private static let startShare = 0.7

    /// The rungs to choose among.
    public let ladder: BitrateLadder
    public let configuration: BitrateConfiguration
    /// What is known of the sources.
    public private(set) var estimates = SourceEstimates()
    private var rule: Rule
    private var recentRate = RecentRate()
    private var capacity: Double

    /// - Parameter table: That of ``OutlookTable/init(ladder:capacity:segment:)`` for this ladder and configuration, when viewers
    ///   share it; made here when `nil` and needed.
    public init(ladder: BitrateLadder, configuration: BitrateConfiguration, table: OutlookTable? = nil) {
        self.ladder = ladder
        self.configuration = configuration
        capacity = configuration.capacityMilliseconds
        let holdsBack = configuration.minimisesOscillation
        rule =
            switch configuration.algorithm {
            case .outlook:
                .outlook(
                    OutlookRule(
                        table: table
                            ?? OutlookTable(
                                ladder: ladder, capacity: configuration.capacityMilliseconds,
                                segment: configuration.segmentMilliseconds),
                        peerTolerance: configuration.peerTolerance))
            case .throughput: .throughput(ThroughputRule())
            case .bola: .bola(BolaRule(ladder: ladder, minimisesOscillation: holdsBack, isBasic: false))
            case .bolaBasic: .bola(BolaRule(ladder: ladder, minimisesOscillation: holdsBack, isBasic: true))
            case .bolaE:
                .enhancedBola(EnhancedBolaRule(ladder: ladder, capacity: capacity, minimisesOscillation: holdsBack))
            case .dynamic: .dynamic(DynamicRule(ladder: ladder, minimisesOscillation: holdsBack))
            }
    }

    /// Chooses the rung of the next segment.
    public mutating func choose(_ situation: borrowing BitrateSituation) -> BitrateDecision {
        capacity = situation.capacityMilliseconds
        if case .outlook(var rule) = rule {
            guard let outlook = SourceOutlook(estimates, access: situation.accessKilobitsPerSecond) else {
                return start(situation)
            }
            let decision = rule.choose(situation, outlook: outlook, ladder: ladder)
            self.rule = .outlook(rule)
            return decision
        }
        // The published rules know one network.
        guard let throughput = estimates[.cdn] ?? estimates[.peers] else { return start(situation) }
        switch rule {
        case .outlook: preconditionFailure("has chosen above")
        case .throughput(var rule):
            defer { self.rule = .throughput(rule) }
            return rule.choose(situation, at: throughput, ladder: ladder)
        case .bola(var rule):
            defer { self.rule = .bola(rule) }
            return rule.choose(situation, at: throughput, ladder: ladder)
        case .enhancedBola(var rule):
            defer { self.rule = .enhancedBola(rule) }
            return rule.choose(situation, at: throughput, ladder: ladder)
        case .dynamic(var rule):
            defer { self.rule = .dynamic(rule) }
            return rule.choose(situation, at: throughput, ladder: ladder)
        }
    }

    /// The lower rung that should be fetched in place of the fetch under way; `nil` to let it go on.
    ///
    /// - Parameter buffer: Milliseconds ahead of the playhead now.
    public mutating func abandon(_ progress: SegmentProgress, buffer: Double) -> Int? {
        let latency = (estimates[.cdn] ?? estimates[.peers])?.latencyMilliseconds ?? progress.latencyMilliseconds
        switch rule {
        case .outlook(let rule):
            recentRate.update(progress)
            return rule.abandon(
                progress, recentRate: recentRate.kilobitsPerSecond, buffer: buffer, capacity: capacity,
                logRate: estimates.cdnBelief.logRate ?? estimates.peerBelief.logRate, ladder: ladder)
        case .throughput(let rule): return rule.abandon(progress, latency: latency, ladder: ladder)
        case .bola(var rule):
            defer { self.rule = .bola(rule) }
            return rule.abandon(progress, buffer: buffer, ladder: ladder)
        case .enhancedBola(let rule): return rule.abandon(progress, buffer: buffer, ladder: ladder)
        case .dynamic(let rule): return rule.abandon(progress, latency: latency, ladder: ladder)
        }
    }

    /// Tells how fast a source was: at the end of each transfer, also of one that was given up, and before the end of its
    /// segment is told.
    public mutating func measured(_ sample: TransferSample) {
        var sample = sample
        if !sample.isWhole, sample.source == .cdn, let rate = recentRate.kilobitsPerSecond {
            // Why it was given up says more of the link than how it began.
            sample.bits = rate * sample.milliseconds
        }
        let source = estimates.add(sample, segment: configuration.segmentMilliseconds)
        // Slow peers say nothing of this viewer's link.
        guard case .outlook(var rule) = rule, source == .cdn, sample.milliseconds > 0 else { return }
        rule.measured(rate: sample.bits / sample.milliseconds, ladder: ladder)
        self.rule = .outlook(rule)
    }

    /// Tells of a segment that arrived; `buffer` counts it.
    public mutating func fetched(_ progress: SegmentProgress, buffer: Double) {
        recentRate = RecentRate()
        switch rule {
        case .outlook(var rule):
            rule.fetched(progress)
            self.rule = .outlook(rule)
        case .enhancedBola(var rule):
            rule.fetched(progress, buffer: buffer, ladder: ladder)
            self.rule = .enhancedBola(rule)
        case .throughput, .bola, .dynamic: break
        }
    }

    /// Tells that a fetch was given up because ``abandon(_:buffer:)`` named `rung`.
    public mutating func abandoned(_ progress: SegmentProgress, for rung: Int, buffer: Double) {
        recentRate = RecentRate()
        switch rule {
        case .outlook(var rule):
            rule.abandoned(for: rung)
            self.rule = .outlook(rule)
        case .enhancedBola(var rule):
            rule.abandoned(progress, for: rung, buffer: buffer, ladder: ladder)
            self.rule = .enhancedBola(rule)
        case .throughput, .bola, .dynamic: break
        }
    }

    /// Tells that fetching waited for room in the buffer.
    public mutating func waited(milliseconds: Double) {
        guard case .enhancedBola(var rule) = rule else { return }
        rule.waited(milliseconds: milliseconds)
        self.rule = .enhancedBola(rule)
    }

    /// Tells that playback goes on elsewhere, with another buffer.
    public mutating func sought() {
        recentRate = RecentRate()
        switch rule {
        case .outlook(var rule):
            rule.sought()
            self.rule = .outlook(rule)
        case .enhancedBola(var rule):
            rule.sought()
            self.rule = .enhancedBola(rule)
        case .throughput, .bola, .dynamic: break
        }
    }

    /// The first choice, before anything was measured.
    private func start(_ situation: borrowing BitrateSituation) -> BitrateDecision {
        let rung = Self.startRung(
            of: ladder, expecting: configuration.startKilobitsPerSecond, highest: situation.highestRung)
        return BitrateDecision(rung: rung, reason: .startup)
    }

    /// The rung of the first choice, before anything was measured.
    ///
    /// - Parameters:
    ///   - kilobitsPerSecond: What the network is said to give; `nil` starts at the lowest rung.
    ///   - highest: The highest rung that is allowed.
    public static func startRung(
        of ladder: BitrateLadder, expecting kilobitsPerSecond: Double?, highest: Int
    ) -> Int {
        guard let kilobitsPerSecond, kilobitsPerSecond > 0 else { return 0 }
        return ladder.rung(sustainedAt: kilobitsPerSecond * startShare, latency: 0, segment: 1, limit: highest)
    }
}
