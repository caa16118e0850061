import CoreModel
import NetworkEmulator
import Testing

struct TopologyTests {
    private let chunk = 16 << 10

    @Test func peersOfASiteStayOnItsNetwork() throws {
        var network = EmulatedNetwork()
        let site = network.addSharedLink(
            SharedLinkConfiguration(
                kind: .site(bitsPerSecond: 1e9, delay: .milliseconds(1)), uplinkBitsPerSecond: 1e6,
                downlinkBitsPerSecond: 1e6))
        let first = network.addNode(.link(up: 100, down: 100, delay: .milliseconds(20), behind: site))
        let second = network.addNode(.link(up: 100, down: 100, delay: .milliseconds(20), behind: site))
        let outside = network.addNode(.link(up: 100, down: 100, delay: .milliseconds(20)))
        let inside = network.connect(first, to: second)
        let out = network.connect(first, to: outside)
        network.send(chunk, payload: 1, priority: .data, on: inside)
        network.send(chunk, payload: 2, priority: .data, on: out)
        let deliveries = network.deliveries()
        #expect(deliveries.map(\.payload) == [1, 2])
        // 100 Mbps and 1 ms inside; outside the site's 1 Mbps and 40 ms.
        #expect(abs(deliveries[0].time.seconds - (16384 * 8 / 100e6 + 0.001)) < 1e-6)
        #expect(abs(deliveries[1].time.seconds - (16384 * 8 / 1e6 + 16384 * 8 / 100e6 + 0.040)) < 1e-6)
        let counts = network.byteCounts(of: site)
        #expect(counts.up == UInt64(chunk) && counts.down == 0 && counts.inside == UInt64(chunk))
    }

    @Test func neighboursBehindAnAccessLinkGoUpAndDownThroughIt() {
        var network = EmulatedNetwork()
        let access = network.addSharedLink(
            SharedLinkConfiguration(kind: .access, uplinkBitsPerSecond: 10e6, downlinkBitsPerSecond: 40e6))
        let nodes = (0..<4).map { _ in
            network.addNode(.link(up: 20, down: 100, delay: .milliseconds(10), behind: access))
        }
        let flows = [network.connect(nodes[0], to: nodes[1]), network.connect(nodes[2], to: nodes[3])]
        #expect(network.maxMinRates(of: flows) == [5e6, 5e6])
        var long = LongLivedFlows(network, flows)
        for rate in long.rates(from: 5, to: 25) { #expect(abs(rate / 5e6 - 1) < 0.02) }
    }

    @Test func delaysAreThoseOfTheNodesAndOfTheirRegions() {
        var configuration = NetworkConfiguration()
        configuration.regionDelays = [[.milliseconds(5), .milliseconds(70)], [.milliseconds(80), .milliseconds(10)]]
        var network = EmulatedNetwork(configuration: configuration)
        var node = NodeConfiguration.link(up: 1, down: 1, delay: .milliseconds(8))
        let first = network.addNode(node)
        node.region = 1
        node.accessDelay = .milliseconds(3)
        let second = network.addNode(node)
        #expect(network.delay(from: first, to: second) == .milliseconds(81))
        #expect(network.delay(from: second, to: first) == .milliseconds(91))
    }

    @Test func connectionsSucceedAsOftenAsTheTableSays() throws {
        var configuration = NetworkConfiguration()
        configuration.reachability = try #require(
            ReachabilityTable(probabilities: [[1, 0.8, 0.5], [0.8, 0.3, 0], [0.5, 0, 0]]))
        var network = EmulatedNetwork(configuration: configuration)
        let nodes = (0..<3).map { type in
            var node = NodeConfiguration.link(up: 1, down: 1)
            node.natType = NATType(rawValue: UInt8(type))
            return [network.addNode(node), network.addNode(node)]
        }
        var generator = SeededGenerator(seed: 3)
        for (from, to, probability) in [(0, 0, 1.0), (0, 1, 0.8), (1, 1, 0.3), (2, 0, 0.5), (1, 2, 0), (2, 2, 0)] {
            var successes = 0
            for _ in 0..<4_000 {
                guard let flow = network.connect(nodes[from][0], to: nodes[to][1], using: &generator) else { continue }
                successes += 1
                network.close(flow)
            }
            // Five standard deviations.
            let deviation = (probability * (1 - probability) / 4_000).squareRoot()
            #expect(abs(Double(successes) / 4_000 - probability) <= 5 * deviation)
        }
        #expect(ReachabilityTable(probabilities: []) == nil)
        #expect(ReachabilityTable(probabilities: [[1, 1]]) == nil)
        #expect(ReachabilityTable(probabilities: [[1.5]]) == nil)
    }

