import Foundation
import TestSupport
import Testing
@testable import VBPlayer

/// What a swarm of players needs: a CDN with a signed catalogue, and a tracker.
final class TestSwarm: Sendable {
    /// Whether it can be set up here.
    static let isAvailable = Programs.built("pdn") != nil && Programs.built("pdn-tracker") != nil

    let cdn: TestCDN
    private let folder: TestFolder
    private let tracker: ChildProcess
    private let trackerURL: String
    private let trackerKey: String
    private let authority: String
    private let catalogue: String

    init() async throws {
        let (tool, trackerTool) = (try #require(Programs.built("pdn")), try #require(Programs.built("pdn-tracker")))
        cdn = try await TestCDN()
        folder = try TestFolder("vbplayer-swarm")
        catalogue = "swarm-\(UUID().uuidString).pdn"
        let key = folder.path("authority")
        authority = String(
            decoding: try await ChildProcess.output(tool, ["keygen", "--role", "authority", "--out", key]).dropLast(),
            as: UTF8.self)
        let output = try await TestCDN.folder().appending(path: catalogue).path
        try await ChildProcess.output(
            tool, ["sign", cdn.url("dash/manifest.mpd"), "--key", key, "--stream", "test", "--out", output])
        tracker = try await ChildProcess.start(
            trackerTool, ["--listen", "127.0.0.1:0", "--membership-key", folder.path("membership")])
        let words = await tracker.firstLine().split(whereSeparator: \.isWhitespace)
        trackerURL = String(try #require(words.first { $0.hasPrefix("ws://") }, "\(words)"))
        trackerKey = String(try #require(words.first { $0.hasPrefix("key=") }).dropFirst(4))
    }

    /// Plays the stream with the PDN on, and what `changes` set otherwise.
    func play(_ changes: [String: Any] = [:]) -> VBPlayer {
        let settings: [String: Any] = [
            VBEnablePDNKey: true, VBTrackerURLsKey: [trackerURL], VBTrackerPublicKeyKey: trackerKey,
            VBTrustedAuthorityKeysKey: [authority], VBCatalogueURLKey: cdn.url(catalogue), VBStreamNameKey: "test",
        ]
        let player = VBPlayer(
            cdn: cdn.url("dash/manifest.mpd"), settings: settings.merging(changes) { _, change in change })
        player.play()
        return player
    }

    /// Plays to the end and gives the figures, with the player, which goes on serving others.
    @MainActor func playToTheEnd(_ changes: [String: Any] = [:]) async throws -> (player: VBPlayer, figures: Figures) {
        let player = play(changes)
        return (player, try await finish(player))
    }

    /// Waits for the end of a player's stream and gives its figures.
    @MainActor func finish(_ player: VBPlayer) async throws -> Figures {
        let isOver = await eventually {
            player.status == .failed
                || player.rate == 0 && player.duration.isNumeric && player.currentTime >= player.duration
        }
        try #require(isOver && player.status == .readyToPlay, "\(player.error?.localizedDescription ?? "no end")")
        let data = try #require(await player.statistics())
        return try JSONDecoder().decode(Figures.self, from: data)
    }

    /// The figures that tests look at.
    struct Figures: Decodable, Sendable {
        struct Bytes: Decodable, Sendable {
            var cdn: Int
            var peers: Int
        }

        var bytes: Bytes
        var chunksVerified: Int
        var chunksRejected: Int
        var framesDecoded: Int
    }
}
