import CommandLineSupport
import CoreModel
import Delivery
import EventLoop
import Foundation
import VBPlayer

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
        .value("subtitles", "LANGUAGE", "the language of subtitles, which can't be shown yet"),
        .value("start", "TIME", "where playback starts"),
        .value("latency", "TIME", "how far behind the edge of a live stream to play (default: what its manifest says)"),
        .value("duration", "TIME", "how much is played at most"),
        .value("uplink", "RATE", "upload at most this fast"),
        .value("downlink", "RATE", "download from peers at most this fast"),
        .value("listen", "HOST:PORT", "where peers are accepted (default: every address, a free port)"),
        .repeated("set", "KEY=VALUE", "any setting of the library, by the name that VBPlayer(args:) takes"),
        .repeated("log", "DOMAIN=LEVEL", "how much a domain says on stderr (default: info, of peers errors alone)"),
        .value("frame-md5", "FILE", "one line per decoded video frame, as ffmpeg -f framemd5 writes them"),
        .value("stats", "FILE", "write the figures as JSON"),
        .value("decisions", "FILE", "write the scheduler's inputs and decisions, a JSON document a line"),
        .flag("json", "print the figures as JSON and nothing else on stdout"),
        .flag("verbose", "say on stderr what happens, whatever the domain"),
    ]

    /// Options that are settings under another name, or the same.
    private static let settings: [(option: String, setting: String)] = [
        ("pdn", VBEnablePDNKey), ("tracker", VBTrackerURLsKey), ("trust", VBTrustedAuthorityKeysKey),
        ("tracker-key", VBTrackerPublicKeyKey), ("stream", VBStreamNameKey), ("catalogue", VBCatalogueURLKey),
        ("rendition", VBRenditionKey), ("audio", VBAudioLanguageKey), ("uplink", VBUploadCapKey),
        ("downlink", VBDownloadCapKey), ("log", VBLogLevelsKey),
    ]

    /// Reads the options that are settings; those of `--set` count after the others.
    ///
    /// - Throws: A failure that names the option and the setting.
    static func settings(_ arguments: CommandArguments) throws -> PlayerSettings {
        var settings = PlayerSettings()
        for (option, setting) in Self.settings {
            for value in arguments.values(option) { try store(value, in: setting, of: &settings, option: option) }
        }
        if let token = arguments.value("token") { try store(token: token, in: &settings) }
        for assignment in arguments.values("set") {
            guard let separator = assignment.firstIndex(of: "="), separator != assignment.startIndex else {
                throw CommandFailure.usage("--set takes KEY=VALUE, not \"\(assignment.prefix(100))\"")
            }
            try store(
                String(assignment[assignment.index(after: separator)...]),
                in: String(assignment[..<separator]), of: &settings, option: "set")
        }
        return settings
    }

    /// Reads the options into a session's configuration.
    static func configuration(_ arguments: CommandArguments, url: String) throws -> SessionConfiguration {
        var configuration = try settings(arguments).sessionConfiguration(url: url)
        if let language = arguments.value("subtitles") {
            guard PlayerSettings.isLanguageTag(language) else {
                throw CommandFailure.usage("--subtitles takes a language tag such as de or pt-BR, not \"\(language)\"")
            }
            configuration.subtitleLanguage = language
        }
        configuration.start = try arguments.duration("start") ?? .zero
        configuration.liveLatency = try arguments.duration("latency")
        configuration.keepsDecisions = arguments.value("decisions") != nil
        if let address = arguments.value("listen") {
            guard let parsed = NetworkAddress(parsing: address) else {
                throw CommandFailure.usage("--listen takes HOST:PORT with a numeric host, not \"\(address)\"")
            }
            configuration.listenAddress = parsed
        }
        return configuration
    }

    /// Which lines of the sessions' logs are shown.
    static func log(_ arguments: CommandArguments) throws -> SessionLog {
        let isVerbose = arguments.flag("verbose")
        var levels: [VBLogDomain: VBLogLevel] = [:]
        for domain in VBLogDomain.allCases { levels[domain] = isVerbose ? .trace : domain == .peers ? .error : .info }
        return SessionLog(levels: levels.merging(try settings(arguments).logLevels) { _, named in named })
    }

    private static func store(
        _ value: String, in setting: String, of settings: inout PlayerSettings, option: String
    ) throws(CommandFailure) {
        do {
            try settings.store(name: setting, text: value)
        } catch {
            throw .usage("--\(option): \(sentence(error))")
        }
    }

    /// A token from the command line, or from the file that it names.
    private static func store(token: String, in settings: inout PlayerSettings) throws(CommandFailure) {
        guard token.hasPrefix("@") else {
            return try store(token, in: VBViewerTokenKey, of: &settings, option: "token")
        }
        let path = String(token.dropFirst())
        guard let data = FileManager.default.contents(atPath: path) else {
            throw .badInput("the token file \(path) can't be read")
        }
        do {
            let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            try settings.store(name: VBViewerTokenKey, text: text)
        } catch {
            throw .badInput("\(path): \(sentence(error))")
        }
    }

    /// An error as part of a line.
    private static func sentence(_ error: any Error) -> String {
        let text = error.localizedDescription
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
