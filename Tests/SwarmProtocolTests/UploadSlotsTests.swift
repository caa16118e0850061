import CoreModel
import Testing
@testable import SwarmProtocol

/// Who uploads to whom first.
@Suite struct UploadSlotsTests {
    private let now = MonotonicInstant.origin.advanced(by: .seconds(1000))

    /// A viewer at a place of the stream who has so much media ahead.
    private func need(playhead: Duration, ahead: Duration) -> UploadNeed {
        UploadNeed(deadline: now.advanced(by: ahead), start: playhead + ahead)
    }

    @Test func whatIsPlayedSoonGoesBeforeWhatHasTime() {
        let soon = need(playhead: .seconds(100), ahead: .seconds(2))
        let later = need(playhead: .seconds(500), ahead: .seconds(50))
        #expect(soon.isBefore(later, now: now) && !later.isBefore(soon, now: now))
    }

    @Test func ofTwoInNeedWhoIsFurtherOnGoesFirst() {
        let ahead = need(playhead: .seconds(500), ahead: .seconds(5))
        let behind = need(playhead: .seconds(450), ahead: .seconds(1))
        #expect(ahead.isBefore(behind, now: now) && !behind.isBefore(ahead, now: now))
        // However far into the buffer each asks: only where it plays counts.
        #expect(
            need(playhead: .seconds(500), ahead: .seconds(5)).playhead
                == need(playhead: .seconds(500), ahead: .seconds(7)).playhead)
    }

    @Test func withoutAPlaceTheDeadlineCounts() {
        let first = UploadNeed(deadline: now.advanced(by: .seconds(1)), start: nil)
        let second = UploadNeed(deadline: now.advanced(by: .seconds(2)), start: nil)
        #expect(first.isBefore(second, now: now) && !second.isBefore(first, now: now))
        let placed = need(playhead: .zero, ahead: .seconds(9))
        #expect(placed.isBefore(first, now: now))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero])
    func anyPlaceIsTaken(_ start: Duration) {
        let need = UploadNeed(deadline: now, start: start)
        #expect(!need.isBefore(need, now: now))
    }

    /// Slots 0 to `count - 1`, each with a later playhead than the one before it.
    private func slots(_ count: Int) -> UploadSlots {
        var slots = UploadSlots()
        for slot in 0..<count {
            _ = slots.update(slot, need(playhead: .seconds(Int64(slot) * 10), ahead: .seconds(3)), now: now)
        }
        return slots
    }

    @Test func aFullUplinkSendsToTheOneInMostNeed() {
        var slots = slots(6)
        slots.isUplinkFull = true
        _ = slots.didSend(slots.candidates.last!, now: now)
        #expect((0..<6).filter { slots.isActive($0, now: now) } == [5])
        slots.isUplinkFull = false
        #expect((0..<6).filter { slots.isActive($0, now: now) } == [3, 4, 5])
    }

    @Test func theOthersTakeTurnsForAnEighth() {
        var slots = slots(6)
        slots.isUplinkFull = true
        var sent = Array(repeating: 0, count: 6)
        for _ in 0..<900 {
            let active = (0..<6).filter { slots.isActive($0, now: now) }
            // The turn of the others comes before the next chunk to the one in most need.
            let slot = active.first { $0 != 5 } ?? 5
            sent[slot] += 1
            _ = slots.didSend(slot, now: now)
        }
        #expect(sent[5] == 800 || sent[5] == 799, "\(sent)")
        // Those behind the urgent three share the rest, none of them starves.
        #expect(sent[..<3].allSatisfy { (33...34).contains($0) }, "\(sent)")
    }

    @Test func aTurnComesWithTimeToo() {
        var slots = slots(6)
        slots.isUplinkFull = true
        _ = slots.didSend(slots.candidates.last!, now: now)
        let later = now.advanced(by: UploadSlots.turnSpan)
        #expect((0..<6).filter { slots.isActive($0, now: later) }.count == 2)
    }

    @Test func whoHasNothingToSendLeavesItsPlace() {
        var slots = slots(4)
        slots.isUplinkFull = true
        let didChange = slots.update(3, .none, now: now)
        #expect(didChange && slots.isActive(2, now: now) && !slots.isActive(3, now: now))
        for slot in 0..<3 { _ = slots.update(slot, .none, now: now) }
        #expect(slots.candidates.isEmpty && slots.first == nil)
    }
}
