import CoreModel
import Delivery
import Integrity
import Testing

/// Catalogues that can't be used and segments that the CDN can't deliver.
@Suite(.timeLimit(.minutes(2))) struct FaultTests {
    /// What is wrong with a catalogue.
    enum CatalogueFault: String, CaseIterable, Sendable {
        case missing, truncatedHead, truncatedIndex, garbage, foreignKey, foreignStream, expired

        func bytes(of title: TestTitle) throws -> [UInt8]? {
            let good = try title.catalogue(now: Stage.now)
            return switch self {
            case .missing: nil
            case .truncatedHead: Array(good.prefix(60))
            case .truncatedIndex: Array(good.prefix(240))
            case .garbage: good.map { $0 ^ 0x55 }
            case .foreignKey: try title.catalogue(signedBy: TestTitle.key(77), now: Stage.now)
            case .foreignStream: try title.catalogue(stream: "another", now: Stage.now)
            case .expired: try title.catalogue(now: Stage.now + .seconds(-7200))
            }
        }
    }

    @Test(arguments: CatalogueFault.allCases)
    func aCatalogueThatCannotBeUsedMeansTheCDNAloneSaidOnce(fault: CatalogueFault) async throws {
        let title = TestTitle(segmentCount: 2)
        struct Seen: Sendable { var viewer: ViewerResult, requests: Int }
        let seen: Seen = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.origin.files[TestTitle.cataloguePath] = try fault.bytes(of: title).map { TestOrigin.File(bytes: $0) }
            stage.play { viewer in
                let requests = stage.origin.requests.count { $0 == TestTitle.cataloguePath }
                end(Seen(viewer: viewer, requests: requests))
            }
        }
        #expect(seen.viewer.error == nil)
        #expect(seen.viewer.bytes == title.segments)
        #expect(seen.viewer.lines(saying: "playing from the CDN alone").count == 1)
        #expect(seen.viewer.lines(saying: "catalogue").count == 1)
        #expect(seen.requests <= 3)
    }

    @Test(arguments: [404, 410, 500])
    func aSegmentThatTheCDNLostComesFromAPeer(status: Int) async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play { _ in
                stage.origin.files[TestTitle.path(2)]?.status = status
                stage.play(onEnd: end)
            }
        }
        #expect(result.error == nil)
        #expect(result.bytes == title.segments)
    }

    @Test(arguments: [404, 500], [true, false])
    func aSegmentThatNobodyHasEndsPlaybackWithItsName(status: Int, usesPeers: Bool) async throws {
        let result: ViewerResult = try await Stage.run(TestTitle()) { stage, end in
            try stage.startTracker()
            stage.origin.files[TestTitle.path(1)]?.status = status
            stage.play({ $0.usesPeers = usesPeers }, onEnd: end)
        }
        let error = try #require(result.error)
        #expect("\(error)".contains(TestTitle.path(1)))
        #expect("\(error)".contains("answered \(status)"))
    }

    @Test func bodiesThatBreakOffAreResumed() async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            for index in title.segments.indices { stage.origin.files[TestTitle.path(index)]?.breaks = 2 }
            stage.play({ $0.usesPeers = false }, onEnd: end)
        }
        #expect(result.error == nil)
        #expect(result.bytes == title.segments)
    }

    @Test func aCDNThatKnowsNoRangesServesViewersToo() async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            for path in stage.origin.files.keys { stage.origin.files[path]?.doesRanges = false }
            stage.play { _ in stage.play(onEnd: end) }
        }
        #expect(result.error == nil)
        #expect(result.bytes == title.segments)
    }
}
