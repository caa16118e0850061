import CoreModel
import NetworkEmulator

/// Sends without end over some flows, and counts what arrives.
struct LongLivedFlows {
    var network: EmulatedNetwork
    let flows: [FlowID]
    /// Bytes that arrived, by place in `flows`.
    private(set) var received: [Int]
    private let messageByteCount: Int

    init(_ network: EmulatedNetwork, _ flows: [FlowID], messageByteCount: Int = 1 << 20) {
        self.network = network
        self.flows = flows
        self.messageByteCount = messageByteCount
        received = Array(repeating: 0, count: flows.count)
        for index in flows.indices {
            // Two, so that one always waits.
            send(index)
            send(index)
        }
    }

    private mutating func send(_ index: Int) {
        network.send(
            messageByteCount, payload: UInt64(index), priority: .data, isReportingProgress: true, on: flows[index])
    }

    /// Runs to an instant; each arrival of a message sends another.
    mutating func run(until limit: MonotonicInstant) {
        while let delivery = network.nextDelivery(until: limit) {
            received[Int(delivery.payload)] += Int(delivery.byteCount)
            if delivery.outcome == .complete { send(Int(delivery.payload)) }
        }
    }

    /// Bits per second of each flow between two instants.
    mutating func rates(from start: Double, to end: Double) -> [Double] {
        run(until: .origin + .seconds(start))
        let before = received
        run(until: .origin + .seconds(end))
        return zip(before, received).map { Double($1 - $0) * 8 / (end - start) }
    }
}

extension Duration {
    static func seconds(_ seconds: Double) -> Duration { .nanoseconds(Int64((seconds * 1e9).rounded())) }
}

extension MonotonicInstant {
    var seconds: Double { Double(nanoseconds) / 1e9 }
}

extension NodeConfiguration {
    /// A node with a link of so many megabits per second up and down.
    static func link(up: Double, down: Double, delay: Duration = .zero, behind shared: SharedLinkID? = nil) -> Self {
        NodeConfiguration(
            uplinkBitsPerSecond: up * 1e6, downlinkBitsPerSecond: down * 1e6, accessDelay: delay, sharedLink: shared)
    }
}

extension EmulatedNetwork {
    /// All deliveries up to an instant.
    mutating func deliveries(until limit: MonotonicInstant = .distantFuture) -> [Delivery] {
        var result: [Delivery] = []
        advance(to: limit, into: &result)
        return result
    }
}
