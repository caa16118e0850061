public import CoreModel

/// A peer's statement that a segment is on its way from the CDN, and who fetches which stripes: whoever hears it in time
/// does not fetch.
///
/// It carries the claimer's certificate, so that a peer who never met the claimer can check it, and the claimer's place in
/// the election with it.
public struct Claim: Hashable, Sendable {
    /// Stripes that one peer fetches.
    public struct Assignment: Hashable, Sendable {
        /// Who fetches.
        public var owner: PeerID
        /// What; not empty.
        public var stripes: Range<Int>

        /// Names an owner.
        public init(owner: PeerID, stripes: Range<Int>) {
            self.owner = owner
            self.stripes = stripes
        }
    }

    /// The root of the segment's tree.
    public var root: Digest
    /// The claimer's certificate.
    public var certificate: MembershipCertificate
    /// Which claim of this claimer's it is: names it in a seen-set together with the claimer.
    public var sequence: UInt64
    /// How long the claimer had waited when it fired, in milliseconds: its place in the election.
    public var waitedMilliseconds: UInt32
    /// Who fetches what, 0 to ``maximumAssignmentCount``; when empty the claimer fetches all.
    public var assignments: [Assignment]
    /// The signature by the certificate's claim key.
    public private(set) var signature: Signature

    /// The format's version: the first byte.
    public static let version: UInt8 = 1
    /// The most owners a claim names.
    public static let maximumAssignmentCount = 16
    /// The most bytes of an encoding.
    public static let maximumByteCount = 46 + 36 * maximumAssignmentCount + MembershipCertificate.encodedByteCount + 64

    /// Makes a claim.
    ///
    /// - Precondition: `key` is a claim key; there are at most ``maximumAssignmentCount`` assignments, none empty.
    public init(
        root: Digest, certificate: MembershipCertificate, sequence: UInt64, waitedMilliseconds: UInt32,
        assignments: [Assignment] = [], signedBy key: RoleKey
    ) {
        precondition(assignments.count <= Self.maximumAssignmentCount, "\(assignments.count) assignments")
        precondition(
            assignments.allSatisfy { !$0.stripes.isEmpty && $0.stripes.lowerBound >= 0 }, "an empty assignment")
        self.root = root
        self.certificate = certificate
        self.sequence = sequence
        self.waitedMilliseconds = waitedMilliseconds
        self.assignments = assignments
        signature = Signature(first: .zero, second: .zero)
        signature = key.sign(statement, as: .claim)
    }

    /// The claimer.
    public var claimer: PeerID { certificate.peer }

    /// The stripes of a segment that `peer` fetches by this claim; what a claim names beyond the segment's end is left out.
    public func stripes(of peer: PeerID, stripeCount: Int) -> [Range<Int>] {
        if assignments.isEmpty { return peer == claimer && stripeCount > 0 ? [0..<stripeCount] : [] }
        return assignments.filter { $0.owner == peer }.map { $0.stripes.clamped(to: 0..<stripeCount) }
            .filter { !$0.isEmpty }
    }

    private var statement: [UInt8] {
        var writer = WireWriter(capacity: Self.maximumByteCount)
        writer.integer(Self.version)
        writer.append(root)
        writer.integer(sequence)
        writer.integer(waitedMilliseconds)
        writer.integer(UInt8(assignments.count))
        for assignment in assignments {
            writer.append(assignment.owner.publicKey)
            writer.integer(UInt16(assignment.stripes.lowerBound))
            writer.integer(UInt16(assignment.stripes.count))
        }
        writer.append(certificate.encoded)
        return writer.bytes
    }

    /// The bytes that are sent.
    public var encoded: [UInt8] { statement + signature.bytes }

    /// Reads the next claim, without checking its signatures.
    public init(from reader: inout WireReader) throws(WireError) {
        guard try reader.integer(UInt8.self) == Self.version else { throw .invalid(field: "claim version") }
        root = try reader.digest()
        sequence = try reader.integer()
        waitedMilliseconds = try reader.integer()
        let count = Int(try reader.integer(UInt8.self))
        guard count <= Self.maximumAssignmentCount else {
            throw .tooLarge(field: "assignments", value: count, limit: Self.maximumAssignmentCount)
        }
        let limit = SegmentGeometry.maximumByteCount / SegmentGeometry.stripeByteCount
        var assignments: [Assignment] = []
        for _ in 0..<count {
            let owner = PeerID(try reader.bytes32())
            let first = Int(try reader.integer(UInt16.self))
            let count = Int(try reader.integer(UInt16.self))
            guard count > 0, first + count <= limit else { throw .invalid(field: "stripes") }
            assignments.append(Assignment(owner: owner, stripes: first..<first + count))
        }
        self.assignments = assignments
        certificate = try MembershipCertificate(from: &reader)
        signature = try reader.signature()
    }

    /// Reads a claim from exactly these bytes, without checking its signatures.
    public init(decoding bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }

    /// Whether the certificate's claim key signed this. The certificate is checked apart, once for many claims.
    public func isSigned(suite: some CryptoSuite) -> Bool {
        SignatureContext.claim.isValid(signature, of: statement, by: certificate.claimKey, suite: suite)
    }
}
