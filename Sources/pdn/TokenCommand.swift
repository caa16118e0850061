import CommandLineSupport
import CoreModel
import Cryptography
import Integrity

/// `pdn token`: mints a viewer token and prints it.
enum TokenCommand: Subcommand {
    static let name = "token"

    static let specification = CommandSpecification(
        name: "pdn token", summary: "mints a token that admits one viewer to the swarm of one stream",
        options: [
            .value("key", "FILE", "the token key, made by 'pdn keygen --role token'", isRequired: true),
            .value("stream", "NAME", "the stream's name, as given to 'pdn sign'", isRequired: true),
            .value(
                "viewer", "ID", "who watches: anything that names the viewer for you; only a hash is in the token",
                isRequired: true),
            .value("sessions", "N", "how many sessions of the viewer may run at a time; 1 unless given"),
            .value("expires", "DURATION", "how long the token opens sessions; 10min unless given"),
            .flag(
                "secret-swarm",
                "derive the swarm's name from a secret that only this key's tokens for the stream carry"),
            .flag("json", "print one JSON document"),
        ])

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        let suite = SystemCryptoSuite()
        let sessions = try arguments.integer("sessions", in: 1...65535, default: 1)
        let life = try arguments.duration("expires") ?? .seconds(600)
        guard life >= .seconds(1) else { throw CommandFailure.usage("--expires wants at least 1s") }
        let file = try KeyStorage.read(arguments.required("key"))
        let key = try KeyStorage.key(of: file, for: .token, path: arguments.required("key"), suite: suite)
        let stream = StreamIdentity.stream(named: arguments.required("stream"), suite: suite)
        var random = SystemRandom()
        let issued = WallClock.now
        let token = ViewerToken(
            stream: stream,
            viewer: ViewerToken.hash(ofViewer: arguments.required("viewer"), stream: stream, suite: suite),
            sessionLimit: UInt16(sessions), issued: issued, expires: issued + life, nonce: random.next(),
            swarmSecret: arguments.flag("secret-swarm") ? secret(of: stream, file: file, suite: suite) : nil,
            signedBy: key)
        guard arguments.flag("json") else {
            Terminal.print(token.text)
            return .done
        }
        Terminal.print([
            "token": .string(token.text), "stream": .string(stream.description),
            "issued": .integer(Int(token.issued.seconds)), "expires": .integer(Int(token.expires.seconds)),
            "sessions": .integer(sessions), "key": .string(key.verificationKey.description),
        ])
        return .done
    }

    /// The same for every token of a key and stream, so that all their viewers meet.
    private static func secret(of stream: StreamID, file: KeyFile, suite: SystemCryptoSuite) -> Bytes32? {
        Bytes32(
            suite.hmacBLAKE2b(key: file.seed.bytes, Array("pdn/1 swarm secret\0".utf8) + stream.value.bytes).prefix(32))
    }
}