    @Test func aNewRateHoldsAtOnce() throws {
        var network = EmulatedNetwork()
        let source = network.addNode(.link(up: 1, down: 1))
        let target = network.addNode(.link(up: 100, down: 100))
        let flow = network.connect(source, to: target)
        // 125,000 bytes, one second at 1 Mbps: half of them at 1 Mbps, none for 2 s, the rest at 4 Mbps.
        network.send(125_000, payload: 0, priority: .data, on: flow)
        _ = network.deliveries(until: .origin + .seconds(0.5))
        network.setRates(of: source, uplinkBitsPerSecond: 0, downlinkBitsPerSecond: 1e6)
        #expect(network.deliveries(until: .origin + .seconds(2.5)).isEmpty)
        network.setRates(of: source, uplinkBitsPerSecond: 4e6, downlinkBitsPerSecond: 1e6)
        let delivery = try #require(network.deliveries().first)
        #expect(abs(delivery.time.seconds - 2.625) < 1e-6)
    }

    @Test func aNewRateOfADownlinkHoldsAtOnce() throws {
        var network = EmulatedNetwork()
        let source = network.addNode(.link(up: 1000, down: 1000))
        let target = network.addNode(.link(up: 1, down: 1))
        let flow = network.connect(source, to: target)
        network.send(125_000, payload: 0, priority: .data, on: flow)
        _ = network.deliveries(until: .origin + .seconds(0.5))
        network.setRates(of: target, uplinkBitsPerSecond: 1e6, downlinkBitsPerSecond: 0)
        #expect(network.deliveries(until: .origin + .seconds(2.5)).isEmpty)
        network.setRates(of: target, uplinkBitsPerSecond: 1e6, downlinkBitsPerSecond: 4e6)
        let delivery = try #require(network.deliveries().first)
        #expect(abs(delivery.time.seconds - 2.625) < 1e-3)
    }

