public import CoreModel

/// One authority's signature of a record, with the time in which it counts.
///
/// The times stand outside the statement, so that several authorities sign the same statement at different times.
public struct RecordSignature: Hashable, Sendable {
    /// The signer's key.
    public var keyID: KeyID
    /// When it was signed; whole seconds.
    public var issued: UnixTime
    /// When it stops counting; whole seconds.
    public var expires: UnixTime
    /// The signature over key, times and statement.
    public var signature: Signature

    /// The bytes of the encoding.
    public static let encodedByteCount = 88

    /// Signs a statement.
    ///
    /// - Precondition: `key` is an authority's.
    public init(signing statement: RecordStatement, with key: RoleKey, issued: UnixTime, expires: UnixTime) {
        keyID = key.id
        self.issued = UnixTime(seconds: max(0, issued.seconds))
        self.expires = UnixTime(seconds: max(0, expires.seconds))
        let message = Self.message(statement.encoded, keyID: keyID, issued: issued, expires: expires)
        signature = key.sign(message, as: .record)
    }

    /// Whether this is `key`'s signature of `statement`; says nothing about the times.
    public func isValid(for statement: RecordStatement, by key: VerificationKey, suite: some CryptoSuite) -> Bool {
        let message = Self.message(statement.encoded, keyID: keyID, issued: issued, expires: expires)
        return SignatureContext.record.isValid(signature, of: message, by: key, suite: suite)
    }

    private static func message(
        _ statement: [UInt8], keyID: KeyID, issued: UnixTime, expires: UnixTime
    ) -> [UInt8] {
        var writer = WireWriter(capacity: 24 + statement.count)
        writer.integer(keyID.rawValue)
        writer.append(seconds: issued)
        writer.append(seconds: expires)
        writer.append(statement)
        return writer.bytes
    }

    func encode(into writer: inout WireWriter) {
        writer.integer(keyID.rawValue)
        writer.append(seconds: issued)
        writer.append(seconds: expires)
        writer.append(signature.first)
        writer.append(signature.second)
    }

    init(from reader: inout WireReader) throws(WireError) {
        keyID = KeyID(rawValue: try reader.integer())
        issued = try reader.seconds("issued")
        expires = try reader.seconds("expires")
        signature = try reader.signature()
    }
}
