import CoreModel
import NetworkEmulator
import Testing

struct TransmissionTests {
    private let chunk = 16 << 10

    private func pair(
        up: Double, down: Double, delay: Duration = .milliseconds(20)
    ) -> (EmulatedNetwork, FlowID, NodeID, NodeID) {
        var network = EmulatedNetwork()
        let first = network.addNode(.link(up: up, down: up, delay: delay))
        let second = network.addNode(.link(up: down, down: down))
        let flow = network.connect(first, to: second)
        return (network, flow, first, second)
    }

    @Test func aMessageTakesItsTimeOnTheUplinkAndTheDelay() throws {
        var (network, flow, first, second) = pair(up: 2, down: 100)
        network.send(chunk, payload: 7, priority: .data, on: flow)
        let delivery = try #require(network.deliveries().first)
        // 16 KiB at 2 Mbps, and 20 ms.
        #expect(abs(delivery.time.seconds - (16384 * 8 / 2e6 + 0.020)) < 1e-8)
        #expect(delivery.payload == 7 && delivery.byteCount == 16384 && delivery.outcome == .complete)
        #expect(delivery.source == first && delivery.target == second && delivery.flow == flow)
    }

    @Test func acknowledgementsOfADownloadTakeTheirPartOfABusyUplink() {
        var configuration = NetworkConfiguration()
        configuration.acknowledgementShare = 66 / (2 * 1_514)
        var network = EmulatedNetwork(configuration: configuration)
        let viewer = network.addNode(.link(up: 2, down: 20))
        let server = network.addNode(.link(up: 10, down: 100))
        let reader = network.addNode(.link(up: 10, down: 100))
        let connections = [network.connect(viewer, to: reader), network.connect(server, to: viewer)]
        var flows = LongLivedFlows(network, connections)
        let rates = flows.rates(from: 10, to: 60)
        // 66 bytes for two packets of 1,514 that come in at 10 Mbps are 218 kbps.
        #expect(abs(rates[1] - 10e6) < 0.02 * 10e6)
        #expect(abs(rates[0] - (2e6 - 10e6 * 66 / 3_028)) < 0.02 * 2e6)
    }

    @Test func aSlowDownlinkReceivesWhileTheUplinkSends() throws {
        // Packets are passed on as they come: the slower of the two links counts, not their sum.
        var (network, flow, _, _) = pair(up: 100, down: 2)
        network.send(chunk, payload: 0, priority: .data, on: flow)
        let delivery = try #require(network.deliveries().first)
        #expect(abs(delivery.time.seconds - (16384 * 8 / 2e6 + 0.020)) < 1e-8)
    }

    @Test func messagesOfAFlowKeepTheirOrderAndControlGoesFirst() {
        var (network, flow, _, _) = pair(up: 2, down: 100)
        for payload in 0..<4 { network.send(chunk, payload: UInt64(payload), priority: .data, on: flow) }
        network.send(100, payload: 10, priority: .control, on: flow)
        network.send(100, payload: 11, priority: .control, on: flow)
        // The first data message has begun.
        #expect(network.deliveries().map(\.payload) == [0, 10, 11, 1, 2, 3])
    }

    @Test func aControlMessageOfABusyConnectionWaitsForTheFrameInTheMiddle() throws {
        var (network, flow, _, _) = pair(up: 2, down: 100)
        for payload in 0..<100 { network.send(chunk, payload: UInt64(payload), priority: .data, on: flow) }
        // By then the window is open: one arrival after each frame's time on the uplink.
        let frame = Double(chunk) * 8 / 2e6
        let arrivals = network.deliveries(until: .origin + .seconds(50.5 * frame)).suffix(3).map(\.time.seconds)
        #expect(abs(arrivals[2] - arrivals[1] - frame) < 1e-7)
        network.send(250, payload: 1000, priority: .control, on: flow)
        let delivery = try #require(network.deliveries().first { $0.payload == 1000 })
        // The rest of the frame, its own 250 bytes, and the delay.
        let borders = (delivery.time.seconds - 250 * 8 / 2e6 - arrivals[2]) / frame
        #expect(abs(borders - borders.rounded()) < 1e-6)
        #expect(delivery.time.seconds - 0.020 - 50.5 * frame <= frame + 250 * 8 / 2e6)
    }

