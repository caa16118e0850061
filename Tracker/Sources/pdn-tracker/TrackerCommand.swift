import CommandLineSupport
import CoreModel
import Cryptography
import EventLoop
import Foundation
import Integrity
import Synchronization
import TrackerCore
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
            .value("max-viewers", "COUNT", "viewers in all swarms together (default 50000)"),
        ],
        notes: [
            "When it is ready it prints one line: listening http://HOST:PORT ws://HOST:PORT key=PUBLIC-KEY. /healthz says "
                + "ok, /stats gives the figures as JSON."
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
        let key = try membershipKey(at: arguments.value("membership-key") ?? "pdn-tracker.key")
        if configuration.tokenKeys.isEmpty {
            Terminal.note("pdn-tracker: no token key is set: every viewer is admitted")
        }
        return try await serve(at: address, configuration, key)
    }

    private static func membershipKey(at path: String) throws -> RoleKey {
        let suite = SystemCryptoSuite()
        if !FileManager.default.fileExists(atPath: path) {
            try KeyStorage.write(
                KeyFile(role: .membership, seed: SystemRandom.bytes32()), to: path, replacing: false)
        }
        return try KeyStorage.key(of: KeyStorage.read(path), for: .membership, path: path, suite: suite)
    }

    /// Serves until a signal ends it.
    private static func serve(
        at address: NetworkAddress, _ configuration: TrackerConfiguration, _ key: RoleKey
    ) async throws -> ExitCode {
        let loop = try EventLoop.startThread(named: "tracker")
        let outcome: Result<ExitCode, CommandFailure> = await withCheckedContinuation { continuation in
            loop.execute {
                let run = Run(loop: loop) { continuation.resume(returning: $0) }
                run.start(at: address, configuration, key)
            }
        }
        loop.stop()
        return try outcome.get()
    }

    /// What lives from the start to a signal; on the loop.
    private final class Run {
        private let loop: EventLoop
        private var onEnd: ((Result<ExitCode, CommandFailure>) -> Void)?
        private var server: TrackerServer?
        private var signals: [SignalWatcher] = []

        init(loop: EventLoop, onEnd: @escaping (Result<ExitCode, CommandFailure>) -> Void) {
            self.loop = loop
            self.onEnd = onEnd
        }

        func start(at address: NetworkAddress, _ configuration: TrackerConfiguration, _ key: RoleKey) {
            do {
                let server = try TrackerServer(loop: loop, at: address, configuration: configuration, key: key)
                self.server = server
                // The closures keep the run alive until one of them has been called.
                signals = [
                    try SignalWatcher(loop: loop, signal: SIGINT) { self.end(.success(.interrupted)) },
                    try SignalWatcher(loop: loop, signal: SIGTERM) { self.end(.success(.done)) },
                ]
                let place = server.localAddress?.description ?? address.description
                Terminal.print("listening http://\(place) ws://\(place) key=\(key.verificationKey)")
            } catch {
                end(.failure(.unreachable("\(error)")))
            }
        }

        private func end(_ result: Result<ExitCode, CommandFailure>) {
            let notify = onEnd
            onEnd = nil
            signals = []
            guard let server else {
                notify?(result)
                return
            }
            server.stop { [self] in
                self.server = nil
                notify?(result)
            }
        }
    }
}
