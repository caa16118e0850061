import CoreModel
import Cryptography
import Delivery
import EventLoop
import HTTPTransfer
import Integrity
import Testing
import TrackerCore
import TrackerProtocol

/// Whole sessions over real sockets: an origin, and where peers matter a tracker and a second viewer.
@Suite(.timeLimit(.minutes(2))) struct ViewerSessionTests {
    @Test func withoutPeersTheCDNBringsEverythingOnce() async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            stage.play({ $0.usesPeers = false }, onEnd: end)
        }
        #expect(result.error == nil)
        #expect(result.bytes == title.segments)
        #expect(result.figures.bytes.cdn == title.segments.reduce(0) { $0 + $1.count })
        #expect(result.figures.bytes.cdnCatalogue == 0)
        #expect(result.figures.bytes.peers == 0)
    }

    @Test func theSecondViewerTakesMostFromTheFirst() async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play { _ in stage.play(onEnd: end) }
        }
        #expect(result.error == nil)
        #expect(result.bytes == title.segments)
        #expect(result.figures.bytes.peers > result.figures.bytes.cdn)
        #expect(result.figures.chunksRejected == 0)
        #expect(result.figures.recordMismatches == 0)
    }

    @Test func aPolluterIsBannedAfterItsFirstBadChunk() async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play({ $0.conduct = .polluting }, onEnd: { _ in stage.play(onEnd: end) })
        }
        #expect(result.error == nil)
        #expect(result.bytes == title.segments)
        #expect(result.figures.chunksRejected == 1)
        #expect(result.figures.peersBanned == 1)
        #expect(result.figures.bytes.peers == 0)
    }

    @Test func theCDNsBytesThatDifferAreCountedPlayedAndNotShared() async throws {
        let title = TestTitle()
        struct Both: Sendable { var first: ViewerResult, second: ViewerResult, served: [[UInt8]] }
        let both: Both = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            for index in 1...3 { stage.origin.files[TestTitle.path(index)]?.bytes[40_000] ^= 1 }
            let served = title.segments.indices.compactMap { stage.origin.files[TestTitle.path($0)]?.bytes }
            stage.play { first in stage.play { end(Both(first: first, second: $0, served: served)) } }
        }
        for viewer in [both.first, both.second] {
            #expect(viewer.error == nil)
            #expect(viewer.bytes == both.served)
            // The third is not even held against its record.
            #expect(viewer.figures.recordMismatches == 2)
            #expect(viewer.figures.chunksRejected == 0)
            #expect(viewer.figures.peersBanned == 0)
        }
    }

    @Test func whatOneHostHasWrongOrLostComesFromTheOther() async throws {
        let title = TestTitle(hasTwoHosts: true)
        struct Outcome: Sendable { var viewer: ViewerResult, requests: [String] }
        let outcome: Outcome = try await Stage.run(title) { stage, end in
            stage.origin.files[TestTitle.firstPath(0)]?.bytes[40_000] ^= 1
            stage.origin.files[TestTitle.firstPath(1)]?.bytes[199_999] ^= 1
            stage.origin.files[TestTitle.firstPath(2)]?.bytes += [1, 2, 3]
            stage.origin.files[TestTitle.firstPath(3)]?.status = 404
            stage.play { end(Outcome(viewer: $0, requests: stage.origin.requests)) }
        }
        #expect(outcome.viewer.error == nil)
        #expect(outcome.viewer.bytes == title.segments)
        #expect(outcome.viewer.figures.recordMismatches == 0)
        for index in title.segments.indices { #expect(outcome.requests.contains(TestTitle.otherPath(index))) }
    }

    /// The other host is asked once; what both have is played, not shared, and counted.
    @Test func whatBothHostsHaveIsPlayed() async throws {
        let title = TestTitle(hasTwoHosts: true)
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            for path in [TestTitle.firstPath(1), TestTitle.otherPath(1)] {
                stage.origin.files[path]?.bytes[40_000] ^= 1
            }
            stage.play(onEnd: end)
        }
        var served = title.segments
        served[1][40_000] ^= 1
        #expect(result.error == nil)
        #expect(result.bytes == served)
        #expect(result.figures.recordMismatches == 1)
    }

    @Test func aSegmentThatBothHostsLostEndsPlaybackWithItsName() async throws {
        let title = TestTitle(hasTwoHosts: true)
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            for path in [TestTitle.firstPath(2), TestTitle.otherPath(2)] { stage.origin.files[path]?.status = 404 }
            stage.play(onEnd: end)
        }
        guard case .segmentUnreachable(let url, .status(404)?)? = result.error else {
            Issue.record("\(String(describing: result.error))")
            return
        }
        #expect(url.hasSuffix("2.ts"))
        #expect(result.bytes == Array(title.segments.prefix(2)))
    }

    @Test(arguments: [-30_000, -1, 1, 30_000])
    func aVersionOfAnotherSizeIsPlayedAsTheCDNHasIt(difference: Int) async throws {
        let title = TestTitle()
        struct Both: Sendable { var viewer: ViewerResult, served: [[UInt8]], requests: Int }
        let both: Both = try await Stage.run(title) { stage, end in
            let path = TestTitle.path(2)
            let bytes = title.segments[2] + [UInt8](repeating: 7, count: 30_000)
            stage.origin.files[path]?.bytes = Array(bytes.prefix(title.segments[2].count + difference))
            let served = title.segments.indices.compactMap { stage.origin.files[TestTitle.path($0)]?.bytes }
            stage.play {
                end(Both(viewer: $0, served: served, requests: stage.origin.requests.count { $0 == path }))
            }
        }
        #expect(both.viewer.error == nil)
        #expect(both.viewer.bytes == both.served)
        #expect(both.viewer.figures.recordMismatches == 1)
        #expect(both.requests <= 3)
    }

    @Test func withoutATrackerPlaybackGoesOnAndSaysSoOnce() async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in stage.play(onEnd: end) }
        #expect(result.error == nil)
        #expect(result.bytes == title.segments)
        #expect(result.lines(saying: "tracker").count == 1)
    }

    @Test func aTrackerThatGoesAwayTakesNoLinkWithIt() async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play { _ in
                let timer = LoopTimer(loop: stage.loop) { stage.stopTracker() }
                timer.arm(after: .milliseconds(1500))
                stage.play {
                    timer.cancel()
                    end($0)
                }
            }
        }
        #expect(result.error == nil)
        #expect(result.bytes == title.segments)
        #expect(result.figures.bytes.peers > result.figures.bytes.cdn)
    }

    @Test func aTokenGoesToNoTrackerInClearText() async throws {
        let title = TestTitle()
        let now = UnixTime(seconds: 1_800_000_000)
        let key = RoleKey(
            role: .token, key: TestTitle.suite.signingKey(seed: Bytes32(words: (4, 4, 4, 4))), suite: TestTitle.suite)
        let stream = StreamIdentity.stream(named: title.streamName, suite: TestTitle.suite)
        let token = ViewerToken(
            stream: stream, viewer: Bytes16(high: 1, low: 1), issued: now, expires: now + .seconds(600), nonce: 1,
            signedBy: key)
        struct Both: Sendable { var refusing: ViewerResult, joining: ViewerResult }
        let both: Both = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            let plain = ["ws://192.0.2.1:9/", "http://tracker.invalid/"]
            stage.play { configuration in
                configuration.token = token.text
                configuration.trackerURLs = plain
            } onEnd: { refusing in
                stage.play { configuration in
                    configuration.token = token.text
                    configuration.trackerURLs = plain + [stage.trackerURL]
                } onEnd: {
                    end(Both(refusing: refusing, joining: $0))
                }
            }
        }
        #expect(both.refusing.error == nil && both.refusing.bytes == title.segments)
        #expect(both.refusing.lines(saying: "a token goes over TLS only").count == 1)
        #expect(both.refusing.lines(saying: "no tracker can take the token").count == 1)
        #expect(both.joining.error == nil && both.joining.bytes == title.segments)
        #expect(both.joining.lines(saying: "a token goes over TLS only").count == 1)
        // The tracker on this machine answers at once: no other was tried before it.
        #expect(both.joining.lines(saying: "tracker: ").count == 1)
    }

    @Test(arguments: [true, false])
    func theOperatorLimitsLinksAndUploads(links: Bool) async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker {
                if links { $0.settings.maximumPeerCount = 0 } else { $0.settings.maximumUploadMebibytesPerDay = 0 }
            }
            stage.play { _ in stage.play(onEnd: end) }
        }
        #expect(result.error == nil && result.bytes == title.segments)
        #expect(result.figures.bytes.peers == 0)
        if links { #expect(result.figures.peersConnected == 0) }
    }
}
