import CoreModel
import SwarmProtocol
import Testing

@Suite struct LinkHandshakeTests {
    @Test(arguments: [NoisePattern.ik, .xx], [1, 3, 65_536])
    func bothSidesSeeTheOthersCertificateAndHello(pattern: NoisePattern, portion: Int) throws {
        var pair = LinkPair(pattern: pattern)
        pair.largestPortion = portion
        pair.run(for: .seconds(1))
        for (side, port, certificate) in [
            (pair.initiator, 22, LinkPair.certificates.responder),
            (pair.responder, 11, LinkPair.certificates.initiator),
        ] {
            #expect(side.events.count == 2)
            guard case .candidate(let candidate, let shown) = side.events[0] else {
                Issue.record("\(side.events[0])")
                continue
            }
            #expect(shown == certificate)
            guard case .established(let peer, let hello) = side.events[1] else {
                Issue.record("\(side.events[1])")
                continue
            }
            #expect(peer == candidate)
            #expect(hello.listenPort == port)
            #expect(hello.flags == .uploads)
            #expect(side.link.isEstablished)
        }
        #expect(pair.initiator.link.peer == pair.responder.link.identity.peerID)
        #expect(pair.responder.link.peer == pair.initiator.link.identity.peerID)
    }

    @Test func iKTakesOneAndAHalfRoundTrips() {
        var pair = LinkPair(pattern: .ik)
        let start = pair.now
        while !pair.responder.link.isEstablished { pair.run(for: .milliseconds(1)) }
        #expect(start.duration(to: pair.now) <= .milliseconds(61))
        #expect(pair.initiator.link.isEstablished)
    }

    @Test(arguments: [NoisePattern.ik, .xx])
    func aResponderThatRefusesSaysNothing(pattern: NoisePattern) {
        var pair = LinkPair(pattern: pattern)
        pair.responder.admits = false
        pair.run(for: .seconds(6))
        #expect(pair.responder.end == .refused(.certificate))
        // XX's second message can't be avoided; it says nothing to who doesn't know the swarm, and holds no certificate.
        #expect(pair.responder.transmissions.map(\.count) == (pattern == .ik ? [] : [2 + 32 + 48 + 16]))
        #expect(pair.initiator.end == .handshakeTimeout)
    }

    @Test(arguments: [NoisePattern.ik, .xx])
    func anInitiatorThatRefusesEndsTheLink(pattern: NoisePattern) {
        var pair = LinkPair(pattern: pattern)
        pair.initiator.admits = false
        pair.run(for: .seconds(6))
        #expect(pair.initiator.end == .refused(.certificate))
        #expect(!pair.responder.link.isEstablished)
        #expect(pair.responder.end == (pattern == .ik ? .handshakeTimeout : .remote(.certificate)))
    }

    @Test(arguments: [NoisePattern.ik, .xx])
    func anotherSwarmIsNotUnderstood(pattern: NoisePattern) {
        let stranger = LinkPair.identity(
            22, certificate: LinkPair.certificates.responder, swarm: SwarmID([UInt8](repeating: 8, count: 20))!)
        var pair = LinkPair(pattern: pattern, responderIdentity: stranger)
        pair.run(for: .seconds(6))
        switch pattern {
        case .ik: #expect(pair.responder.end == .handshake(.notAuthentic))
        case .xx: #expect(pair.initiator.end == .handshake(.notAuthentic))
        }
    }

    @Test(arguments: [NoisePattern.ik, .xx])
    func aLinkToOneselfIsRefused(pattern: NoisePattern) {
        let myself = LinkPair.identity(11, certificate: LinkPair.certificates.initiator)
        var pair = LinkPair(pattern: pattern, initiatorIdentity: myself, responderIdentity: myself)
        pair.run(for: .seconds(6))
        let end = pattern == .ik ? pair.responder.end : pair.initiator.end
        #expect(end == .refused(.myself))
    }

    @Test func theHandshakeHasATimeLimit() {
        var pair = LinkPair(pattern: .ik)
        pair.latency = .seconds(100)
        pair.run(for: .seconds(6))
        #expect(pair.initiator.end == .handshakeTimeout)
        #expect(pair.responder.end == .handshakeTimeout)
    }

    @Test(arguments: [[0x00, 1], [0x03, 1], [0x16, 0x03], [1, 0], [2, 2], Array("GE".utf8)])
    func anUnknownPreambleIsClosedSilently(bytes: [UInt8]) {
        var pair = LinkPair(pattern: .ik)
        pair.initiator.link.connectionLost()
        pair.responder.wire = [(pair.now, bytes + [0, 0, 0, 0])]
        pair.run(for: .milliseconds(10))
        #expect(pair.responder.end == .unsupported)
        #expect(pair.responder.transmissions.isEmpty)
    }

    @Test(arguments: [NoisePattern.ik, .xx])
    func everyAlteredByteOfAHandshakeEndsIt(pattern: NoisePattern) {
        var reference = LinkPair(pattern: pattern)
        reference.run(for: .seconds(1))
        // What the initiator said, with one bit of each byte in turn flipped, to a fresh responder of the same seed.
        let said = Array(reference.initiator.transmissions.joined())
        for index in said.indices {
            var altered = said
            altered[index] ^= 0x10
            var pair = LinkPair(pattern: pattern)
            pair.initiator.link.connectionLost()
            pair.responder.wire = [(pair.now, altered)]
            pair.run(for: .seconds(6))
            #expect(!pair.responder.link.isEstablished, "byte \(index)")
        }
    }

    @Test func anIdleLinkIsSmallAndHoldsNothingOnTheHeap() {
        #expect(MemoryLayout<PeerLink>.size <= 600)
        print("PeerLink: \(MemoryLayout<PeerLink>.size) bytes")
    }
}
