import CoreModel
import Cryptography
import Integrity

/// The real primitives.
let suite = SystemCryptoSuite()

/// Names, keys and bytes that the suites share.
enum Fixtures {
    /// The key of a role whose seed is one repeated byte.
    static func key(_ role: KeyRole, _ byte: UInt8) -> RoleKey {
        RoleKey(
            role: role, key: suite.signingKey(seed: Bytes32([UInt8](repeating: byte, count: 32))!), suite: suite)
    }

    /// The key that signs records.
    static let authority = key(.authority, 1)
    static let stream = StreamIdentity.stream(named: "test", suite: suite)
    static let now = UnixTime(seconds: 1_800_000_000)

    /// Byte i is (7 * i + (i >> 8) + 13 * (i >> 16)) mod 256.
    static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: 7 &* $0 &+ ($0 >> 8) &+ 13 &* ($0 >> 16)) }
    }

    static func name(_ number: UInt64, rendition: UInt64 = 5, epoch: UInt32 = 0) -> SegmentName {
        SegmentName(
            stream: stream, epoch: epoch, rendition: RenditionKey(rawValue: rendition),
            position: SegmentPosition(number: number))
    }

    static func tree(_ bytes: [UInt8]) -> SegmentTree {
        var hasher = MerkleHasher(suite: suite)
        _ = hasher.update(bytes[...])
        return hasher.finish()!
    }

    /// A record over `bytes`, signed and valid around ``now``.
    static func signed(_ bytes: [UInt8], name: SegmentName = name(1), key: RoleKey = authority) -> SignedSegment {
        SignedSegment(
            name: name, duration: MediaTime(ticks: 4, timescale: 1), tree: tree(bytes), key: key,
            issued: now + .seconds(-3600), expires: now + .seconds(3600))
    }

    static func verified(_ bytes: [UInt8]) throws -> VerifiedSegment {
        try policy().verify(signed(bytes), now: now, suite: suite)
    }

    static func policy(_ keys: [RoleKey] = [authority], threshold: Int = 1) -> AuthorityPolicy {
        AuthorityPolicy(stream: stream, keys: keys.map(\.verificationKey), threshold: threshold, suite: suite)
    }

    /// The leaves of a segment's stripe.
    static func leaves(_ bytes: [UInt8], stripe: Int) -> [Digest] {
        let geometry = SegmentGeometry(byteCount: bytes.count)!
        return geometry.chunkRange(ofStripe: stripe).map {
            suite.sha256(Array(bytes[geometry.byteRange(ofChunk: $0)]).span.bytes)
        }
    }

    static func certificate(
        expires: UnixTime = now + .seconds(1800), swarm: [UInt8] = Array(0..<20),
        flags: MembershipCertificate.Flags = []
    ) -> MembershipCertificate {
        MembershipCertificate(
            peer: PeerID(Bytes32([UInt8](repeating: 0xA1, count: 32))!),
            claimKey: key(.claim, 3).verificationKey, swarm: SwarmID(swarm)!,
            observedHost: NetworkAddress(ipv4: 0xCB00_7107, port: 0).host, pseudonym: Bytes16(high: 1, low: 2),
            nonce: Bytes16(high: 3, low: 4), notBefore: now, expires: expires, flags: flags,
            signedBy: key(.membership, 2))
    }

    static func token() -> ViewerToken {
        ViewerToken(
            stream: stream, viewer: ViewerToken.hash(ofViewer: "alice", stream: stream, suite: suite), sessionLimit: 2,
            issued: now, expires: now + .seconds(600), nonce: 99, signedBy: key(.token, 4))
    }
}
