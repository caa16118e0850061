import CoreModel
import NetworkEmulator
import Testing

struct MaxMinTests {
    struct Example: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var capacities: [Double]
        var paths: [[Int]]
        var rates: [Double]
    }

    /// Small networks whose fair rates are known.
    static let examples = [
        Example(
            testDescription: "one link", capacities: [10], paths: [[0], [0], [0], [0]], rates: [2.5, 2.5, 2.5, 2.5]),
        Example(
            testDescription: "parking lot of three links", capacities: [1, 1, 1], paths: [[0, 1, 2], [0], [1], [2]],
            rates: [0.5, 0.5, 0.5, 0.5]),
        Example(
            testDescription: "what one can't use, another gets", capacities: [10, 2], paths: [[0], [0, 1]],
            rates: [8, 2]),
        Example(
            testDescription: "three levels", capacities: [3, 6, 12], paths: [[0], [0, 1], [0, 1, 2], [1], [2]],
            rates: [1, 1, 1, 4, 11]),
        Example(
            testDescription: "an infinite link limits nobody", capacities: [.infinity, 4], paths: [[0], [0, 1]],
            rates: [.infinity, 4]),
        Example(testDescription: "a dead link", capacities: [0, 4], paths: [[0, 1], [1]], rates: [0, 4]),
    ]

    @Test(arguments: examples) func fillsAsTheTextbookDoes(example: Example) {
        let rates = MaxMinAllocation.rates(capacities: example.capacities, paths: example.paths)
        for (rate, expected) in zip(rates, example.rates) {
            #expect(rate == expected || abs(rate - expected) < 1e-9)
        }
    }

    /// A network with links of its own for each node, access links for some, and sites with a LAN for others.
    static func randomNetwork(seed: UInt64, nodeCount: Int, flowCount: Int) -> (EmulatedNetwork, [FlowID]) {
        var generator = SeededGenerator(seed: seed)
        var network = EmulatedNetwork()
        var shared: [SharedLinkID] = []
        for index in 0..<nodeCount / 8 {
            shared.append(
                network.addSharedLink(
                    SharedLinkConfiguration(
                        kind: index % 2 == 0 ? .access : .site(bitsPerSecond: 100e6, delay: .milliseconds(1)),
                        uplinkBitsPerSecond: Double.random(in: 4e6...30e6, using: &generator),
                        downlinkBitsPerSecond: Double.random(in: 10e6...60e6, using: &generator),
                        // Some behind another one.
                        parent: index % 3 == 2 ? shared[0] : nil)))
        }
        var nodes: [NodeID] = []
        for index in 0..<nodeCount {
            nodes.append(
                network.addNode(
                    .link(
                        up: Double.random(in: 1...20, using: &generator),
                        down: Double.random(in: 2...50, using: &generator),
                        delay: .milliseconds(Int64.random(in: 1...40, using: &generator)),
                        behind: index % 3 == 0 ? nil : shared.randomElement(using: &generator))))
        }
        var flows: [FlowID] = []
        while flows.count < flowCount {
            let source = nodes.randomElement(using: &generator)!
            let target = nodes.randomElement(using: &generator)!
            if source != target { flows.append(network.connect(source, to: target)) }
        }
        return (network, flows)
    }

    @Test(arguments: [
        (2, 2), (5, 8), (10, 30), (20, 40), (40, 160), (64, 200), (100, 120), (100, 400),
    ])
    func longLivedFlowsGetTheirFairShare(nodeCount: Int, flowCount: Int) {
        for seed in 1...3 {
            let (network, flows) = Self.randomNetwork(seed: UInt64(seed), nodeCount: nodeCount, flowCount: flowCount)
            let expected = network.maxMinRates(of: flows)
            var long = LongLivedFlows(network, flows)
            let rates = long.rates(from: 60, to: 180)
            var sum = 0.0
            for (index, (rate, fair)) in zip(rates, expected).enumerated() {
                let error = abs(rate / fair - 1)
                sum += error
                #expect(error < 0.03, "seed \(seed), flow \(index): \(rate) for \(fair)")
            }
            #expect(sum / Double(rates.count) < 0.005)
            let (total, fairTotal) = (rates.reduce(0, +), expected.reduce(0, +))
            #expect(abs(total / fairTotal - 1) < 0.01)
        }
    }
}
