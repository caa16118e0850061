public import CoreModel
public import Scheduling

/// Which rendition each segment of a track is played at, while a scheduler works on several segments at once.
///
/// The rules of ``AdaptiveBitrate`` know one fetch after another. This says when the next segment is to be chosen, reckons
/// the buffer that its fetch will find once all that is asked for has come, and makes of what transfers bring the samples
/// that the rules judge by: of the CDN, of peers, and of the two together while a segment is given up.
///
/// A scheduler is told of a segment when its rung is chosen, and of no later one before something of it was asked for: so
/// each choice knows the ones before it. Indices are the scheduler's, rungs count from the lowest. Time comes in as `now`,
/// which never goes backwards.
public struct RenditionPlan: Sendable {
    /// What the driver knows at a choice, apart from what was measured.
    public struct Outlook: Sendable {
        /// From the playhead to the segment's start.
        public var distance: Duration
        /// Bits of earlier segments that are not there.
        public var missingBits: Double
        /// The most media that can be ahead: the buffer's size, or in live the distance to the live edge.
        public var capacity: Duration
        /// The segment's duration.
        public var duration: Duration
        /// Segments to come, this one included; `nil` in live.
        public var segmentsLeft: Int?
        /// Bits of the segment at each rung, where they are known; else empty.
        public var segmentBits: [Double]
        /// What peers and the own store have of the segment, at each rung; empty without them.
        public var offers: [SegmentOffer]
        /// The highest rung that is allowed.
        public var highestRung: Int
        /// Rungs that don't have the segment; not all of them.
        public var absentRungs: [Int]

        public init(
            distance: Duration, missingBits: Double, capacity: Duration, duration: Duration, segmentsLeft: Int?,
            segmentBits: [Double] = [], offers: [SegmentOffer] = [], highestRung: Int, absentRungs: [Int] = []
        ) {
            self.distance = distance
            self.missingBits = missingBits
            self.capacity = capacity
            self.duration = duration
            self.segmentsLeft = segmentsLeft
            self.segmentBits = segmentBits
            self.offers = offers
            self.highestRung = highestRung
            self.absentRungs = absentRungs
        }

        /// The decision, or the nearest rung that has the segment: a lower one, or else a higher one.
        func available(_ decision: BitrateDecision, of ladder: BitrateLadder) -> BitrateDecision {
            guard absentRungs.contains(decision.rung) else { return decision }
            let lower = (0..<decision.rung).reversed()
            let nearest = (Array(lower) + Array(decision.rung..<ladder.count)).first { !absentRungs.contains($0) }
            return BitrateDecision(rung: nearest ?? decision.rung, reason: .unavailable)
        }
    }

    private struct Slot: Sendable {
        var rung: UInt8
        /// Something of it is there or was asked for.
        var isBegun = false
        var isComplete = false
    }

    /// A transfer from the CDN.
    private struct Fetch: Sendable {
        let id: TransferID
        let index: Int
        let startedAt: MonotonicInstant
        var respondedAt: MonotonicInstant?
        /// Its first bytes.
        var firstBits = 0.0
        /// What it brought after them…
        var bits = 0.0
        /// …and what everything had brought when these came, from the CDN and peers.
        var allBitsAtResponse = 0.0
    }

    /// What is asked for and has not come may take no longer than this, or choices would rest on what was long ago.
    private static let longestBacklog: Duration = .seconds(8)
    /// Fewer bits say little of a rate: small transfers count together. (shaka-player: 128 KiB before its estimate counts…
    private static let leastSampleBits = Double(128 << 13)
    /// …and 16 KiB for a transfer to count at all.) Before anything else is known, these will do.
    private static let leastFirstBits = Double(16 << 13)
    /// The share of a segment that a transfer brought that nearly all of it came with.
    private static let loneShare = 0.9
    /// A transfer keeps up with playback when the rest of the segment comes within this share of its duration…
    private static let safeShare = 0.5
    /// …and within this share of it for each millisecond that the transfer took so far: what comes at once says little, for a
    /// limited line often begins with a second's worth of bytes.
    private static let safeSharePerMillisecond = 0.0005
    /// Peers that send nothing for this long are not at work.
    private static let longestPeerGap: Duration = .seconds(1)

    /// The rules, and what they have learnt.
    public private(set) var bitrate: AdaptiveBitrate
    private var slots: [Slot] = []
    private var fetches: [Fetch] = []
    /// From the CDN and peers.
    private var allBits = 0.0
    /// Small transfers from the CDN that no sample was made of yet: what they brought, what came in that time, and the time.
    private var small = (own: 0.0, all: 0.0, milliseconds: 0.0)
    /// Of peers since their last sample, and in what time.
    private var peerBits = 0.0
    private var peerTime = Duration.zero
    private var peerActiveAt = MonotonicInstant.origin
    /// A choice may come out otherwise than before.
    private var isStale = false
    private var choiceCount = 0

