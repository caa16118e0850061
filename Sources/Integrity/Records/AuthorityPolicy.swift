public import CoreModel

/// Which authorities a viewer believes about a stream, and how many must agree.
public struct AuthorityPolicy: Sendable {
    /// The stream that records must be for.
    public let stream: StreamID
    /// How many distinct trusted keys must have signed.
    public let threshold: Int
    /// The trusted keys that are left, by identifier.
    public private(set) var keys: [KeyID: VerificationKey]

    /// How far the clocks of signer and viewer may differ.
    public static let clockTolerance = Duration.seconds(60)

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - stream: Records for another one are refused.
    ///   - keys: The pinned public keys; of two with one identifier, which takes 2^32 work to find, the first counts.
    ///   - threshold: At least 1. More than there are keys means that nothing is believed.
    public init(stream: StreamID, keys: [VerificationKey], threshold: Int = 1, suite: some CryptoSuite) {
        self.stream = stream
        self.threshold = max(1, threshold)
        self.keys = Dictionary(
            keys.map { (KeyID(of: $0, suite: suite), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Stops believing a key, after an ``EquivocationProof`` or mismatching bytes.
    public mutating func drop(_ key: KeyID) { keys[key] = nil }

    /// Checks a record and its layer.
    ///
    /// Signatures of unknown keys are passed over; one of a known key that does not hold makes the record malformed, for
    /// an honest sender would not have passed it on.
    ///
    /// - Parameters:
    ///   - segment: What was received.
    ///   - now: The viewer's idea of the time.
    /// - Returns: The segment, ready for an assembly.
    /// - Complexity: One signature check for each trusted key that signed, up to the threshold, and a hash a stripe.
    public func verify(
        _ segment: SignedSegment, now: UnixTime, suite: some CryptoSuite
    ) throws(RecordError) -> VerifiedSegment {
        let statement = segment.statement
        guard statement.name.stream == stream else { throw .foreignStream(statement.name.stream) }
        try check(segment.record, now: now, suite: suite)
        guard segment.hasMatchingLayer(suite: suite) else { throw .wrongLayer }
        return VerifiedSegment(segment)
    }

    private func check(_ record: SegmentRecord, now: UnixTime, suite: some CryptoSuite) throws(RecordError) {
        var agreeing = 0
        var known = 0
        var hasExpired = false
        for signature in record.signatures {
            guard let key = keys[signature.keyID] else { continue }
            known += 1
            guard signature.issued <= now + Self.clockTolerance, now <= signature.expires + Self.clockTolerance else {
                hasExpired = true
                continue
            }
            guard signature.isValid(for: record.statement, by: key, suite: suite) else {
                throw .invalidSignature(signature.keyID)
            }
            agreeing += 1
            if agreeing == threshold { return }
        }
        if hasExpired { throw .expired }
        throw known == 0 ? .unknownAuthority : .tooFewSignatures(agreeing: agreeing, required: threshold)
    }
}

/// Why a record is not believed.
public enum RecordError: Error, Equatable, Sendable {
    /// It is for another stream.
    case foreignStream(StreamID)
    /// No trusted key signed it.
    case unknownAuthority
    /// Fewer trusted keys signed it than the policy wants.
    case tooFewSignatures(agreeing: Int, required: Int)
    /// A signature that names a trusted key is not that key's: whoever sent this lies or is broken.
    case invalidSignature(KeyID)
    /// It no longer counts, or not yet.
    case expired
    /// The stripe layer does not belong to the root: whoever sent this lies or is broken.
    case wrongLayer

    /// Whether only a dishonest or broken sender passes such a record on.
    public var provesMisconduct: Bool {
        switch self {
        case .invalidSignature, .wrongLayer: true
        case .foreignStream, .unknownAuthority, .tooFewSignatures, .expired: false
        }
    }
}
