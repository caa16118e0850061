import CoreModel
import Foundation
import Testing
@testable import VBPlayer

/// Players with the PDN on: a tracker, a signed catalogue and a CDN, all real.
@MainActor
@Suite(
    .enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"),
    .enabled(
        if: BuiltTool("pdn") != nil && BuiltTool("pdn-tracker") != nil, "the tools are not built beside the tests"),
    .timeLimit(.minutes(2)))
struct SwarmTests {
    @Test func aViewerPlaysWhatAnotherHas() async throws {
        let cdn = try await TestCDN()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "vbplayer-swarm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (tool, trackerTool) = (try #require(BuiltTool("pdn")), try #require(BuiltTool("pdn-tracker")))
        let manifest = cdn.url("dash/manifest.mpd")
        let catalogue = try await TestCDN.folder().appendingPathComponent("swarm.pdn")
        let authority = try await tool.run(["keygen", "--role", "authority", "--out", folder.path + "/authority"])
        _ = try await tool.run(
            ["sign", manifest, "--key", folder.path + "/authority", "--stream", "test", "--out", catalogue.path])
        let (line, tracker) = try await trackerTool.start(
            ["--listen", "127.0.0.1:0", "--membership-key", folder.path + "/membership"])
        // A child inherits blocked signals: only this one is sure to end it.
        defer { kill(tracker.processIdentifier, SIGKILL) }
        let words = line.split(whereSeparator: \.isWhitespace)
        let address = try #require(words.first { $0.hasPrefix("ws://") }, "\(line)")
        let key = try #require(words.first { $0.hasPrefix("key=") }).dropFirst(4)
        let settings: [String: Any] = [
            VBEnablePDNKey: true, VBTrackerURLsKey: [String(address)], VBTrackerPublicKeyKey: String(key),
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
        withExtendedLifetime(first) {}
    }
}
