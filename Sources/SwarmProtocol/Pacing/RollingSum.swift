internal import CoreModel

/// A sum over a sliding span, kept in slots: what is older than the span by a slot or less may still count.
struct RollingSum: Hashable, Sendable {
    private let slotWidth: Int64
    private var slots: [UInt64]
    private var newestSlot: Int32
    /// Where the newest slot is among `slots`.
    private var newestIndex: Int32
    /// What is in the newest slot: it gets to `slots` with the next one, so that adding touches no other memory.
    private var newest: UInt64 = 0
    private(set) var total: UInt64 = 0

    /// Sums over `span` in `slotCount` slots.
    ///
    /// - Precondition: a slot is five seconds long or longer, so that 32 bits number them for ever.
    init(span: Duration, slotCount: Int, now: MonotonicInstant) {
        slotWidth = span.nanosecondsClamped / Int64(slotCount)
        precondition(slotWidth >= 5_000_000_000, "slots of \(slotWidth) ns")
        slots = Array(repeating: 0, count: slotCount + 1)
        newestSlot = Int32(now.nanoseconds / slotWidth)
        newestIndex = 0
        newestIndex = Int32(index(of: Int64(newestSlot)))
    }

    /// Adds to the slot of `now`.
    mutating func add(_ amount: Int, now: MonotonicInstant) {
        advance(to: now)
        newest += UInt64(amount)
        total += UInt64(amount)
    }

    /// Forgets what is too old.
    mutating func advance(to now: MonotonicInstant) {
        // Without a division: this is done for each frame.
        guard now.nanoseconds >= newestEnd else { return }
        slots[Int(newestIndex)] = newest
        newest = 0
        let slot = now.nanoseconds / slotWidth
        // After a long pause each slot is cleared once.
        for old in max(Int64(newestSlot) + 1, slot - Int64(slots.count) + 1)...slot {
            total -= slots[index(of: old)]
            slots[index(of: old)] = 0
        }
        newestSlot = Int32(slot)
        newestIndex = Int32(index(of: slot))
    }

    /// When the oldest slot is forgotten next.
    var nextSlot: MonotonicInstant { MonotonicInstant(nanoseconds: newestEnd) }

    private var newestEnd: Int64 { (Int64(newestSlot) + 1) * slotWidth }

    private func index(of slot: Int64) -> Int {
        let count = Int64(slots.count)
        return Int((slot % count + count) % count)
    }
}
