import CommandLineSupport
import CoreModel
import Cryptography
import EventLoop
import Foundation
import Integrity
import Synchronization
import TrackerCore
import TrackerProtocol
import TrackerServer
import WebSockets

/// `pdn-tracker`: admits viewers, certifies them, and tells them of each other.
enum TrackerCommand {
    static let version = "0.1.0"

    static let specification = CommandSpecification(
        name: "pdn-tracker", summary: "the tracker that viewers of a stream meet at",
        options: [
            .value(
                "listen", "HOST:PORT", "where HTTP and WebSockets are served (default 127.0.0.1:7070; port 0 picks one)"
            ),
            .value(
                "membership-key", "FILE",
                "the key that signs membership certificates; made on the first start (default pdn-tracker.key)"),
            .repeated("token-key", "PUBLIC-KEY", "a key whose viewer tokens admit; without one everybody is admitted"),
            .repeated(
                "trusted-proxy", "ADDRESS",
                "an IP address that forwards viewers: the last hop of its X-Forwarded-For is the viewer's address"),
            .value("max-viewers", "COUNT", "viewers in all swarms together (default 50000)"),
            .value("viewer-uplink", "RATE", "viewers upload no faster than this, such as 5Mbps"),
            .value("viewer-upload-percent", "PERCENT", "viewers upload at most this share of what they download"),
            .value("viewer-upload-per-day", "SIZE", "viewers upload at most this much a day, in whole MiB"),
            .value("viewer-peers", "COUNT", "viewers have links to at most so many others"),
            .flag("cdn-only", "viewers use no peers until they start again: the switch for an emergency"),
        ],
        notes: [
            "When it is ready it prints one line: listening http://HOST:PORT ws://HOST:PORT key=PUBLIC-KEY. /healthz says "
                + "ok, /stats gives the figures as JSON.",
            "What viewers are told to keep to tightens their own limits and never loosens them.",
        ])

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        let text = arguments.value("listen") ?? "127.0.0.1:7070"
        guard let address = NetworkAddress(parsing: text) else {
            throw CommandFailure.usage("--listen takes HOST:PORT with a numeric host, not \"\(text)\"")
        }
        var configuration = TrackerConfiguration()
        for text in arguments.values("token-key") {
            guard let key = VerificationKey(hexadecimal: text) else {
                throw CommandFailure.usage("--token-key takes 64 hexadecimal digits, as 'pdn keygen' prints them")
            }
            configuration.tokenKeys.append(key)
        }
        configuration.maximumMemberCount = try arguments.integer(
            "max-viewers", in: 1...1_000_000, default: configuration.maximumMemberCount)
        configuration.settings = try settings(arguments)
        var proxies = Set<Bytes16>()
        for text in arguments.values("trusted-proxy") {
            guard text.contains(where: { $0 == "." || $0 == ":" }),
                let address = NetworkAddress(numericHost: text, port: 0)
            else { throw CommandFailure.usage("--trusted-proxy takes a numeric IP address, not \"\(text)\"") }
            proxies.insert(address.host)
        }
        let key = try membershipKey(at: arguments.value("membership-key") ?? "pdn-tracker.key")
        if configuration.tokenKeys.isEmpty {
            Terminal.note("pdn-tracker: no token key is set: every viewer is admitted")
        }
        if let limit = raiseDescriptorLimit(), limit < UInt64(configuration.maximumMemberCount) {
            Terminal.note(
                "pdn-tracker: the system lets it open \(limit) files (ulimit -Hn), which is below --max-viewers "
                    + "\(configuration.maximumMemberCount)")
        }
        return try await serve(at: address, configuration, key, proxies)
    }

    /// What viewers are told to keep to.
    private static func settings(_ arguments: CommandArguments) throws -> RemoteSettings {
        func limit(_ name: String, upTo maximum: Int) throws -> UInt32? {
            guard arguments.value(name) != nil else { return nil }
            return UInt32(try arguments.integer(name, in: 0...maximum, default: 0))
        }
        var settings = RemoteSettings()
        settings.maximumUploadBitsPerSecond = try arguments.bitsPerSecond("viewer-uplink").map { UInt32(clamping: $0) }
        settings.maximumUploadPercent = try limit("viewer-upload-percent", upTo: 10_000)
        settings.maximumUploadMebibytesPerDay = try arguments.byteCount("viewer-upload-per-day").map {
            UInt32(clamping: $0 >> 20)
        }
        settings.maximumPeerCount = try limit("viewer-peers", upTo: 1000)
        settings.disablesPeers = arguments.flag("cdn-only")
        return settings
    }

    /// Lets the process open as many files as it may; gives their number, `nil` when it can't be had.
    private static func raiseDescriptorLimit() -> UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        let isRaised = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0
        return UInt64(isRaised ? raised.rlim_cur : limit.rlim_cur)
    }

    private static func membershipKey(at path: String) throws -> RoleKey {
        let suite = SystemCryptoSuite()
        if !FileManager.default.fileExists(atPath: path) {
            try KeyStorage.write(
                KeyFile(role: .membership, seed: SystemRandom.bytes32()), to: path, replacing: false)
        }
        return try KeyStorage.key(of: KeyStorage.read(path), for: .membership, path: path, suite: suite)
    }

    /// Serves until a signal ends it, and until the loop has closed all it had: the process does not exit under its feet.
    private static func serve(
        at address: NetworkAddress, _ configuration: TrackerConfiguration, _ key: RoleKey, _ proxies: Set<Bytes16>
    ) async throws -> ExitCode {
        let loop = try EventLoop()
        let outcome: Result<ExitCode, CommandFailure> = await withCheckedContinuation { continuation in
            let thread = Thread {
                let run = Run(loop: loop)
                loop.execute { run.start(at: address, configuration, key, proxies) }
                loop.run()
                continuation.resume(returning: run.outcome ?? .success(.done))
            }
            thread.name = "tracker"
            thread.start()
        }
        return try outcome.get()
    }

    /// What lives from the start to a signal.
    private final class Run: @unchecked Sendable {  // Made, used and let go on the loop's thread only.
        private let loop: EventLoop
        private var server: TrackerServer?
        private var signals: [SignalWatcher] = []
        private(set) var outcome: Result<ExitCode, CommandFailure>?

        init(loop: EventLoop) { self.loop = loop }

        func start(
            at address: NetworkAddress, _ configuration: TrackerConfiguration, _ key: RoleKey, _ proxies: Set<Bytes16>
        ) {
            do {
                let server = try TrackerServer(
                    loop: loop, at: address, configuration: configuration, key: key, trustedProxies: proxies,
                    onLog: { Terminal.note("pdn-tracker: " + $0) })
                self.server = server
                signals = [
                    try SignalWatcher(loop: loop, signal: SIGINT) { [unowned self] in end(.success(.interrupted)) },
                    try SignalWatcher(loop: loop, signal: SIGTERM) { [unowned self] in end(.success(.done)) },
                ]
                let place = server.localAddress?.description ?? address.description
                Terminal.print("listening http://\(place) ws://\(place) key=\(key.verificationKey)")
            } catch {
                end(.failure(.unreachable("\(error)")))
            }
        }

        private func end(_ result: Result<ExitCode, CommandFailure>) {
            outcome = result
            signals = []
            guard let server else { return loop.stop() }
            server.stop { [self] in
                self.server = nil
                loop.stop()
            }
        }
    }
}
