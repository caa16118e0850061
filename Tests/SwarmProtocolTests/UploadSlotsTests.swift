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

    @Test func theNextOfTheOthersIsToldOfItsTurn() {
        var slots = slots(6)
        let turn = slots.candidates.last!
        let isOthers = slots.didSend(turn, now: now)
        let next = slots.candidates.last!
        #expect(isOthers && next != turn && slots.turn(of: next) == now.advanced(by: UploadSlots.turnSpan))
        // One that follows itself knows.
        var few = self.slots(4)
        let isAnothers = few.didSend(few.candidates.last!, now: now)
        #expect(!isAnothers)
    }

    @Test func aStalledLinkLeavesItsPlaceUntilItsTransportIsReady() {
        var slots = slots(5)
        let isEarly = slots.note(4, isReady: false, now: now)
        #expect(slots.first == 4 && !isEarly)
        let end = slots.stallTime(of: 4)
        #expect(end == now.advanced(by: UploadSlots.stallSpan))
        // Asking for something else makes no difference.
        _ = slots.update(4, .none, now: now)
        _ = slots.update(4, need(playhead: .seconds(90), ahead: .seconds(3)), now: now)
        let didStall = slots.note(4, isReady: false, now: end)
        #expect(didStall && slots.isStalled(4) && !slots.candidates.contains(4) && slots.first == 3)
        let didReturn = slots.note(4, isReady: true, now: end)
        #expect(didReturn && !slots.isStalled(4) && slots.first == 4)
        // A transport that takes something now and then isn't stalled.
        _ = slots.note(4, isReady: false, now: end)
        _ = slots.note(4, isReady: true, now: end.advanced(by: .milliseconds(900)))
        let isOver = slots.note(4, isReady: false, now: end.advanced(by: .milliseconds(1100)))
        #expect(!isOver && slots.first == 4)
    }

    @Test func aStalledLinkDoesNotKeepTheTurn() {
        var slots = slots(6)
        let turn = slots.candidates.last!
        _ = slots.note(turn, isReady: false, now: now)
        let didStall = slots.note(turn, isReady: false, now: now.advanced(by: UploadSlots.stallSpan))
        #expect(didStall && slots.candidates.count == 4 && slots.candidates.last != turn)
        let isOthers = slots.remove(turn, now: now)
        #expect(!slots.isStalled(turn) && !isOthers)
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
