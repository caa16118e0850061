import CoreModel
import Delivery
import Foundation
import TestSupport
import Testing

/// The stream of a ``LadderCDN`` with a signed catalogue, and a tracker.
final class LadderSwarm: Sendable {
    let cdn: LadderCDN
    private let folder: TestFolder
    private let tracker: ChildProcess
    private let trackerURL: String
    private let authority: VerificationKey
    private let catalogue: String

    init(_ form: LadderCDN.Form) async throws {
        let (tool, trackerTool) = (try #require(Programs.built("pdn")), try #require(Programs.built("pdn-tracker")))
        cdn = try await LadderCDN()
        folder = try TestFolder("vbplayer-ladder-swarm")
        let key = folder.path("authority")
        let text = String(
            decoding: try await ChildProcess.output(tool, ["keygen", "--role", "authority", "--out", key]).dropLast(),
            as: UTF8.self)
        authority = try #require(VerificationKey(hexadecimal: text))
        let name = "swarm-\(UUID().uuidString).pdn"
        try await ChildProcess.output(
            tool,
            [
                "sign", cdn.url(form, isLimited: false), "--key", key, "--stream", "ladder", "--out",
                try await LadderCDN.folder().appending(path: name).path,
            ])
        catalogue = cdn.url(path: name)
        tracker = try await ChildProcess.start(
            trackerTool, ["--listen", "127.0.0.1:0", "--membership-key", folder.path("membership")])
        let words = await tracker.firstLine().split(whereSeparator: \.isWhitespace)
        trackerURL = String(try #require(words.first { $0.hasPrefix("ws://") }, "\(words)"))
    }

    /// Makes a viewer one of the swarm.
    func join(_ configuration: inout SessionConfiguration) {
        configuration.usesPeers = true
        configuration.trackerURLs = [trackerURL]
        configuration.trustedKeys = [authority]
        configuration.catalogueURL = catalogue
        configuration.streamName = "ladder"
    }
}
