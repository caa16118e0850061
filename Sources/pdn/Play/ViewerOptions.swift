import CommandLineSupport
import CoreModel
import Delivery
import EventLoop
import Foundation
import Scheduling

/// The options that `pdn play` and `pdn swarm` share.
enum ViewerOptions {
    static let all: [CommandOption] = [
        .value("pdn", "on|off", "whether peers are used (default off)"),
        .repeated("tracker", "URL", "a tracker; more than one are tried in turn"),
        .value("token", "TOKEN|@FILE", "the viewer's token"),
        .repeated("trust", "PUBLIC-KEY", "an authority whose signatures on segments count"),
        .value("tracker-key", "PUBLIC-KEY", "the tracker's membership key, when it is to be this one"),
        .value("stream", "NAME", "the operator's name of the stream (default: what the catalogue says)"),
        .value("catalogue", "URL", "the signed catalogue (default: the manifest's path + .pdn)"),
        .value("rendition", "ID", "the rendition to play, as 'pdn inspect' lists it"),
        .value("audio", "LANGUAGE", "the audio language to prefer"),
        .value("start", "TIME", "where playback starts"),
        .value("duration", "TIME", "how much is played at most"),
        .value("uplink", "RATE", "upload at most this fast"),
        .value("downlink", "RATE", "download from peers at most this fast"),
        .value("listen", "HOST:PORT", "where peers are accepted (default: every address, a free port)"),
        .value("frame-md5", "FILE", "one line per decoded video frame, as ffmpeg -f framemd5 writes them"),
        .value("stats", "FILE", "write the figures as JSON"),
        .value("decisions", "FILE", "write the scheduler's inputs and decisions, a JSON document a line"),
        .flag("json", "print the figures as JSON and nothing else on stdout"),
        .flag("verbose", "say on stderr what happens"),
    ]

    /// Reads the options into a session's configuration.
    static func configuration(_ arguments: CommandArguments, url: String) throws -> SessionConfiguration {
        var configuration = SessionConfiguration(url: url)
        switch arguments.value("pdn") ?? "off" {
        case "on": configuration.usesPeers = true
        case "off": configuration.usesPeers = false
        case let other: throw CommandFailure.usage("--pdn takes on or off, not \"\(other)\"")
        }
        configuration.trackerURLs = arguments.values("tracker")
        if let token = arguments.value("token") { configuration.token = try text(token) }
        configuration.trustedKeys = try arguments.values("trust").map { try key($0, option: "trust") }
        configuration.trackerKey = try arguments.value("tracker-key").map { try key($0, option: "tracker-key") }
        configuration.streamName = arguments.value("stream")
        configuration.catalogueURL = arguments.value("catalogue")
        configuration.renditionID = arguments.value("rendition")
        configuration.audioLanguage = arguments.value("audio")
        configuration.start = try arguments.duration("start") ?? .zero
        configuration.uploadBitsPerSecond = try arguments.bitsPerSecond("uplink")
        configuration.downloadBitsPerSecond = try arguments.bitsPerSecond("downlink")
        configuration.keepsDecisions = arguments.value("decisions") != nil
        if let address = arguments.value("listen") {
            guard let parsed = NetworkAddress(parsing: address) else {
                throw CommandFailure.usage("--listen takes HOST:PORT with a numeric host, not \"\(address)\"")
            }
            configuration.listenAddress = parsed
        }
        return configuration
    }

    private static func text(_ value: String) throws -> String {
        guard value.hasPrefix("@") else { return value }
        guard let data = FileManager.default.contents(atPath: String(value.dropFirst())) else {
            throw CommandFailure.badInput("the token file \(value.dropFirst()) can't be read")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func key(_ text: String, option: String) throws -> VerificationKey {
        guard let key = VerificationKey(hexadecimal: text) else {
            throw CommandFailure.usage("--\(option) takes 64 hexadecimal digits, as 'pdn keygen' prints them")
        }
        return key
    }
}
