public import CoreModel

/// A statement about a segment with the signatures of one or more authorities.
public struct SegmentRecord: Hashable, Sendable {
    /// What is signed.
    public let statement: RecordStatement
    /// The signatures, 1 to ``maximumSignatureCount``, by ascending key identifier, one a key.
    public let signatures: [RecordSignature]

    /// The most signatures a record carries.
    public static let maximumSignatureCount = 8

    /// Makes a record; `nil` when there is no signature, too many, or two of one key.
    public init?(statement: RecordStatement, signatures: [RecordSignature]) {
        let sorted = signatures.sorted { $0.keyID < $1.keyID }
        guard (1...Self.maximumSignatureCount).contains(sorted.count),
            zip(sorted, sorted.dropFirst()).allSatisfy({ $0.keyID < $1.keyID })
        else { return nil }
        self.statement = statement
        self.signatures = sorted
    }

    /// Makes a record with one signature.
    public init(
        signing statement: RecordStatement, with key: RoleKey, issued: UnixTime, expires: UnixTime
    ) {
        self.statement = statement
        signatures = [RecordSignature(signing: statement, with: key, issued: issued, expires: expires)]
    }

    /// The record with the signatures of another one over the same statement; `nil` for another statement, or when there
    /// would be too many. Where both have a key's, the later expiry stays.
    public func merged(with other: SegmentRecord) -> SegmentRecord? {
        guard other.statement == statement else { return nil }
        let all = Dictionary(
            (signatures + other.signatures).map { ($0.keyID, $0) },
            uniquingKeysWith: { $0.expires >= $1.expires ? $0 : $1 })
        return SegmentRecord(statement: statement, signatures: Array(all.values))
    }

    func encode(into writer: inout WireWriter) {
        statement.encode(into: &writer)
        writer.integer(UInt8(signatures.count))
        for signature in signatures { signature.encode(into: &writer) }
    }

    init(from reader: inout WireReader) throws(WireError) {
        statement = try RecordStatement(from: &reader)
        let count = Int(try reader.integer(UInt8.self))
        guard count > 0 else { throw .invalid(field: "signature count") }
        guard count <= Self.maximumSignatureCount else {
            throw .tooLarge(field: "signature count", value: count, limit: Self.maximumSignatureCount)
        }
        var signatures: [RecordSignature] = []
        for _ in 0..<count {
            let signature = try RecordSignature(from: &reader)
            if let last = signatures.last, last.keyID >= signature.keyID { throw .invalid(field: "signature order") }
            signatures.append(signature)
        }
        self.signatures = signatures
    }
}
