import CoreModel
import Delivery
import EventLoop
import Integrity
import Testing

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
}
