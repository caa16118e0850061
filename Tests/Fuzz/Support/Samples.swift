public import CoreModel
public import Integrity

/// Valid signed things, for ``FuzzInput/bytes(orEditing:)``.
public enum Samples {
    private static let suite = PermissiveSuite()
    private static let issued = UnixTime(seconds: 1000)
    private static let expires = UnixTime(seconds: 1_000_000)

    /// The stream that they are about.
    public static let stream = StreamID(Bytes16(high: 0, low: 0))
    /// The public key whose signatures they bear.
    public static let key = VerificationKey(.zero)

    private static func key(_ role: KeyRole) -> RoleKey {
        RoleKey(role: role, key: suite.signingKey(seed: .zero), suite: suite)
    }

    /// A segment of three stripes.
    public static func segment(number: UInt64) -> SignedSegment {
        let tree = SegmentTree(
            byteCount: 300_000, stripeLayer: Array(repeating: Digest(.zero), count: 3), suite: suite)!
        return SignedSegment(
            name: SegmentName(
                stream: stream, rendition: RenditionKey(rawValue: 0),
                position: SegmentPosition(kind: .media, number: number)),
            duration: MediaTime(seconds: 2), tree: tree, key: key(.authority), issued: issued,
            expires: expires)
    }

    /// A membership certificate.
    public static let certificate = MembershipCertificate(
        peer: PeerID(.zero), claimKey: key, swarm: SwarmID([UInt8](repeating: 0, count: 20))!,
        observedHost: Bytes16(high: 0, low: 1), pseudonym: Bytes16(high: 0, low: 2), nonce: Bytes16(high: 0, low: 3),
        notBefore: issued, expires: expires, signedBy: key(.membership))

    /// A claim of three owners.
    public static let claim = Claim(
        root: Digest(.zero), certificate: certificate, sequence: 1, waitedMilliseconds: 500,
        assignments: (0..<3).map { Claim.Assignment(owner: PeerID(.zero), stripes: $0..<$0 + 1) },
        signedBy: key(.claim))

    /// A token with a swarm secret.
    public static let token = ViewerToken(
        stream: stream, viewer: Bytes16(high: 1, low: 2), issued: issued, expires: expires, nonce: 1,
        swarmSecret: .zero, signedBy: key(.token))

    /// A catalogue of five segments.
    public static let catalogue: [UInt8] = {
        let writer = CatalogueWriter(
            stream: stream, title: "title",
            renditions: [CatalogueRendition(key: RenditionKey(rawValue: 0), line: "hls video 640x360")], issued: issued,
            expires: expires)
        let segments = (1...5).map { segment(number: UInt64($0)) }
        do {
            return try writer.file(of: segments, signedBy: [key(.authority)], suite: suite)
        } catch {
            preconditionFailure("the sample catalogue: \(error)")
        }
    }()
}
