public import CoreModel

/// Two statements by one key about one name with different bytes: anyone can check it, and it convicts the key.
public struct EquivocationProof: Hashable, Sendable {
    /// The key that signed both.
    public let keyID: KeyID
    /// The first statement and that key's signature of it.
    public let first: (statement: RecordStatement, signature: RecordSignature)
    /// The second one.
    public let second: (statement: RecordStatement, signature: RecordSignature)

    /// Compares two records; `nil` when they don't contradict each other or no key signed both.
    ///
    /// The result is a proof only once ``isValid(by:suite:)`` has said so.
    public init?(_ first: SegmentRecord, _ second: SegmentRecord) {
        guard first.statement.name == second.statement.name, first.statement.root != second.statement.root
        else { return nil }
        for left in first.signatures {
            guard let right = second.signatures.first(where: { $0.keyID == left.keyID }) else { continue }
            keyID = left.keyID
            self.first = (first.statement, left)
            self.second = (second.statement, right)
            return
        }
        return nil
    }

    /// Whether both signatures are `key`'s, whatever their times.
    public func isValid(by key: VerificationKey, suite: some CryptoSuite) -> Bool {
        KeyID(of: key, suite: suite) == keyID
            && first.signature.isValid(for: first.statement, by: key, suite: suite)
            && second.signature.isValid(for: second.statement, by: key, suite: suite)
    }

    public static func == (left: EquivocationProof, right: EquivocationProof) -> Bool {
        left.keyID == right.keyID && left.first == right.first && left.second == right.second
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(keyID)
        hasher.combine(first.statement)
        hasher.combine(second.statement)
    }
}
