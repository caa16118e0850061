import CoreModel
import NetworkEmulator

/// What a message over the emulated network costs with 10,000 nodes, and an event of its queue with a million pending.
///
/// Both live off the memory: the limits are so many reads at places that only the read before gives away, as far apart as
/// the network's (or the queue's) own state.
enum NetworkBenchmark {
    static func run() -> [Measurement] { [messages(), events()] }

    /// Each node has 12 connections, sends 40 control messages a second, and chunks over half of its uplink.
    private static func messages() -> Measurement {
        let nodeCount = 10_000
        var generator = SeededGenerator(seed: 7)
        var network = EmulatedNetwork()
        let nodes = (0..<nodeCount).map { _ in
            network.addNode(
                NodeConfiguration(
                    uplinkBitsPerSecond: 5e6, downlinkBitsPerSecond: 20e6,
                    accessDelay: .microseconds(Int64.random(in: 7_000...25_000, using: &generator))))
        }
        var flows: [FlowID] = []
        for (index, node) in nodes.enumerated() {
            for _ in 0..<12 {
                let other = (index + Int.random(in: 1..<nodeCount, using: &generator)) % nodeCount
                flows.append(network.connect(node, to: nodes[other]))
            }
        }
        let controlGap: Int64 = 25_000_000
        let dataGap: Int64 = 52_640_000
        var timers = EventQueue<UInt32>()
        for index in 0..<UInt32(2 * nodeCount) {
            let gap = index & 1 == 0 ? controlGap : dataGap
            timers.schedule(
                index, at: MonotonicInstant(nanoseconds: Int64.random(in: 0..<gap, using: &generator)))
        }
        func deliver(_ count: Int) {
            var delivered = 0
            while delivered < count, let next = timers.nextTime() {
                if network.nextDelivery(until: next) != nil {
                    delivered += 1
                    continue
                }
                guard let (time, timer) = timers.popFirst() else { return }
                let flow = flows[Int(timer >> 1) * 12 + Int(generator.next() % 12)]
                if timer & 1 == 0 {
                    network.send(80, payload: 0, priority: .control, on: flow)
                } else {
                    network.send(16_450, payload: 0, priority: .data, on: flow)
                }
                timers.schedule(timer, at: time + .nanoseconds(timer & 1 == 0 ? controlGap : dataGap))
            }
        }
        deliver(500_000)
        let count = 2_000_000
        let seconds = cpuSeconds { deliver(count) }
        return Measurement(
            name: "network-message", value: seconds / Double(count) * 1e9, unit: "ns",
            limit: 5 * readNanoseconds(byteCount: network.byteCount))
    }

    private static func events() -> Measurement {
        var generator = SeededGenerator(seed: 1)
        var queue = EventQueue<UInt32>()
        for event in 0..<UInt32(1_000_000) {
            queue.schedule(event, at: MonotonicInstant(nanoseconds: Int64(generator.next() % 1_000_000_000)))
        }
        func turn(_ count: Int) {
            for _ in 0..<count {
                guard let (time, event) = queue.popFirst() else { return }
                queue.schedule(event, at: time + .nanoseconds(Int64(generator.next() % 1_000_000_000)))
            }
        }
        turn(1_000_000)
        let count = 3_000_000
        let seconds = cpuSeconds { turn(count) }
        return Measurement(
            name: "network-event", value: seconds / Double(count) * 1e9, unit: "ns",
            limit: readNanoseconds(byteCount: queue.byteCount))
    }

    /// The time of a read that has to wait for the one before, within so much memory.
    private static func readNanoseconds(byteCount: Int) -> Double {
        // One element per cache line, in one cycle through all of them (Sattolo's shuffle).
        let stride = 8
        let count = max(byteCount / 64, 2)
        var order = Array(0..<count)
        var generator = SeededGenerator(seed: 3)
        for index in Swift.stride(from: count - 1, to: 0, by: -1) {
            order.swapAt(index, Int.random(in: 0..<index, using: &generator))
        }
        var following = [Int](repeating: 0, count: count * stride)
        for index in 0..<count { following[index * stride] = order[index] * stride }
        let reads = 2_000_000
        var place = 0
        let seconds = cpuSeconds {
            for _ in 0..<reads { place = following[place] }
        }
        precondition(following.indices.contains(place), "the reads went somewhere")
        return seconds / Double(reads) * 1e9
    }
}
