import CoreModel
import Cryptography
@testable import Delivery
import Integrity
import SwarmProtocol
import Testing

/// An honest peer and attackers, in Python from the documents alone, against real links.
@Suite(
    .timeLimit(.minutes(5)), .serialized,
    .enabled("needs python3 with cryptography, or the network to install it") { await SecondImplementation.isAvailable }
)
struct SecondImplementationTests {
    static let authority = TestAuthority()
    static let segments = [authority.segment(11, byteCount: 700_000), authority.segment(12, byteCount: 150_000)]

    /// A source, a victim that wants what the source has and does not know it, and the attacker's configuration.
    private func makeSwarm(
        wantsRecord: Bool = false, isKeyKnown: Bool = true, expires: UnixTime = TestAuthority.time + .seconds(1800),
        membership: TestAuthority = authority
    ) async throws -> (TestSwarm, SecondImplementation.Configuration) {
        let swarm = try TestSwarm()
        try await swarm.addViewer { $0.firstExchangeDelay = .seconds(1000) }
        try await swarm.addViewer {
            $0.firstExchangeDelay = .seconds(1000)
            $0.link.answerGrace = .seconds(1)
        }
        let suite = TestAuthority.suite
        let seed = Bytes32(words: (0xA77A, 1, 1, 1))
        let claimSeed = Bytes32(words: (0xA77A, 2, 2, 2))
        let claimKey = RoleKey(role: .claim, key: suite.signingKey(seed: claimSeed), suite: suite)
        let certificate = membership.certificate(
            for: suite.agreementKey(seed: seed), claimKey: claimKey, number: 999, expires: expires)
        let peers = await swarm.with { viewers in
            for (bytes, segment) in Self.segments { viewers[0].insert(bytes, segment) }
            if wantsRecord {
                viewers[1].wantedRecord = Self.segments[0].segment.name
            } else {
                for (_, segment) in Self.segments { viewers[1].want(segment) }
            }
            return viewers.map { viewer in
                SecondImplementation.Peer(
                    address: viewer.address.description,
                    key: isKeyKnown ? Hexadecimal.encode(viewer.peerID.publicKey.bytes) : nil)
            }
        }
        let names = Self.segments.map { _, segment -> [SecondImplementation.Field] in
            let name = segment.name
            return [
                .number(UInt64(name.epoch)), .text(name.rendition.description),
                .number(UInt64(name.position.kind.rawValue)), .number(name.position.section),
                .number(name.position.number), .number(name.position.byteOffset),
                .number(UInt64(name.position.part)),
            ]
        }
        let configuration = SecondImplementation.Configuration(
            seed: Hexadecimal.encode(seed.bytes), claimSeed: Hexadecimal.encode(claimSeed.bytes),
            certificate: Hexadecimal.encode(certificate.encoded),
            membershipKeys: [Self.authority.membershipKey.verificationKey.description],
            authorities: [Self.authority.recordKey.verificationKey.description], source: peers[0], victim: peers[1],
            names: names)
        return (swarm, configuration)
    }

    @Test(arguments: [true, false])
    func theDocumentsSufficeForAnHonestPeer(isKeyKnown: Bool) async throws {
        let (swarm, configuration) = try await makeSwarm(isKeyKnown: isKeyKnown)
        let report = try await SecondImplementation.run("honest", configuration, patience: 10)
        #expect(report.error == nil)
        #expect(report.segments?.map(\.bytes) == [700_000, 150_000])
        #expect(report.segments?.map(\.root) == Self.segments.map { $0.segment.root.description })
        await swarm.stop()
    }

    @Test func anHonestPeerServesToo() async throws {
        let (swarm, configuration) = try await makeSwarm()
        let report = try await SecondImplementation.run("truthful", configuration, patience: 3)
        #expect(report.bye == nil)
        await swarm.with { viewers in
            #expect(Self.segments.allSatisfy { viewers[1].isComplete($0.segment) })
            #expect(viewers[1].badChunks == 0)
        }
        await swarm.stop()
    }

    @Test(arguments: ["flipped-bit", "other-segment", "wrong-leaves", "short-leaves", "wrong-length"])
    func aLieIsCaughtAtOnceAndItsTellerBanned(mode: String) async throws {
        let (swarm, configuration) = try await makeSwarm()
        let report = try await SecondImplementation.run(mode, configuration, patience: 10)
        #expect(report.established == true)
        #expect(report.bye == 5)
        #expect(report.again?.established == false)
        await swarm.with { viewers in
            #expect(viewers[1].badChunks == 1)
            #expect(viewers[1].manager.bans.count == 1)
            // Nothing of what it sent is there.
            #expect(viewers[1].store.assemblies.values.allSatisfy { $0.verified.isEmpty })
        }
        await swarm.stop()
    }