    /// - Parameter table: That of ``OutlookTable/init(ladder:capacity:segment:)`` for this ladder and configuration, when viewers
    ///   share it.
    public init(ladder: BitrateLadder, configuration: BitrateConfiguration, table: OutlookTable? = nil) {
        precondition(ladder.count <= 256, "a ladder of \(ladder.count) rungs")
        bitrate = AdaptiveBitrate(ladder: ladder, configuration: configuration, table: table)
    }

    /// Segments whose rung is chosen.
    public var count: Int { slots.count }

    /// The rung of a segment.
    public func rung(_ index: Int) -> Int { Int(slots[index].rung) }

    /// Whether something of a segment is there or was asked for.
    public func isBegun(_ index: Int) -> Bool { slots[index].isBegun }

    /// Whether ``completed(_:bits:duration:buffer:now:)`` was told of a segment.
    public func isComplete(_ index: Int) -> Bool { slots[index].isComplete }

    /// The bits a second of a segment's rung.
    public func bitsPerSecond(_ index: Int) -> Int { Int(bitrate.ladder.kilobitsPerSecond[rung(index)] * 1000) }

    // MARK: - Choosing

    /// The segment that is to be chosen for, from `index` on: the first of which nothing is there or was asked for.
    public func frontier(from index: Int) -> Int {
        var index = index
        while index < slots.count, slots[index].isBegun { index += 1 }
        return index
    }

    /// Whether the frontier is to be chosen for now.
    ///
    /// Nothing is chosen before something is measured, but for what is fetched first. Without peers one segment is fetched
    /// after the other; with peers many are, and the choice comes before those under way are there.
    ///
    /// - Parameters:
    ///   - missingBits: Of segments that were begun, what is not there.
    ///   - isShared: Whether peers are there to ask.
    public func isDue(_ frontier: Int, missingBits: @autoclosure () -> Double, isShared: Bool) -> Bool {
        if frontier < slots.count { return isStale }
        let missingBits = missingBits()
        guard missingBits > 0 else { return true }
        guard isShared, let rate else { return false }
        return missingBits / rate < Self.milliseconds(Self.longestBacklog)
    }

    /// Chooses the rung of a segment: of a new one behind the last, or again of one that has not been begun, or whose rung turns
    /// out not to have it.
    ///
    /// - Returns: `nil` when it stays as it was chosen.
    public mutating func choose(_ index: Int, _ outlook: borrowing Outlook) -> BitrateDecision? {
        isStale = false
        let situation = situation(of: index, outlook)
        guard index < slots.count else {
            let decision = outlook.available(bitrate.choose(situation), of: bitrate.ladder)
            extend(to: index, rung: decision.rung)
            return decision
        }
        // A choice that changes nothing leaves no trace in the rules.
        var other = bitrate
        let decision = outlook.available(other.choose(situation), of: bitrate.ladder)
        guard decision.rung != rung(index) else { return nil }
        bitrate = other
        slots[index] = Slot(rung: UInt8(decision.rung))
        return decision
    }

    /// Plays a segment at a rung that the viewer has chosen: a new one behind the last, or one of which what is there is void then.
    ///
    /// - Returns: `nil` when it is played at that already.
    public mutating func set(_ index: Int, to rung: Int) -> BitrateDecision? {
        isStale = false
        if index < slots.count {
            guard rung != self.rung(index) else { return nil }
            slots[index] = Slot(rung: UInt8(rung))
        } else {
            extend(to: index, rung: rung)
        }
        return BitrateDecision(rung: rung, reason: .manual)
    }

    private mutating func extend(to index: Int, rung: Int) {
        while slots.count <= index { slots.append(Slot(rung: UInt8(rung))) }
        choiceCount += 1
    }

    /// What is allowed has changed: what has not been begun is chosen for again.
    public mutating func limitsChanged() { isStale = true }

    private func situation(of index: Int, _ outlook: borrowing Outlook) -> BitrateSituation {
        let wait = rate.map { outlook.missingBits / $0 } ?? 0
        return BitrateSituation(
            bufferMilliseconds: max(0, Self.milliseconds(outlook.distance) - wait),
            capacityMilliseconds: Self.milliseconds(outlook.capacity),
            segmentMilliseconds: max(1, Self.milliseconds(outlook.duration)), segmentIndex: choiceCount,
            segmentsLeft: outlook.segmentsLeft, highestRung: outlook.highestRung, segmentBits: outlook.segmentBits,
            offers: outlook.offers, previousRung: index > 0 && index <= slots.count ? rung(index - 1) : nil)
    }

