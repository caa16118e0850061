internal import CoreModel

/// Which of the links that have something to send may send it now: the one in most need, the next two while the uplink has
/// room for them too, and one of the others in turn, for a small share.
///
/// What is needed first arrives soonest where an uplink isn't split between all who ask: units sent one after another
/// spread through a swarm faster than many in parallel, and a viewer who has a minute of media ahead can wait for one who
/// has a second. What is said of need comes from the other side, so the turn of the others keeps whoever claims haste from
/// taking everything. O(links) when a link's need changes, O(1) else.
struct UploadSlots: Sendable {
    /// How many may send while the uplink isn't full.
    static let urgentCount = 3
    /// The others may send one chunk for so many that have been sent,
    static let turnChunks = 8
    /// or one in so long.
    static let turnSpan = Duration.milliseconds(500)

    /// Whether the link in most need fills the uplink alone.
    var isUplinkFull = false
    /// Each link's, by slot.
    private var needs: [UploadNeed] = []
    /// Those in most need, in order.
    private var urgent: [Int] = []
    /// The one of the others whose turn it is.
    private var rotating: Int?
    private var lastTurn = 0
    private var chunksSinceTurn = 0
    private var nextTurn: MonotonicInstant = .origin

    /// The link in most need.
    var first: Int? { urgent.first }

    /// Whether the link in the slot may send.
    func isActive(_ slot: Int, now: MonotonicInstant) -> Bool {
        if slot == rotating { return chunksSinceTurn >= Self.turnChunks || nextTurn <= now }
        return urgent.prefix(isUplinkFull ? 1 : Self.urgentCount).contains(slot)
    }

    /// When a link whose turn it is may send without another's having sent anything.
    func turn(of slot: Int) -> MonotonicInstant? { slot == rotating ? nextTurn : nil }

    /// Those that may send, now or soon.
    var candidates: [Int] { urgent + (rotating.map { [$0] } ?? []) }

    /// Takes note of what a link needs most, `.none` when there is nothing to send.
    ///
    /// - Returns: Whether others may send now that might not before.
    mutating func update(_ slot: Int, _ need: UploadNeed, now: MonotonicInstant) -> Bool {
        while needs.count <= slot { needs.append(.none) }
        guard needs[slot] != need else { return false }
        needs[slot] = need
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
        return false
    }

    private mutating func choose(now: MonotonicInstant) -> Bool {
        let (urgentBefore, rotatingBefore) = (urgent, rotating)
        urgent.removeAll(keepingCapacity: true)
        for slot in needs.indices where needs[slot] != .none {
            var place = urgent.count
            while place > 0, needs[slot].isBefore(needs[urgent[place - 1]], now: now) { place -= 1 }
            guard place < Self.urgentCount else { continue }
            if urgent.count == Self.urgentCount { urgent.removeLast() }
            urgent.insert(slot, at: place)
        }
        if let slot = rotating, needs[slot] == .none || urgent.contains(slot) { rotating = nil }
        if rotating == nil { rotate() }
        return rotating != rotatingBefore || urgent != urgentBefore
    }

    /// Gives the turn to the next of those that aren't in most need.
    private mutating func rotate() {
        let count = needs.count
        for offset in 1..<count + 1 {
            let slot = (lastTurn + offset) % count
            guard needs[slot] != .none, !urgent.contains(slot) else { continue }
            rotating = slot
            lastTurn = slot
            return
        }
    }
}
