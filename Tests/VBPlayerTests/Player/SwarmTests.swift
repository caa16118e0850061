import CoreModel
import Foundation
import TestSupport
import Testing
@testable import VBPlayer

/// Players with the PDN on: a tracker, a signed catalogue and a CDN, all real.
@MainActor
@Suite(
    .enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"),
    .enabled(
        if: Programs.built("pdn") != nil && Programs.built("pdn-tracker") != nil,
        "the tools are not built beside the tests"),
    .timeLimit(.minutes(5)))
struct SwarmTests {
    @Test func aViewerPlaysWhatAnotherHas() async throws {
        let cdn = try await TestCDN()
        let folder = try TestFolder("vbplayer-swarm")
        let (tool, trackerTool) = (try #require(Programs.built("pdn")), try #require(Programs.built("pdn-tracker")))
        let manifest = cdn.url("dash/manifest.mpd")
        let catalogue = try await TestCDN.folder().appendingPathComponent("swarm.pdn")
        let key = folder.path("authority")
        let authority = String(
            decoding: try await ChildProcess.output(tool, ["keygen", "--role", "authority", "--out", key]).dropLast(),
            as: UTF8.self)
        try await ChildProcess.output(
            tool, ["sign", manifest, "--key", key, "--stream", "test", "--out", catalogue.path])
        let tracker = try await ChildProcess.start(
            trackerTool, ["--listen", "127.0.0.1:0", "--membership-key", folder.path("membership")])
        let line = await tracker.firstLine()
        let words = line.split(whereSeparator: \.isWhitespace)
        let address = try #require(words.first { $0.hasPrefix("ws://") }, "\(line)")
        let trackerKey = try #require(words.first { $0.hasPrefix("key=") }).dropFirst(4)
        let settings: [String: Any] = [
            VBEnablePDNKey: true, VBTrackerURLsKey: [String(address)], VBTrackerPublicKeyKey: String(trackerKey),
            VBTrustedAuthorityKeysKey: [authority], VBCatalogueURLKey: cdn.url("swarm.pdn"), VBStreamNameKey: "test",
        ]
        let listener = PlayerTests.Listener()
        let first = VBPlayer(cdn: manifest, settings: settings)
        first.delegate = listener
        first.play()
        try #require(await eventually { listener.finished == 1 || first.status == .failed })
        #expect(first.error == nil, "\(first.error?.localizedDescription ?? "")")
        let second = VBPlayer(cdn: manifest, settings: settings)
        second.delegate = listener
        second.play()
        try #require(await eventually { listener.finished == 2 || second.status == .failed })
        #expect(second.error == nil, "\(second.error?.localizedDescription ?? "")")
        let statistics = try #require(await second.statistics())
        let figures = try #require(try JSONSerialization.jsonObject(with: statistics) as? [String: Any])
        let bytes = try #require(figures["bytes"] as? [String: Any])
        #expect((bytes["peers"] as? Int ?? 0) > 0, "\(figures)")
        #expect((figures["chunksVerified"] as? Int ?? 0) > 0 && figures["chunksRejected"] as? Int == 0)
        #expect(figures["framesDecoded"] as? Int == 100)
        withExtendedLifetime((first, tracker, folder)) {}
    }
}
