import Delivery
import Foundation
import Scheduling
import Testing
import VBPlayer

/// Changes of rendition over a line that falls and rises.
@Suite(.enabled(if: TestCDN.isAvailable, "needs nginx and ffmpeg"), .timeLimit(.minutes(3)))
struct SwitchingTests {
    @Test(arguments: LadderCDN.Form.allCases)
    func thePictureGoesOnWithoutASeamWhileTheLineFallsAndRises(_ form: LadderCDN.Form) async throws {
        let cdn = try await LadderCDN()
        let outcome = try await LadderViewer.play(cdn.url(form))
        #expect(outcome.failure == nil && outcome.figures.error == nil)
        #expect(outcome.starvations == 0)
        #expect(outcome.rungs.count == LadderCDN.segmentCount)
        let top = LadderCDN.pictureHeights.count - 1
        let slow = LadderCDN.slowSegments
        #expect(outcome.rungs[slow].contains(0), "\(outcome.rungs)")
        #expect(outcome.rungs[(slow.upperBound + 3)...].allSatisfy { $0 == top }, "\(outcome.rungs)")
        // Every picture is there once, at its time…
        let ticks = 90_000 / LadderCDN.framesPerSecond
        let times = outcome.frames.map { Int($0.split(separator: ",")[2].drop { $0 == " " }) ?? -1 }
        #expect(
            times
                == (0..<LadderCDN.segmentCount * LadderCDN.segmentSeconds * LadderCDN.framesPerSecond).map {
                    $0 * ticks
                })
        // …and as ffmpeg decodes it.
        let truth = try await Self.truth(form, outcome.rungs)
        let frames = outcome.frames.map(LadderCDN.sizeAndHash)
        #expect(frames.count == truth.count)
        let wrong = zip(frames, truth).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        #expect(wrong.isEmpty, "pictures \(wrong.prefix(10)), renditions \(outcome.rungs)")
        // The figures and the log say the same.
        #expect(outcome.figures.switches == zip(outcome.rungs, outcome.rungs.dropFirst()).count { $0 != $1 })
        #expect(Self.chosenRungs(outcome) == outcome.rungs)
        #expect(outcome.shown.count == outcome.figures.switches + 1)
    }

    @Test func oneRenditionThatWasAskedForIsPlayedAlone() async throws {
        let cdn = try await LadderCDN()
        let outcome = try await LadderViewer.play(cdn.url(.dash, isLimited: false), limit: .seconds(4)) {
            $0.renditionID = "1"
        }
        #expect(outcome.failure == nil)
        #expect(outcome.qualities.map(\.rendition) == ["1"])
        #expect(outcome.figures.switches == 0 && Self.chosenRungs(outcome).isEmpty && outcome.shown.isEmpty)
        // Each resource once, and nothing of the others.
        let requests = try cdn.requests()
        #expect(requests.count > 8 && Set(requests).count == requests.count)
        #expect(requests.allSatisfy { !$0.contains("stream0") && !$0.contains("stream2") })
    }

    @Test func theCapHoldsFromTheFirstSegmentOn() async throws {
        let cdn = try await LadderCDN()
        let outcome = try await LadderViewer.play(cdn.url(.transportStream, isLimited: false), limit: .seconds(4)) {
            $0.maximumBitsPerSecond = 1_000_000
        }
        #expect(outcome.failure == nil)
        #expect(outcome.rungs.count > 2 && outcome.rungs.allSatisfy { $0 == 1 })
        // Playlists of renditions that aren't played aren't fetched.
        #expect(outcome.figures.requests.cdnManifest == 2)
    }

    /// The picture is 180 lines high at most, in steps of 90, 144 and 180.
    @Test func noMorePixelsAreFetchedThanTheDisplayHas() async throws {
        let cdn = try await LadderCDN()
        let outcome = try await LadderViewer.play(
            cdn.url(.fragmented, isLimited: false), { $0.viewport = .init(width: 160, height: 90) }
        ) { session, segment in
            if segment == 3 { session.setViewport(.init(width: 200, height: 120)) }
        }
        #expect(outcome.failure == nil)
        #expect(outcome.rungs.prefix(4) == [0, 0, 0, 0])
        #expect(outcome.rungs.last == 1, "\(outcome.rungs)")
        #expect(outcome.starvations == 0)
    }

    @Test @MainActor func anAppChoosesAmongTheQualitiesAndLetsThePlayerChooseAgain() async throws {
        let cdn = try await LadderCDN()
        let player = VBPlayer(cdn: cdn.url(.dash, isLimited: false))
        var shown: [Int] = []
        let observation = player.observe(\.quality, options: [.new]) { _, change in
            if let quality = change.newValue ?? nil { shown.append(quality.height) }
        }
        #expect(player.qualities.isEmpty && player.isQualityAutomatic)
        player.play()
        try #require(await eventually { player.quality?.height == LadderCDN.pictureHeights.last })
        #expect(player.qualities.map(\.height) == LadderCDN.pictureHeights)
        #expect(zip(player.qualities, player.qualities.dropFirst()).allSatisfy { $0.bandwidth < $1.bandwidth })
        player.quality = player.qualities[0]
        #expect(!player.isQualityAutomatic)
        try #require(await eventually { player.quality == player.qualities[0] })
        player.isQualityAutomatic = true
        #expect(player.isQualityAutomatic)
        await settle()
        #expect(shown.starts(with: [180, 90]), "\(shown)")
        withExtendedLifetime(observation) {}
    }

    @Test(arguments: LadderCDN.Form.allCases)
    func aSegmentThatTheCDNHasLostIsPlayedInAnotherRendition(_ form: LadderCDN.Form) async throws {
        let cdn = try await LadderCDN()
        let outcome = try await LadderViewer.play(cdn.url(path: "gone/" + form.manifest), limit: .seconds(9))
        #expect(outcome.failure == nil && outcome.starvations == 0)
        #expect(outcome.rungs.count > 4 && outcome.rungs == outcome.rungs.indices.map { $0 == 3 ? 1 : 2 })
        let truth = try await Self.truth(form, outcome.rungs)
        #expect(outcome.frames.count > 200 && truth.starts(with: outcome.frames.map(LadderCDN.sizeAndHash)))
    }

    /// Beyond what was chosen for, and back to what is there.
    @Test(arguments: LadderCDN.Form.allCases) @MainActor
    func seeksLandExactly(_ form: LadderCDN.Form) async throws {
        let cdn = try await LadderCDN()
        let player = VBPlayer(cdn: cdn.url(form))
        player.play()
        for target in [21.48, 0.52, 13.0] {
            let time = CMTime(seconds: target, preferredTimescale: 1000)
            await player.seek(to: time, tolerance: .zero)
            try #require(player.status == .readyToPlay, "\(player.error?.localizedDescription ?? "")")
            #expect(player.currentTime >= time)
            try #require(await eventually { player.currentTime.seconds > target + 0.5 })
        }
    }

    /// One viewer plays the best from the start; another begins with the least and changes when its window grows, and has what it
    /// plays then from the first; a third comes over a line that falls where the others are.
    @Test(.enabled(if: TestSwarm.isAvailable)) func viewersOfOneSwarmShareWhateverRenditionTheyPlay() async throws {
        let swarm = try await LadderSwarm(.fragmented)
        let url = swarm.cdn.url(.fragmented, isLimited: false)
        async let first = LadderViewer.play(url) { swarm.join(&$0) }
        try await Task.sleep(for: .seconds(2))
        async let second = LadderViewer.play(url) {
            swarm.join(&$0)
            $0.viewport = PixelSize(width: 160, height: 90)
        } onSegment: { session, segment in
            if segment == 2 { session.setViewport(nil) }
        }
        async let third = LadderViewer.play(swarm.cdn.url(.fragmented)) { swarm.join(&$0) }
        let outcomes = try await [first, second, third]
        for outcome in outcomes {
            #expect(outcome.failure == nil && outcome.figures.error == nil && outcome.starvations == 0)
            #expect(outcome.figures.chunksRejected == 0 && outcome.figures.recordMismatches == 0)
            #expect(outcome.figures.peersBanned == 0)
            #expect(outcome.frames.map(LadderCDN.sizeAndHash) == (try await Self.truth(.fragmented, outcome.rungs)))
        }
        let top = LadderCDN.pictureHeights.count - 1
        #expect(outcomes[0].rungs.allSatisfy { $0 == top })
        #expect(outcomes[1].rungs.first == 0 && outcomes[1].rungs.last == top, "\(outcomes[1].rungs)")
        // The line falls where three segments of 300 kB come from the first.
        #expect(outcomes[2].figures.bytes.peers > 500_000, "\(outcomes[2].rungs)")
        #expect(outcomes[1].figures.bytes.peers > 0)
    }

    /// ffmpeg's decode of what was played, each span of one rendition by itself.
    private static func truth(_ form: LadderCDN.Form, _ rungs: [Int]) async throws -> [String] {
        var truth: [String] = []
        var start = 0
        for index in 1...rungs.count where index == rungs.count || rungs[index] != rungs[start] {
            truth += try await LadderCDN.truth(form, rung: rungs[start], segments: start..<index)
            start = index
        }
        return truth
    }

    /// The rung of each segment as the decision log has it.
    private static func chosenRungs(_ outcome: LadderViewer.Outcome) -> [Int] {
        struct Line: Decodable {
            struct Choice: Decodable {
                struct Segment: Decodable { var index: Int }
                struct Decision: Decodable { var rung: Int, reason: String }
                var segment: Segment, decision: Decision
            }
            var value: Choice
        }
        var rungs: [Int: Int] = [:]
        for line in outcome.decisions where line.contains("\"kind\":\"choice\"") {
            guard let choice = (try? JSONDecoder().decode(Line.self, from: Data(line.utf8)))?.value else { continue }
            rungs[choice.segment.index] = choice.decision.rung
        }
        return rungs.sorted { $0.key < $1.key }.map(\.value)
    }
}
