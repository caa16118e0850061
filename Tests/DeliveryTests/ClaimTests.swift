import CoreModel
import Cryptography
@testable import Delivery
import EventLoop
import Integrity
import Testing

@Suite(.timeLimit(.minutes(1))) struct ClaimTests {
    private final class Sink: SessionSink {
        func session(_ session: ViewerSession, did event: SessionEvent) {}
        func playback(at now: MonotonicInstant) -> PlaybackReport { PlaybackReport() }
    }

    @Test func aClaimOfAnUnknownSegmentGoesNoFurther() async throws {
        let loop = try EventLoop.startThread(named: "claims")
        defer { loop.stop() }
        let isPassedOn = await withCheckedContinuation { continuation in
            loop.execute {
                let suite = TestTitle.suite
                func key(_ role: KeyRole, _ number: UInt64) -> RoleKey {
                    RoleKey(
                        role: role, key: suite.signingKey(seed: Bytes32(words: (number, 2, 2, 2))), suite: suite)
                }
                let claimKey = key(.claim, 1)
                let time = UnixTime(seconds: 1_800_000_000)
                let certificate = MembershipCertificate(
                    peer: PeerID(Bytes32(words: (1, 1, 1, 1))), claimKey: claimKey.verificationKey,
                    swarm: SwarmID([UInt8](repeating: 3, count: 20))!, observedHost: Bytes16(high: 0, low: 1),
                    pseudonym: Bytes16(high: 1, low: 1), nonce: Bytes16(high: 1, low: 2), notBefore: time,
                    expires: time + .seconds(600), flags: [], signedBy: key(.membership, 2))
                let claim = Claim(
                    root: Digest(Bytes32(words: (9, 9, 9, 9))), certificate: certificate, sequence: 1,
                    waitedMilliseconds: 60_000, signedBy: claimKey)
                let sink = Sink()
                let session = ViewerSession(
                    configuration: SessionConfiguration(url: "http://127.0.0.1:9/"), loop: loop, sink: sink)
                let membership = SwarmMembership(session: session)
                continuation.resume(returning: membership.received(claim, from: certificate.peer))
                session.stop()
            }
        }
        #expect(!isPassedOn)
    }
}
