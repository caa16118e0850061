import Foundation
import TestSupport
import Testing
@testable import VBPlayer

/// Players with the PDN on: a tracker, a signed catalogue and a CDN, all real.
@MainActor
@Suite(
    .serialized, .enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"),
    .enabled(if: TestSwarm.isAvailable, "the tools are not built beside the tests"), .timeLimit(.minutes(5)))
struct SwarmTests {
    @Test func aViewerPlaysWhatAnotherHas() async throws {
        let swarm = try await TestSwarm()
        let first = try await swarm.playToTheEnd()
        let second = try await swarm.playToTheEnd()
        #expect(second.figures.bytes.peers > 0, "\(second.figures)")
        #expect(second.figures.chunksVerified > 0 && second.figures.chunksRejected == 0)
        #expect(second.figures.framesDecoded == 100)
        withExtendedLifetime(first) {}
    }

    /// Settings of a viewer who takes nothing from others, though another has everything.
    struct Taker: CustomTestStringConvertible, @unchecked Sendable {  // The values are constants.
        var testDescription: String
        var settings: [String: Any]
    }

    nonisolated static let takers = [
        Taker(testDescription: "PDN off", settings: [VBEnablePDNKey: false]),
        Taker(
            testDescription: "foreign authority",
            settings: [VBTrustedAuthorityKeysKey: [String(repeating: "ab", count: 32)]]),
        Taker(testDescription: "no authority", settings: [VBTrustedAuthorityKeysKey: [String]()]),
        Taker(testDescription: "two signatures", settings: [VBRequiredSignaturesKey: 2]),
        Taker(testDescription: "another stream", settings: [VBStreamNameKey: "other"]),
        Taker(testDescription: "no tracker", settings: [VBTrackerURLsKey: [String]()]),
        Taker(
            testDescription: "foreign tracker key",
            settings: [VBTrackerPublicKeyKey: String(repeating: "cd", count: 32)]),
        Taker(testDescription: "no catalogue", settings: [VBCatalogueURLKey: "http://127.0.0.1:9/none.pdn"]),
    ]

    @Test func settingsThatKeepAViewerFromPeersDo() async throws {
        let swarm = try await TestSwarm()
        let first = try await swarm.playToTheEnd()
        // They play at the same time.
        let players = Self.takers.map { swarm.play($0.settings) }
        for (taker, player) in zip(Self.takers, players) {
            let figures = try await swarm.finish(player)
            #expect(figures.bytes.peers == 0, "\(taker.testDescription)")
            #expect(figures.bytes.cdn > 0 && figures.framesDecoded == 100, "\(taker.testDescription)")
        }
        withExtendedLifetime(first) {}
    }

    @Test func settingsThatKeepAViewerFromUploadingDo() async throws {
        let swarm = try await TestSwarm()
        var givers: [VBPlayer] = []
        let settings: [[String: Any]] = [[VBUploadCapKey: 0], [VBUploadShareKey: 0], [VBMeteredLinkKey: true]]
        for setting in settings { givers.append(try await swarm.playToTheEnd(setting).player) }
        let taker = try await swarm.playToTheEnd([VBUploadCapKey: 0])
        #expect(taker.figures.bytes.peers == 0 && taker.figures.framesDecoded == 100)
        withExtendedLifetime((givers, taker)) {}
    }

    nonisolated static let givers = [
        Taker(
            testDescription: "metered, with permission",
            settings: [VBMeteredLinkKey: true, VBUploadOnMeteredLinkKey: true]),
        Taker(testDescription: "local network alone", settings: [VBLANOnlyKey: true]),
        Taker(testDescription: "capped", settings: [VBUploadCapKey: 50_000_000, VBUploadShareKey: 50.0]),
    ]

    @Test(arguments: givers) func theseStillUpload(_ giver: Taker) async throws {
        let swarm = try await TestSwarm()
        let port = Int(try LoopbackPort.free())
        let first = try await swarm.playToTheEnd(giver.settings.merging([VBListenPortKey: port]) { $1 })
        #expect(ProcessView.listeningPorts().contains(UInt16(port)))
        let second = try await swarm.playToTheEnd([VBLANOnlyKey: true])
        #expect(second.figures.bytes.peers > 0)
        withExtendedLifetime(first) {}
    }

    @Test func aRenditionThatIsNotThereIsNamed() async throws {
        let cdn = try await TestCDN()
        let wrong = VBPlayer(cdn: cdn.url("dash/manifest.mpd"), settings: [VBRenditionKey: "none of them"])
        #expect(await eventually { wrong.status == .failed })
        let sentence = wrong.error?.localizedDescription ?? ""
        #expect(wrong.error?.code == VBErrorCode.wrongSettingValue.rawValue, "\(sentence)")
        #expect(sentence.contains("VBRenditionKey") && sentence.contains("none of them"), "\(sentence)")
    }
}