    @Test func aConnectionThatWasSilentDoesNotWaitForARoundOfBusyOnes() throws {
        var network = EmulatedNetwork()
        let source = network.addNode(.link(up: 2, down: 20))
        let flows = (0..<12).map { _ in
            network.connect(source, to: network.addNode(.link(up: 20, down: 20, delay: .milliseconds(15))))
        }
        let silent = flows[11]
        var busy = LongLivedFlows(network, Array(flows.dropLast()))
        busy.run(until: .origin + .seconds(20))
        var worst = 0.0
        for round in 1...40 {
            busy.network.send(250, payload: 1000, priority: .control, on: silent)
            let sent = busy.network.now
            while let delivery = busy.network.nextDelivery(until: sent + .seconds(0.5)) {
                if delivery.payload == 1000 { worst = max(worst, (delivery.time.seconds - sent.seconds) - 0.015) }
            }
            busy.run(until: .origin + .seconds(20 + 0.537 * Double(round)))
        }
        // At most the frame in the middle (17 KiB) and its own 250 bytes, of twelve connections at 2 Mbps.
        #expect(worst > 0)
        #expect(worst <= (17 * 1024 + 250) * 8 / 2e6 + 1e-6)
    }

    @Test func connectionsShareAnUplinkByBytesWhateverTheirMessages() {
        var network = EmulatedNetwork()
        let source = network.addNode(.link(up: 8, down: 20))
        let sizes = [500, 4_000, 16_384, 1 << 20]
        let flows = sizes.map { _ in
            network.connect(source, to: network.addNode(.link(up: 20, down: 20, delay: .milliseconds(5))))
        }
        var received = [0, 0, 0, 0]
        for (index, size) in sizes.enumerated() {
            for _ in 0..<(10_000_000 / size + 1) {
                network.send(size, payload: UInt64(index), priority: .data, isReportingProgress: true, on: flows[index])
            }
        }
        // 5 MB in all.
        for delivery in network.deliveries(until: .origin + .seconds(5)) {
            received[Int(delivery.payload)] += Int(delivery.byteCount)
        }
        for bytes in received { #expect(abs(Double(bytes) / 1_245_000 - 1) < 0.03, "\(received)") }
    }

    @Test func aSlowReceiverDoesNotHoldUpAFastOne() {
        var network = EmulatedNetwork()
        let source = network.addNode(.link(up: 20, down: 20, delay: .milliseconds(10)))
        let slow = network.connect(source, to: network.addNode(.link(up: 1, down: 1)))
        let fast = network.connect(source, to: network.addNode(.link(up: 100, down: 100)))
        var long = LongLivedFlows(network, [slow, fast])
        let rates = long.rates(from: 5, to: 25)
        #expect(abs(rates[0] / 1e6 - 1) < 0.02)
        #expect(abs(rates[1] / 19e6 - 1) < 0.02)
        // And little waits before the slow one's downlink.
        #expect(long.network.inFlightByteCount(on: slow) < 128 << 10)
    }

    @Test func theWindowDoublesPerRoundTripAtFirst() {
        // 1 MB over 1 Gbps with a round trip of 100 ms: ten packets, doubling, takes 6 to 7 round trips (RFC 6928:
        // 14.6 kB × (2^k − 1) ≥ 1 MB at k = 6.1), and half a one for the last bytes to arrive.
        var network = EmulatedNetwork()
        let first = network.addNode(.link(up: 1000, down: 1000, delay: .milliseconds(25)))
        let second = network.addNode(.link(up: 1000, down: 1000, delay: .milliseconds(25)))
        let flow = network.connect(first, to: second)
        network.send(1_000_000, payload: 0, priority: .data, on: flow)
        let time = network.deliveries().first?.time.seconds ?? 0
        #expect((0.45...0.75).contains(time), "\(time)")
    }

    @Test(arguments: [0.0001, 0.001, 0.01, 0.05]) func lossLeavesTheRateOfMathis(loss: Double) {
        var network = EmulatedNetwork()
        var lossy = NodeConfiguration.link(up: 1000, down: 1000, delay: .milliseconds(30))
        lossy.loss = loss
        let flow = network.connect(
            network.addNode(lossy), to: network.addNode(.link(up: 1000, down: 1000, delay: .milliseconds(20))))
        var long = LongLivedFlows(network, [flow])
        let rate = long.rates(from: 10, to: 110)[0]
        // MSS / RTT × sqrt(3/2) / sqrt(p)
        let expected = 1448 * 8 / 0.1 * (1.5 / loss).squareRoot()
        #expect(abs(rate / expected - 1) < 0.02)
    }

    @Test func deliveriesConserveBytes() {
        let (network, flows) = MaxMinTests.randomNetwork(seed: 5, nodeCount: 30, flowCount: 90)
        var generator = SeededGenerator(seed: 6)
        var run = network
        var sent = [Int](repeating: 0, count: flows.count)
        var received = sent
        for _ in 0..<3_000 {
            let index = Int.random(in: 0..<flows.count, using: &generator)
            let size = Int.random(in: 1...60_000, using: &generator)
            run.send(
                size, payload: UInt64(index), priority: Bool.random(using: &generator) ? .control : .data,
                isReportingProgress: true, on: flows[index])
            sent[index] += size
            for delivery in run.deliveries(until: run.now + .milliseconds(3)) {
                received[Int(delivery.payload)] += Int(delivery.byteCount)
            }
        }
        for delivery in run.deliveries() { received[Int(delivery.payload)] += Int(delivery.byteCount) }
        #expect(sent == received)
        #expect(flows.allSatisfy { run.inFlightByteCount(on: $0) == 0 && run.waitingByteCount(on: $0) == 0 })
        let next = run.nextEventTime
        #expect(next == nil)
    }

    @Test func noLinkCarriesMoreThanItsRateInAnySecond() {
        let nodeCount = 24
        let (network, flows) = MaxMinTests.randomNetwork(seed: 9, nodeCount: nodeCount, flowCount: 100)
        var long = LongLivedFlows(network, flows)
        let nodes = flows.flatMap { flow in [network.ends(of: flow).source, network.ends(of: flow).target] }
        let shared = (0..<nodeCount / 8).map { SharedLinkID(rawValue: Int32($0)) }
        var rates: [Double] = []
        for node in nodes {
            let configuration = long.network.configuration(of: node)
            rates += [configuration.uplinkBitsPerSecond, configuration.downlinkBitsPerSecond]
        }
        for link in shared {
            let configuration = long.network.configuration(of: link)
            rates += [configuration.uplinkBitsPerSecond, configuration.downlinkBitsPerSecond]
        }
        func counts() -> [UInt64] {
            var result: [UInt64] = []
            for node in nodes {
                let counts = long.network.byteCounts(of: node)
                result += [counts.sent, counts.received]
            }
            for link in shared {
                let counts = long.network.byteCounts(of: link)
                result += [counts.up, counts.down]
            }
            return result
        }
        // Twice a second, so that any two neighbours make a second.
        var previous = counts()
        var before = previous
        for half in 1...40 {
            long.run(until: .origin + .seconds(Double(half) / 2))
            let now = counts()
            for index in now.indices {
                // A frame counts when it begins, or, where it passes while it comes in, when its end is there: the two
                // at the borders may lie outside.
                let carried = Double(now[index] - before[index])
                let limit = rates[index] / 8 + Double(2 * 17 << 10)
                #expect(carried <= limit)
            }
            before = previous
            previous = now
        }
    }

    @Test func equalCallsGiveEqualDeliveries() {
        func run() -> [Delivery] {
            var (network, flows) = MaxMinTests.randomNetwork(seed: 11, nodeCount: 30, flowCount: 60)
            var generator = SeededGenerator(seed: 12)
            var result: [Delivery] = []
            for _ in 0..<2_000 {
                let flow = flows.randomElement(using: &generator)!
                network.send(
                    Int.random(in: 1...40_000, using: &generator), payload: generator.next(), priority: .data, on: flow)
                network.advance(to: network.now + .milliseconds(1), into: &result)
            }
            network.advance(to: .distantFuture, into: &result)
            return result
        }
        let first = run()
        #expect(first.count == 2_000)
        #expect(first == run())
    }
}
