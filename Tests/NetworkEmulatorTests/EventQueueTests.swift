import CoreModel
import NetworkEmulator
import Testing

struct EventQueueTests {
    private func instant(_ nanoseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: nanoseconds) }

    @Test func equalTimesComeInTheOrderOfInsertion() {
        var queue = EventQueue<Int>()
        for event in 0..<1000 { queue.schedule(event, at: instant(event % 2 == 0 ? 5 : 1 << 40)) }
        var order: [Int] = []
        while let (_, event) = queue.popFirst() { order.append(event) }
        #expect(order == Array(stride(from: 0, to: 1000, by: 2)) + Array(stride(from: 1, to: 1000, by: 2)))
    }

    /// The same events, sorted by time and then by number, are the reference.
    @Test(arguments: [3, 1_000, 1_000_000_000, Int64.max / 2])
    func agreesWithSortingWhileEventsComeAndGo(span: Int64) {
        var generator = SeededGenerator(seed: UInt64(span))
        var queue = EventQueue<UInt32>()
        var pending: [(time: Int64, number: UInt32, token: EventQueue<UInt32>.Token?)] = []
        var number: UInt32 = 0
        for _ in 0..<6_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                // Some at the very instant, some near, some as far as the span allows.
                let reach = [0, span >> 20, span][Int.random(in: 0..<3, using: &generator)]
                let (sum, overflow) = queue.now.nanoseconds.addingReportingOverflow(
                    Int64.random(in: 0...reach, using: &generator))
                let time = overflow ? Int64.max : sum
                if Bool.random(using: &generator) {
                    let token = queue.scheduleCancellable(number, at: instant(time))
                    pending.append((time, number, token))
                } else {
                    queue.schedule(number, at: instant(time))
                    pending.append((time, number, nil))
                }
                number += 1
            case 5..<7:
                guard let index = pending.indices.randomElement(using: &generator), let token = pending[index].token
                else { continue }
                pending.remove(at: index)
                let outcomes = [queue.cancel(token), queue.cancel(token)]
                #expect(outcomes == [true, false])
            case 7:
                let next = queue.nextTime()?.nanoseconds
                #expect(next == pending.map(\.time).min())
            default:
                let first = pending.indices.min {
                    (pending[$0].time, pending[$0].number) < (pending[$1].time, pending[$1].number)
                }
                let popped = queue.popFirst()
                #expect(popped?.event == first.map { pending[$0].number })
                #expect(popped?.time.nanoseconds == first.map { pending[$0].time })
                if let first { pending.remove(at: first) }
            }
            #expect(queue.count == pending.count)
        }
    }

    @Test func looksAheadWithoutMovingTime() {
        var queue = EventQueue<Int>()
        queue.schedule(1, at: instant(1_000_000))
        var next = queue.nextTime()
        #expect(next == instant(1_000_000))
        var popped = queue.popFirst(notAfter: instant(999_999))?.event
        #expect(popped == nil)
        queue.schedule(2, at: instant(10))
        next = queue.nextTime()
        #expect(next == instant(10))
        popped = queue.popFirst()?.event
        #expect(popped == 2)
        #expect(queue.now == instant(10))
        queue.advance(to: instant(500))
        queue.schedule(3, at: instant(500))
        let rest = [queue.popFirst()?.event, queue.popFirst()?.event, queue.popFirst()?.event]
        #expect(rest == [3, 1, nil])
        next = queue.nextTime()
        #expect(queue.isEmpty && next == nil)
    }

    @Test func tokensOfPastEventsCancelNothing() {
        var queue = EventQueue<Int>()
        let token = queue.scheduleCancellable(1, at: instant(1))
        _ = queue.popFirst()
        _ = queue.scheduleCancellable(2, at: instant(2))
        let outcome = queue.cancel(token)
        #expect(!outcome)
        #expect(queue.count == 1)
    }

    @Test func cancelledEventsGiveTheirMemoryBack() {
        var queue = EventQueue<UInt32>()
        for round in 0..<200_000 {
            let token = queue.scheduleCancellable(1, at: instant(1 << 40 + Int64(round)))
            queue.cancel(token)
        }
        #expect(queue.isEmpty)
        #expect(queue.byteCount < 1 << 20)
    }

    @Test func aMillionEventsTakeAtMostThirtyTwoBytesEach() {
        var generator = SeededGenerator(seed: 1)
        var queue = EventQueue<UInt32>()
        for event in 0..<UInt32(1_000_000) {
            queue.schedule(event, at: instant(Int64.random(in: 0..<1_000_000_000, using: &generator)))
        }
        #expect(queue.byteCount <= 32_000_000)
        var last = MonotonicInstant.origin
        var count = 0
        while let (time, _) = queue.popFirst() {
            #expect(time >= last)
            last = time
            count += 1
        }
        #expect(count == 1_000_000)
    }

    @Test func schedulingInThePastTraps() async {
        await #expect(processExitsWith: .failure) {
            var queue = EventQueue<Int>(now: MonotonicInstant(nanoseconds: 10))
            queue.schedule(1, at: MonotonicInstant(nanoseconds: 9))
        }
    }
}
