public import CoreModel

/// The text of a key file: a role and a secret seed.
///
/// Three lines, in this order, with single spaces and a newline after each; `#` begins a comment line:
///
///     pdn-key 1
///     role authority
///     seed 64 hexadecimal digits
public struct KeyFile: Sendable {
    /// What the key may sign; ``KeyRole/claim`` never stands in a file.
    public let role: KeyRole
    /// The Ed25519 seed (RFC 8032, section 5.1.5: the private key).
    public let seed: Bytes32

    /// The longest text that is looked at.
    public static let maximumByteCount = 4096

    /// Makes the content of a new file.
    public init(role: KeyRole, seed: Bytes32) {
        self.role = role
        self.seed = seed
    }

    /// Reads a file's bytes.
    public init(parsing bytes: [UInt8]) throws(KeyFileError) {
        guard bytes.count <= Self.maximumByteCount else { throw .notAKeyFile }
        let text = String(decoding: bytes, as: UTF8.self)
        var fields: [[Substring]] = []
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            if !words.isEmpty { fields.append(words) }
        }
        guard let first = fields.first, first.first == "pdn-key" else { throw .notAKeyFile }
        guard first == ["pdn-key", "1"] else { throw .unknownVersion }
        guard fields.count == 3, fields[1].count == 2, fields[1][0] == "role", fields[2].count == 2,
            fields[2][0] == "seed"
        else { throw .malformed }
        guard let role = KeyRole(rawValue: String(fields[1][1])), role != .claim else { throw .unknownRole }
        guard let bytes = Hexadecimal.decode(fields[2][1]), let seed = Bytes32(bytes) else { throw .malformed }
        self.init(role: role, seed: seed)
    }

    /// The file's text.
    public var text: String {
        """
        pdn-key 1
        role \(role.rawValue)
        seed \(Hexadecimal.encode(seed.bytes))

        """
    }

    /// The key that the file holds.
    ///
    /// - Throws: ``KeyFileError/wrongRole(expected:actual:)`` when it is a key for something else.
    public func key(for role: KeyRole, suite: some CryptoSuite) throws(KeyFileError) -> RoleKey {
        guard role == self.role else { throw .wrongRole(expected: role, actual: self.role) }
        return RoleKey(role: role, key: suite.signingKey(seed: seed), suite: suite)
    }
}

/// Why a key file can't be used.
public enum KeyFileError: Error, Equatable, Sendable {
    /// The first line is not `pdn-key`.
    case notAKeyFile
    /// A later version's file.
    case unknownVersion
    /// A role that does not exist.
    case unknownRole
    /// A line is missing, doubled or misspelt.
    case malformed
    /// A key for something else.
    case wrongRole(expected: KeyRole, actual: KeyRole)
}
