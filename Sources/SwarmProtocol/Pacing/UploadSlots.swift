internal import CoreModel

/// Which of the links that have something to send may send it now: the one in most need, the next two while the uplink has
/// room for them too, and one of the others in turn, for a small share.
///
/// What is needed first arrives soonest where an uplink isn't split between all who ask: units sent one after another
/// spread through a swarm faster than many in parallel, and a viewer who has a minute of media ahead can wait for one who
/// has a second. What is said of need comes from the other side, so the turn of the others keeps whoever claims haste from
/// taking everything. One whose transport takes nothing for a while, since the other side doesn't read, leaves its place to
/// others until it does. O(links) when a link's need changes, O(1) else.
struct UploadSlots: Sendable {
    /// How many may send while the uplink isn't full.
    static let urgentCount = 3
    /// The others may send one chunk for so many that have been sent,
    static let turnChunks = 8
    /// or one in so long.
    static let turnSpan = Duration.milliseconds(500)
    /// How long a transport may take nothing before its link is stalled: much longer than a chunk needs on a slow line.
    static let stallSpan = Duration.seconds(1)
    /// The same in nanoseconds, since each message asks for it.
    private static let stallNanoseconds = stallSpan.nanosecondsClamped

    private struct Entry {
        var need = UploadNeed.none
        /// Since when the transport has taken nothing of what could be sent.
        var blockedSince = MonotonicInstant.distantFuture
        var isStalled = false

        /// Whether it may have a place.
        var isWaiting: Bool { need != .none && !isStalled }
    }

    /// Whether the link in most need fills the uplink alone.
    var isUplinkFull = false
    /// Each link's, by slot.
    private var entries: [Entry] = []
    /// Those in most need, in order; -1 where there are fewer. In the value itself: each message asks it.
    private var urgent: InlineArray<3, Int> = .init(repeating: -1)
    /// The one of the others whose turn it is.
    private var rotating: Int?
    private var lastTurn = 0
    private var chunksSinceTurn = 0
    private var nextTurn: MonotonicInstant = .origin

    /// The link in most need.
    var first: Int? { urgent[0] < 0 ? nil : urgent[0] }

    /// Whether the link in the slot may send.
    func isActive(_ slot: Int, now: MonotonicInstant) -> Bool {
        if slot == rotating { return chunksSinceTurn >= Self.turnChunks || nextTurn <= now }
        return isUrgent(slot, count: isUplinkFull ? 1 : Self.urgentCount)
    }

    /// Whether the link is among so many in most need.
    private func isUrgent(_ slot: Int, count: Int = urgentCount) -> Bool {
        for place in 0..<count where urgent[place] == slot { return true }
        return false
    }

    /// When a link whose turn it is may send without another's having sent anything.
    func turn(of slot: Int) -> MonotonicInstant? { slot == rotating ? nextTurn : nil }

    /// Those that may send, now or soon.
    var candidates: [Int] {
        var candidates: [Int] = []
        for place in urgent.indices where urgent[place] >= 0 { candidates.append(urgent[place]) }
        if let rotating { candidates.append(rotating) }
        return candidates
    }

    /// Takes note of what a link needs most, `.none` when there is nothing to send.
    ///
    /// - Returns: Whether others may send now that might not before.
    mutating func update(_ slot: Int, _ need: UploadNeed, now: MonotonicInstant) -> Bool {
        while entries.count <= slot { entries.append(Entry()) }
        guard entries[slot].need != need else { return false }
        entries[slot].need = need
        return choose(now: now)
    }

    /// Takes note of whether a link's transport takes what it could be given now.
    ///
    /// - Returns: Whether others may send now that might not before.
    mutating func note(_ slot: Int, isReady: Bool, now: MonotonicInstant) -> Bool {
        entries[slot].blockedSince = isReady ? .distantFuture : min(entries[slot].blockedSince, now)
        let isStalled = stallTime(of: slot) <= now
        guard entries[slot].isStalled != isStalled else { return false }
        entries[slot].isStalled = isStalled
        return choose(now: now)
    }

    /// Whether a link is known to have nothing to send, and its transport was not in the way of anything.
    func isIdle(_ slot: Int) -> Bool {
        slot >= entries.count || entries[slot].need == .none && !entries[slot].isStalled
    }

    /// Whether a link has no place since its transport takes nothing.
    func isStalled(_ slot: Int) -> Bool { slot < entries.count && entries[slot].isStalled }

    /// When a link whose transport takes nothing until then is stalled.
    func stallTime(of slot: Int) -> MonotonicInstant {
        entries[slot].blockedSince.advanced(byNanoseconds: Self.stallNanoseconds)
    }

    /// Forgets a link that is over.
    ///
    /// - Returns: Whether others may send now that might not before.
    mutating func remove(_ slot: Int, now: MonotonicInstant) -> Bool {
        guard slot < entries.count else { return false }
        entries[slot] = Entry()
        return choose(now: now)
    }

    /// Takes note that a link has handed a chunk to its transport.
    ///
    /// - Returns: Whether that makes it the turn of another.
    mutating func didSend(_ slot: Int, now: MonotonicInstant) -> Bool {
        chunksSinceTurn += 1
        guard slot == rotating else { return rotating != nil && chunksSinceTurn == Self.turnChunks }
        chunksSinceTurn = 0
        nextTurn = now.advanced(by: Self.turnSpan)
        rotating = nil
        rotate()
        // Whose turn it is next has to know when.
        return rotating != nil && rotating != slot
    }

    private mutating func choose(now: MonotonicInstant) -> Bool {
        let rotatingBefore = rotating
        let urgentBefore = urgent
        urgent = .init(repeating: -1)
        var count = 0
        for slot in entries.indices where entries[slot].isWaiting {
            var place = count
            while place > 0, entries[slot].need.isBefore(entries[urgent[place - 1]].need, now: now) { place -= 1 }
            guard place < Self.urgentCount else { continue }
            count = min(count + 1, Self.urgentCount)
            for later in stride(from: count - 1, to: place, by: -1) { urgent[later] = urgent[later - 1] }
            urgent[place] = slot
        }
        if let slot = rotating, !entries[slot].isWaiting || isUrgent(slot) { rotating = nil }
        if rotating == nil { rotate() }
        if rotating != rotatingBefore { return true }
        for place in urgent.indices where urgent[place] != urgentBefore[place] { return true }
        return false
    }

    /// Gives the turn to the next of those that aren't in most need.
    private mutating func rotate() {
        let count = entries.count
        for offset in 1..<count + 1 {
            let slot = (lastTurn + offset) % count
            guard entries[slot].isWaiting, !isUrgent(slot) else { continue }
            rotating = slot
            lastTurn = slot
            return
        }
    }
}