    @Test func flowsFollowRatesThatChange() {
        var network = EmulatedNetwork()
        let source = network.addNode(.link(up: 2, down: 20, delay: .milliseconds(10)))
        let flows = (0..<3).map { _ in network.connect(source, to: network.addNode(.link(up: 20, down: 20))) }
        var long = LongLivedFlows(network, flows)
        var expected = 0.0
        for second in 0..<60 {
            let rate = [2e6, 0.5e6, 9e6, 0, 30e6][second % 5]
            long.network.setRates(of: source, uplinkBitsPerSecond: rate, downlinkBitsPerSecond: 20e6)
            expected += rate
            long.run(until: .origin + .seconds(Double(second + 1)))
        }
        let sent = long.network.byteCounts(of: source).sent * 8
        #expect(abs(Double(sent) / expected - 1) < 0.01)
        for bytes in long.received { #expect(abs(Double(bytes) * 24 / expected - 1) < 0.01) }
    }

    @Test func whatHasNotBegunCanBeTakenBack() {
        var network = EmulatedNetwork()
        let source = network.addNode(.link(up: 1, down: 1))
        let flow = network.connect(source, to: network.addNode(.link(up: 1, down: 1)))
        let messages = (0..<4).map { network.send(chunk, payload: UInt64($0), priority: .data, on: flow) }
        #expect(network.cancel(messages[0]) == 0)
        #expect(network.cancel(messages[2]) == chunk)
        #expect(network.cancel(messages[2]) == 0)
        #expect(network.waitingByteCount(on: flow) == 2 * chunk)
        let long = network.send(1 << 20, payload: 9, priority: .data, on: flow)
        #expect(network.deliveries(until: .origin + .seconds(1)).map(\.payload) == [0, 1, 3])
        // Of the long message some frames have begun.
        let rest = network.cancel(long)
        #expect(rest > 0 && rest < 1 << 20)
        #expect(network.deliveries().isEmpty)
        #expect(network.byteCounts(of: source).sent == UInt64(3 * chunk + 1 << 20 - rest))
        #expect(network.cancel(messages[3]) == 0)
    }

    @Test func aClosedConnectionDeliversWhatIsUnderWay() {
        var network = EmulatedNetwork()
        let source = network.addNode(.link(up: 1, down: 1))
        let target = network.addNode(.link(up: 1, down: 1))
        let flow = network.connect(source, to: target)
        for payload in 0..<3 { network.send(chunk, payload: UInt64(payload), priority: .data, on: flow) }
        network.close(flow)
        let deliveries = network.deliveries()
        #expect(deliveries.map(\.payload) == [1, 2, 0])
        #expect(deliveries.map(\.outcome) == [.dropped, .dropped, .complete])
        #expect(network.flows(from: source).isEmpty && network.flows(from: target).isEmpty)
        // The number is free again.
        #expect(network.connect(target, to: source) == flow)
    }

    @Test func whoLeavesTakesHalfSentFramesAlong() {
        var network = EmulatedNetwork()
        let leaver = network.addNode(.link(up: 1, down: 1, delay: .milliseconds(500)))
        let other = network.addNode(.link(up: 1, down: 1))
        let flow = network.connect(leaver, to: other)
        for payload in 0..<3 { network.send(chunk, payload: UInt64(payload), priority: .data, on: flow) }
        for payload in 10..<13 { network.send(chunk, payload: UInt64(payload), priority: .data, on: flow.opposite) }
        // 131 ms each: one is on its way, one in the middle, one waits.
        _ = network.deliveries(until: .origin + .seconds(0.2))
        network.removeNode(leaver)
        let deliveries = network.deliveries()
        #expect(deliveries.filter { $0.outcome == .complete }.map(\.payload) == [0])
        #expect(Set(deliveries.filter { $0.outcome == .dropped }.map(\.payload)) == [1, 2, 10, 11, 12])
        #expect(network.flows(from: other).isEmpty)
        #expect(network.addNode(.link(up: 1, down: 1)) == leaver)
    }

    /// Nodes come and go while everybody sends: each message comes to exactly one end, and what is freed is used again.
    @Test func everyMessageEndsOnceWhileNodesComeAndGo() {
        var generator = SeededGenerator(seed: 21)
        var network = EmulatedNetwork()
        let site = network.addSharedLink(
            SharedLinkConfiguration(
                kind: .site(bitsPerSecond: 50e6, delay: .milliseconds(1)), uplinkBitsPerSecond: 8e6,
                downlinkBitsPerSecond: 20e6))
        var nodes: [NodeID] = []
        var open = Set<UInt64>()
        var next: UInt64 = 0
        var sizes: [Int] = []
        for step in 0..<30_000 {
            switch Int.random(in: 0..<40, using: &generator) {
            case 0:
                let node = network.addNode(
                    .link(
                        up: Double.random(in: 1...10, using: &generator),
                        down: Double.random(in: 2...20, using: &generator),
                        delay: .milliseconds(Int64.random(in: 1...60, using: &generator)),
                        behind: Bool.random(using: &generator) ? site : nil))
                for _ in 0..<4 {
                    if let other = nodes.randomElement(using: &generator) { _ = network.connect(node, to: other) }
                }
                nodes.append(node)
            case 1 where nodes.count > 20:
                network.removeNode(nodes.remove(at: Int.random(in: 0..<nodes.count, using: &generator)))
            case 2:
                guard let node = nodes.randomElement(using: &generator),
                    let flow = network.flows(from: node).randomElement(using: &generator)
                else { continue }
                network.close(flow)
            case 3:
                guard let node = nodes.randomElement(using: &generator) else { continue }
                network.setRates(
                    of: node, uplinkBitsPerSecond: Double(Int.random(in: 0...8, using: &generator)) * 1e6,
                    downlinkBitsPerSecond: Double(Int.random(in: 0...20, using: &generator)) * 1e6)
            default:
                guard let node = nodes.randomElement(using: &generator),
                    let flow = network.flows(from: node).randomElement(using: &generator)
                else { continue }
                network.send(
                    Int.random(in: 1...50_000, using: &generator), payload: next,
                    priority: Bool.random(using: &generator) ? .control : .data, on: flow)
                open.insert(next)
                next += 1
            }
            for delivery in network.deliveries(until: network.now + .milliseconds(2)) {
                #expect(open.remove(delivery.payload) != nil)
            }
            if step % 10_000 == 9_999 { sizes.append(network.byteCount) }
        }
        for node in nodes { network.setRates(of: node, uplinkBitsPerSecond: 5e6, downlinkBitsPerSecond: 5e6) }
        for delivery in network.deliveries() { #expect(open.remove(delivery.payload) != nil) }
        #expect(open.isEmpty)
        #expect(next > 10_000)
        #expect(sizes[2] <= 2 * sizes[1])
    }
}