    /// What the network gives, in bits a millisecond; the CDN's where it is known, since it brings what peers don't.
    private var rate: Double? {
        bitrate.estimates.cdnKilobitsPerSecond ?? bitrate.estimates[.peers]?.kilobitsPerSecond
    }

    /// Playback goes on elsewhere: what has nothing of it there is chosen for again.
    ///
    /// - Parameter hasBytes: Whether something of a segment is there.
    public mutating func sought(hasBytes: (Int) -> Bool) {
        for index in slots.indices where slots[index].isBegun { slots[index].isBegun = hasBytes(index) }
        bitrate.sought()
        isStale = true
    }

    /// What was there of a segment is dropped.
    public mutating func evicted(_ index: Int) {
        slots[index].isBegun = false
        slots[index].isComplete = false
    }

    // MARK: - What happens

    /// The scheduler wants something of a segment, which can't be asked for yet.
    public mutating func begun(_ index: Int) { slots[index].isBegun = true }

    /// The scheduler asks the CDN for something of a segment.
    public mutating func fetchBegan(_ id: TransferID, _ index: Int, now: MonotonicInstant) {
        slots[index].isBegun = true
        fetches.append(Fetch(id: id, index: index, startedAt: now))
    }

    /// Bytes came from the CDN.
    public mutating func fetchReceived(_ id: TransferID, byteCount: Int, now: MonotonicInstant) {
        allBits += Double(byteCount * 8)
        guard let place = fetches.firstIndex(where: { $0.id == id }) else { return }
        guard fetches[place].respondedAt == nil else { return fetches[place].bits += Double(byteCount * 8) }
        // How long the first bytes took to flow is not known.
        fetches[place].respondedAt = now
        fetches[place].firstBits = Double(byteCount * 8)
        fetches[place].allBitsAtResponse = allBits
    }

    /// A transfer from the CDN has ended, by itself or not.
    public mutating func fetchEnded(_ id: TransferID, now: MonotonicInstant) { end(id, isWhole: true, now: now) }

    /// - Parameter segmentBits: The size of the segment that the transfer's last bytes have made complete.
    private mutating func end(
        _ id: TransferID, isWhole: Bool, segmentBits: Double = .infinity, now: MonotonicInstant
    ) {
        guard let place = fetches.firstIndex(where: { $0.id == id }) else { return }
        let fetch = fetches.remove(at: place)
        guard let respondedAt = fetch.respondedAt else { return }
        let span = Self.milliseconds(respondedAt.duration(to: now))
        // A segment that came from the CDN alone says what there is to say of it, however small it is.
        let isSegment = fetch.firstBits + fetch.bits >= segmentBits * Self.loneShare
        guard fetch.bits >= Self.leastFirstBits, span > 0 else {
            if isSegment { measureAtLeast(fetch, respondedAt: respondedAt, now: now) }
            return
        }
        small.own += fetch.bits
        small.all += allBits - fetch.allBitsAtResponse
        small.milliseconds += span
        let believed = bitrate.estimates.cdnKilobitsPerSecond
        guard small.own >= Self.leastSampleBits || believed == nil || !isWhole || isSegment else { return }
        // What came beside it took a part of the line, if the line was what bound: alone it would have had its own rate at
        // least, and the rate of all at most.
        let (own, all) = (small.own / small.milliseconds, small.all / small.milliseconds)
        bitrate.measured(
            TransferSample(
                bits: min(max(believed ?? own, own), all) * small.milliseconds, milliseconds: small.milliseconds,
                latencyMilliseconds: Self.milliseconds(fetch.startedAt.duration(to: respondedAt)), source: .cdn,
                isWhole: isWhole))
        small = (0, 0, 0)
    }

    /// A transfer too small to tell how fast it flowed went at least as fast as if its bytes had taken all the time since the
    /// request; that counts where more was not believed.
    private mutating func measureAtLeast(_ fetch: Fetch, respondedAt: MonotonicInstant, now: MonotonicInstant) {
        let bits = fetch.firstBits + fetch.bits
        let span = Self.milliseconds(fetch.startedAt.duration(to: now))
        guard span > 0, bits / span > bitrate.estimates.cdnKilobitsPerSecond ?? 0 else { return }
        bitrate.measured(
            TransferSample(
                bits: bits, milliseconds: span,
                latencyMilliseconds: Self.milliseconds(fetch.startedAt.duration(to: respondedAt)), source: .cdn))
    }

