internal import CoreModel

/// A sum over a sliding span, kept in slots: what is older than the span by a slot or less may still count.
struct RollingSum: Hashable, Sendable {
    private let slotWidth: Int64
    private var slots: [UInt64]
    private var newestSlot: Int64
    private(set) var total: UInt64 = 0

    /// Sums over `span` in `slotCount` slots.
    init(span: Duration, slotCount: Int, now: MonotonicInstant) {
        slotWidth = max(1, span.nanosecondsClamped / Int64(slotCount))
        slots = Array(repeating: 0, count: slotCount + 1)
        newestSlot = now.nanoseconds / slotWidth
    }

    /// Adds to the slot of `now`.
    mutating func add(_ amount: Int, now: MonotonicInstant) {
        if now.nanoseconds >= (newestSlot + 1) * slotWidth { advance(to: now) }
        slots[index(of: newestSlot)] += UInt64(amount)
        total += UInt64(amount)
    }

    /// Forgets what is too old.
    mutating func advance(to now: MonotonicInstant) {
        let slot = now.nanoseconds / slotWidth
        guard slot > newestSlot else { return }
        // After a long pause each slot is cleared once.
        for old in max(newestSlot + 1, slot - Int64(slots.count) + 1)...slot {
            total -= slots[index(of: old)]
            slots[index(of: old)] = 0
        }
        newestSlot = slot
    }

    /// When the oldest slot is forgotten next.
    var nextSlot: MonotonicInstant { MonotonicInstant(nanoseconds: (newestSlot + 1) * slotWidth) }

    private func index(of slot: Int64) -> Int {
        let count = Int64(slots.count)
        return Int((slot % count + count) % count)
    }
}
