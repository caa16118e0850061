import CoreModel
import Cryptography
import Integrity
import Testing

@testable import SwarmProtocol

@Suite struct PeerTableTests {
    @Test func whatPeersSayOfAnAddressGivesWayToWhatIsKnown() throws {
        let peer = PeerID(Bytes32(words: (1, 2, 3, 4)))
        let addresses = (1...3).map { NetworkAddress(ipv4: 0x7F00_0001, port: UInt16($0)) }
        let now = MonotonicInstant.origin
        var generator = SeededGenerator(seed: 1)
        var directory = PeerDirectory()
        func first() throws -> PeerDirectory.Candidate { try #require(directory.all.first) }
        directory.insert(peer, at: addresses[0], from: .exchange, now: now)
        directory.insert(peer, at: addresses[1], from: .exchange, now: now)
        #expect(try first().address == addresses[0])
        directory.fail(peer, now: now, using: &generator)
        directory.insert(peer, at: addresses[1], from: .exchange, now: now)
        #expect(try first().address == addresses[1])
        // Not at once, and not as if nothing had been.
        #expect(try first().failureCount == 1 && first().nextAttempt > now)
        directory.insert(peer, at: addresses[2], from: .tracker, now: now)
        directory.fail(peer, now: now, using: &generator)
        directory.insert(peer, at: addresses[0], from: .exchange, now: now)
        #expect(try first().address == addresses[2])
        directory.remove(peer)
        // An address that answered is as good as the tracker's.
        directory.insert(peer, at: addresses[0], from: .exchange, now: now)
        directory.succeed(peer, at: addresses[0])
        directory.fail(peer, now: now, using: &generator)
        directory.insert(peer, at: addresses[1], from: .exchange, now: now)
        #expect(try first().address == addresses[0])
    }

    @Test func makersOfClaimsAreRememberedWhileTheyClaim() {
        var limiter = ClaimLimiter()
        let makers = (0...ClaimLimiter.claimerLimit).map { PeerID(Bytes32(words: (UInt64($0), 1, 1, 1))) }
        /// How many of `count` claims at one time are passed on.
        func admitted(_ count: Int, of maker: PeerID, afterSeconds seconds: Int) -> Int {
            let now = MonotonicInstant.origin.advanced(by: .seconds(seconds))
            return (0..<count).count { _ in limiter.admits(maker, now: now) }
        }
        let first = [0, 2].map { admitted(20, of: makers[0], afterSeconds: $0) }
        #expect(first == [8, 4])
        let others = makers[1..<ClaimLimiter.claimerLimit].map { admitted(1, of: $0, afterSeconds: 2) }
        #expect(others.allSatisfy { $0 == 1 })
        #expect(limiter.count == ClaimLimiter.claimerLimit)
        // There is room for one more when all but the first are as good as new.
        let last = [2, 3].map { admitted(1, of: makers[ClaimLimiter.claimerLimit], afterSeconds: $0) }
        #expect(last == [0, 1])
        #expect(limiter.count == 2)
    }

    @Test func anExchangedAddressIsTheTrackersOrANeighbours() {
        let (loopback, near) = (NetworkAddress(ipv4: 0x7F00_0001, port: 1), NetworkAddress(ipv4: 0xC0A8_0105, port: 1))
        let far = NetworkAddress(ipv4: 0xCB00_7109, port: 1)
        let net = TestNeighbourhoods()
        let suite = TestNeighbourhoods.suite
        let claimKey = RoleKey(role: .claim, key: suite.signingKey(seed: .zero), suite: suite)
        let key = suite.agreementKey(seed: Bytes32(words: (1, 6, 6, 6)))
        func isMeaningful(_ address: NetworkAddress, seenAt observed: NetworkAddress, from place: NetworkAddress)
            -> Bool
        {
            let certificate = net.certificate(for: key, claimKey: claimKey, number: 1, at: observed)
            return Neighbourhood.isMeaningful(address, certificate, at: place)
        }
        #expect(isMeaningful(far, seenAt: far, from: near))
        #expect(!isMeaningful(far, seenAt: near, from: far))
        #expect(!isMeaningful(NetworkAddress(ipv4: 0, port: 1), seenAt: far, from: far))
        #expect(isMeaningful(near, seenAt: far, from: near))
        #expect(!isMeaningful(near, seenAt: near, from: far))
        #expect(isMeaningful(loopback, seenAt: far, from: loopback))
        #expect(!isMeaningful(loopback, seenAt: loopback, from: near))
    }
}