    @Test(arguments: [
        ("forged-record", false), ("spoofed-record", true), ("other-record", true), ("other-stream-record", true),
        ("other-epoch-record", true), ("other-rendition-record", true), ("wrong-layer-record", true),
    ])
    func aRecordThatIsNotTheOneAskedForIsNotBelieved(mode: String, isBanned: Bool) async throws {
        let (swarm, configuration) = try await makeSwarm(wantsRecord: true)
        let report = try await SecondImplementation.run(mode, configuration, patience: 2)
        #expect(report.recordRequests == 1)
        #expect(report.bye == (isBanned ? 5 : nil))
        await swarm.with { viewers in
            #expect(viewers[1].refusedRecords == 1)
            #expect(viewers[1].acceptedRecords.isEmpty)
        }
        await swarm.stop()
    }

    @Test func aTrueRecordIsBelieved() async throws {
        let (swarm, configuration) = try await makeSwarm(wantsRecord: true)
        let report = try await SecondImplementation.run("truthful", configuration, patience: 2)
        #expect(report.recordRequests == 1)
        await swarm.with { viewers in #expect(viewers[1].acceptedRecords.count == 1) }
        await swarm.stop()
    }

    @Test(arguments: [
        ("unsolicited-data", 3), ("unsolicited-leaves", 3), ("unsolicited-record", 3), ("unsolicited-reject", 3),
        ("unknown-frame", 2), ("truncated-frame", 2), ("empty-data", 2), ("second-hello", 1), ("flood", 4),
        ("request-flood", 4), ("altered-message", nil),
    ])
    func whatNobodyAskedForEndsTheLink(mode: String, code: Int?) async throws {
        let (swarm, configuration) = try await makeSwarm()
        let report = try await SecondImplementation.run(mode, configuration, patience: 10)
        #expect(report.established == true)
        #expect(report.tolerated == nil)
        #expect(report.bye == code)
        let isGone = try await swarm.wait { $0[1].manager.neighbourhood.links.isEmpty }
        #expect(isGone)
        await swarm.stop()
    }

    @Test func whoClaimsAndNeverDeliversIsDropped() async throws {
        let (swarm, configuration) = try await makeSwarm()
        await swarm.with { $0[1].timeLeft = .milliseconds(500) }
        let report = try await SecondImplementation.run("never-deliver", configuration, patience: 10)
        #expect(report.bye == 11)
        #expect(report.cancels ?? 0 > 0)
        await swarm.with { viewers in
            #expect(viewers[1].timeouts > 0)
            // Its claims were good; that nothing followed is for the scheduler to see.
            #expect(viewers[1].claims.count == 2)
            #expect(viewers[1].manager.bans.count == 0)
        }
        await swarm.stop()
    }

    @Test func whoDripsIsCancelledInTime() async throws {
        let (swarm, configuration) = try await makeSwarm()
        await swarm.with { $0[1].timeLeft = .seconds(2) }
        let report = try await SecondImplementation.run("drip", configuration, patience: 6)
        #expect(report.cancels ?? 0 > 0)
        await swarm.with { viewers in
            #expect(viewers[1].timeouts > 0)
            // What came was good, and is kept.
            #expect(viewers[1].store.assemblies.values.contains { !$0.verified.isEmpty })
        }
        await swarm.stop()
    }

    @Test(arguments: ["stolen-certificate", "altered-certificate"], [true, false])
    func aCertificateThatIsNotOnesOwnOpensNothing(mode: String, isKeyKnown: Bool) async throws {
        let (swarm, configuration) = try await makeSwarm(isKeyKnown: isKeyKnown)
        let report = try await SecondImplementation.run(mode, configuration, patience: 10)
        #expect(report.established == false)
        #expect(report.bye == nil)
        await swarm.with { viewers in #expect(viewers[1].ready.isEmpty) }
        await swarm.stop()
    }

    @Test func anExpiredOrForeignCertificateOpensNothing() async throws {
        for (expires, membership) in [
            (TestAuthority.time + .seconds(-120), Self.authority),
            (TestAuthority.time + .seconds(1800), TestAuthority(seed: 77)),
        ] {
            let (swarm, configuration) = try await makeSwarm(expires: expires, membership: membership)
            let report = try await SecondImplementation.run("as-configured", configuration, patience: 10)
            #expect(report.established == false)
            #expect(report.bye == nil)
            await swarm.stop()
        }
    }
}
