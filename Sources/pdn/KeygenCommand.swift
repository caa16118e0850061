import CommandLineSupport
import CoreModel
import Cryptography
import Integrity

/// `pdn keygen`: makes an Ed25519 key file and prints the public key.
enum KeygenCommand: Subcommand {
    static let name = "keygen"

    static let specification = CommandSpecification(
        name: "pdn keygen", summary: "makes a signing key and prints its public half",
        options: [
            .value(
                "role", "authority|membership|token",
                "what the key signs: segments and catalogues, membership certificates, or viewer tokens",
                isRequired: true),
            .value("out", "FILE", "where the secret key goes (mode 0600)", isRequired: true),
            .flag("force", "replace FILE when it exists"),
        ])

    /// The roles that have files.
    private enum Role: String, CaseIterable { case authority, membership, token }

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        let choice: Role = try arguments.choice("role")
        let role: KeyRole =
            switch choice {
            case .authority: .authority
            case .membership: .membership
            case .token: .token
            }
        let file = KeyFile(role: role, seed: SystemRandom.bytes32())
        let key = try file.key(for: role, suite: SystemCryptoSuite())
        try KeyStorage.write(file, to: arguments.required("out"), replacing: arguments.flag("force"))
        Terminal.print(key.verificationKey.description)
        return .done
    }
}
