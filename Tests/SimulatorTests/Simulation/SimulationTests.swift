import CommandLineSupport
import CoreModel
import Cryptography
import Simulator
import Testing

/// Whole swarms. What is expected follows from counting bytes and from what the design promises, never from a former run.
@Suite struct SimulationTests {
    private static let stream =
        #""stream": {"type": "vod", "ladder": ["2.5Mbps"], "segment": "2s", "length": "30s", "sizeVariation": 0.1}"#
    private static let links =
        #""links": {"classes": [{"name": "home", "down": "50Mbps", "up": "10Mbps", "rtt": "10ms"}]}"#

    private static func scenario(
        viewers: Int, spread: String = "10s", session: String = "", more: String = ""
    ) throws -> Scenario {
        try TestScenario.read(
            """
            {"name": "test", "shows": "A test.", "duration": "50s", \(stream),
            "population": {"viewers": \(viewers), "arrivals": {"kind": "together", "spread": "\(spread)"}\(session)},
            \(links)\(more)}
            """)
    }

    private static func run(_ scenario: Scenario, seed: UInt64 = 1) throws -> SimulationResult {
        try Simulation(scenario: scenario, seed: seed).run()
    }

    @Test func equalSeedsGiveEqualDocuments() throws {
        let scenario = try Self.scenario(
            viewers: 8, session: #", "session": {"kind": "exponential", "mean": "20s"}"#,
            more: #", "conduct": {"polluters": 0.2}"#)
        let first = try Self.run(scenario).json.text()
        #expect(try Self.run(scenario).json.text() == first)
        #expect(try Self.run(scenario, seed: 2).json.text() != first)
    }

    @Test func aLoneViewerTakesOneCopy() throws {
        let result = try Self.run(Self.scenario(viewers: 1))
        #expect(result.total.copiesPerSegment == 1)
        #expect(result.total.offload == 0)
        #expect(result.total.bytesPeers == 0 && result.total.stalls == 0)
    }

    /// Who leaves in the middle of a segment needs no more of it: what was delivered came once, and nothing else must have.
    @Test(arguments: 1...UInt64(12))
    func theFirstCopyIsOfWhatWasDelivered(seed: UInt64) throws {
        var scenario = try Self.scenario(viewers: 2, spread: "1s")
        scenario.duration = .milliseconds(1500)
        #expect(try Self.run(scenario, seed: seed).total.copiesPerSegment ?? 1 >= 1)
    }

    /// What is seen again after a seek, in a segment that was not over, was delivered before.
    @Test func seeksWithinASegmentDeliverNothingTwice() throws {
        let stream = #""stream": {"type": "vod", "ladder": ["1Mbps"], "segment": "20s", "length": "60s"}"#
        let result = try Self.run(
            TestScenario.read(
                """
                {"name": "test", "shows": "A test.", "duration": "60s", \(stream),
                "population": {"viewers": 1, "seeks": {"every": "3s", "distance": -2}},
                "links": {"classes": [{"name": "home", "down": "2Mbps", "up": "5Mbps"}]}}
                """))
        #expect(result.total.offload ?? 0 <= 0)
        #expect(result.total.bytesDelivered <= result.total.bytesCDN)
    }

    @Test func viewersWithoutPeersTakeACopyEach() throws {
        let result = try Simulation(scenario: Self.scenario(viewers: 3), policy: .cdnOnly).run()
        #expect(result.total.copiesPerSegment == 3)
        #expect(result.total.bytesPeers == 0 && result.total.messagesPerViewerSecond == 0)
    }

    @Test(arguments: [1, 2, 3])
    func bytesAreConserved(seed: UInt64) throws {
        let result = try Self.run(
            Self.scenario(viewers: 10, session: #", "session": {"kind": "exponential", "mean": "15s"}"#), seed: seed)
        let payload = result.payload
        #expect(payload.sent > 0)
        #expect(payload.sent == payload.arrived + payload.lost + payload.underWay)
        #expect(payload.sent == result.total.bytesUploaded)
        #expect(result.total.bytesPeers <= payload.arrived)
        #expect(result.total.bytesDelivered <= result.total.bytesCDN + result.total.bytesPeers)
    }

    @Test(arguments: ["1.5Mbps", "3Mbps", "10Mbps"])
    func offloadStaysBelowTheHardBound(up: String) throws {
        let scenario = try TestScenario.read(
            """
            {"name": "test", "shows": "A test.", "duration": "50s", \(Self.stream), "population": {"viewers": 8},
            "links": {"classes": [{"name": "home", "down": "50Mbps", "up": "\(up)"}]}}
            """)
        let result = try Self.run(scenario)
        let bound = try #require(result.limits.tightestHard)
        let offload = try #require(result.total.offload)
        #expect(offload > 0 && offload <= bound.value)
    }

    @Test func whatPollutersSendIsFoundOut() throws {
        let scenario = try Self.scenario(viewers: 10, more: #", "conduct": {"polluters": 0.3}"#)
        let result = try Self.run(scenario)
        #expect(result.total.chunksRejected > 0 && result.total.peersBanned > 0)
        // Altered bytes count neither as taken from peers nor as played.
        #expect(result.total.bytesPeers + result.payload.altered <= result.payload.arrived)
        #expect(result.total.bytesDelivered <= result.total.bytesCDN + result.total.bytesPeers)
        #expect(result.total.stalls == 0)
    }

    @Test func withoutFrontsViewersElect() throws {
        let named = try Self.run(Self.scenario(viewers: 10, spread: "0s"))
        #expect(named.total.claims == 0)
        let elected = try Self.run(
            Self.scenario(viewers: 10, spread: "0s", more: #", "tracker": {"fronts": false}"#))
        #expect(elected.total.claims > 0)
        #expect(try #require(elected.total.copiesPerSegment) < 4)
    }

    @Test func whenTheTrackerIsAwayViewersElectOnceTheFrontHasRunOut() throws {
        let long = Self.stream.replacing("\"30s\"", with: "\"120s\"")
        let scenario = try TestScenario.read(
            """
            {"name": "test", "shows": "A test.", "duration": "130s", \(long), "population": {"viewers": 6}, \(Self.links),
            "tracker": {"outages": [{"from": "5s", "length": "120s"}]}}
            """)
        let result = try Self.run(scenario)
        #expect(result.total.claims > 0)
        #expect(try #require(result.total.offload) > 0.4)
    }

    @Test func freeRidersUploadNothingAndOthersStillShare() throws {
        let result = try Self.run(Self.scenario(viewers: 10, more: #", "conduct": {"freeRiders": 0.4}"#))
        #expect(try #require(result.total.offload) > 0.4)
        let alone = try Self.run(Self.scenario(viewers: 4, more: #", "conduct": {"freeRiders": 1}"#))
        #expect(alone.total.bytesUploaded == 0 && alone.total.copiesPerSegment == 4)
    }

    @Test func aLiveStreamIsShared() throws {
        let scenario = try TestScenario.read(
            """
            {"name": "test", "shows": "A test.", "duration": "40s",
            "stream": {"type": "live", "ladder": ["2.5Mbps"], "segment": "2s", "liveDelay": "10s"},
            "population": {"viewers": 8}, \(Self.links)}
            """)
        let result = try Self.run(scenario)
        #expect(try #require(result.total.offload) > 0.4)
        #expect(result.payload.sent == result.payload.arrived + result.payload.lost + result.payload.underWay)
    }

    /// The real primitives draw other numbers, but the protocol goes the same way.
    @Test func theRealPrimitivesGiveASwarmToo() throws {
        let scenario = try Self.scenario(viewers: 4)
        let real = try Simulation(scenario: scenario, suite: SystemCryptoSuite()).run()
        let fake = try Self.run(scenario)
        let difference = try #require(real.total.offload) - #require(fake.total.offload)
        #expect(abs(difference) < 0.1)
        #expect(real.total.chunksRejected == 0)
    }
}