    /// The scheduler asks a peer for something of a segment.
    public mutating func requested(_ index: Int, now: MonotonicInstant) {
        slots[index].isBegun = true
        if peerActiveAt.duration(to: now) > Self.longestPeerGap { peerActiveAt = now }
    }

    /// A chunk came from a peer.
    public mutating func peerReceived(byteCount: Int, now: MonotonicInstant) {
        allBits += Double(byteCount * 8)
        peerBits += Double(byteCount * 8)
        peerTime += min(peerActiveAt.duration(to: now), Self.longestPeerGap)
        peerActiveAt = now
    }

    /// All of a segment is there.
    ///
    /// - Parameters:
    ///   - bits: The segment's size.
    ///   - buffer: Media from the playhead to the first that is missing.
    public mutating func completed(
        _ index: Int, bits: Double, duration: Duration, buffer: Duration, now: MonotonicInstant
    ) {
        isStale = true
        slots[index].isComplete = true
        // The next choice is to know how they went.
        for fetch in fetches.filter({ $0.index == index }) {
            end(fetch.id, isWhole: true, segmentBits: bits, now: now)
        }
        if peerBits >= Self.leastSampleBits, peerTime > .zero {
            bitrate.measured(
                TransferSample(
                    bits: peerBits, milliseconds: Self.milliseconds(peerTime), latencyMilliseconds: 0, source: .peers))
            (peerBits, peerTime) = (0, .zero)
        }
        bitrate.fetched(
            SegmentProgress(
                rung: rung(index), bits: bits, receivedBits: bits, milliseconds: 0, latencyMilliseconds: 0,
                segmentMilliseconds: Self.milliseconds(duration)),
            buffer: Self.milliseconds(buffer))
    }

    // MARK: - Giving up

    /// The segment that may be given up: the first that the CDN is sending something of.
    public var contested: Int? { fetches.lazy.filter { $0.respondedAt != nil }.map(\.index).min() }

    /// Whether what is missing of a segment comes faster than it plays, at the rate of its transfer from the CDN so far: then
    /// the player can have the first of it before the last is there, after which it can't be given up. True also where the CDN
    /// is sending nothing of it.
    public func keepsUp(_ index: Int, missingBits: Double, duration: Duration, now: MonotonicInstant) -> Bool {
        let own = fetches.filter { $0.index == index }
        guard !own.isEmpty else { return true }
        guard let first = own.compactMap(\.respondedAt).min() else { return false }
        let bits = own.reduce(0) { $0 + $1.bits }
        let span = Self.milliseconds(first.duration(to: now))
        guard bits >= Self.leastFirstBits, span > 0 else { return false }
        let share = min(Self.safeShare, span * Self.safeSharePerMillisecond)
        return missingBits / bits * span <= share * Self.milliseconds(duration)
    }

    /// Gives a segment up for a lower rung, where the fetch under way would take too long. Nothing of it was handed to the
    /// player; all that is missing of earlier ones is there.
    ///
    /// - Parameters:
    ///   - receivedBits: What is there of it.
    ///   - outlook: What a choice for it rests on.
    /// - Returns: The choice in its place: everything that is there of the segment is void.
    public mutating func abandon(
        _ index: Int, bits: Double, receivedBits: Double, _ outlook: borrowing Outlook, now: MonotonicInstant
    ) -> BitrateDecision? {
        guard let fetch = fetches.first(where: { $0.index == index }), let respondedAt = fetch.respondedAt,
            (0..<rung(index)).contains(where: { !outlook.absentRungs.contains($0) })
        else { return nil }
        let progress = SegmentProgress(
            rung: rung(index), bits: bits, receivedBits: receivedBits,
            milliseconds: Self.milliseconds(fetch.startedAt.duration(to: now)),
            latencyMilliseconds: Self.milliseconds(fetch.startedAt.duration(to: respondedAt)),
            segmentMilliseconds: Self.milliseconds(outlook.duration))
        let buffer = Self.milliseconds(outlook.distance)
        guard let lower = bitrate.abandon(progress, buffer: buffer) else { return nil }
        for other in fetches.filter({ $0.index == index }) { end(other.id, isWhole: false, now: now) }
        bitrate.abandoned(progress, for: lower, buffer: buffer)
        var decision = bitrate.choose(situation(of: index, outlook))
        decision.rung = min(decision.rung, lower)
        decision = outlook.available(decision, of: bitrate.ladder)
        decision.reason = .abandoned
        slots[index] = Slot(rung: UInt8(decision.rung))
        return decision
    }

    private static func milliseconds(_ span: Duration) -> Double { span.inSeconds * 1000 }
}
