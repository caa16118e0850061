import CoreModel
import Integrity
import Testing

struct MembershipTests {
    private let membership = Fixtures.key(.membership, 2)
    private let swarm = SwarmID(Array(0..<20) as [UInt8])!

    private func verify(
        _ certificate: MembershipCertificate, at offset: Int = 0, grace: Duration = .zero
    ) throws(CertificateError) {
        try certificate.verify(
            trusting: [membership.verificationKey], swarm: swarm, now: Fixtures.now + .seconds(offset), grace: grace,
            suite: suite)
    }

    @Test func `A certificate survives its encoding`() throws {
        let certificate = Fixtures.certificate(flags: [.leechOnly])
        #expect(certificate.encoded.count == MembershipCertificate.encodedByteCount)
        #expect(try MembershipCertificate(decoding: certificate.encoded[...]) == certificate)
        try verify(certificate)
        for count in 0..<certificate.encoded.count {
            #expect(throws: WireError.self) { try MembershipCertificate(decoding: certificate.encoded[..<count]) }
        }
    }

    @Test func `Any altered byte of a certificate is refused`() throws {
        let encoded = Fixtures.certificate().encoded
        for index in encoded.indices {
            var altered = encoded
            altered[index] ^= 0x10
            guard let certificate = try? MembershipCertificate(decoding: altered[...]) else { continue }
            #expect(throws: CertificateError.self, "byte \(index)") { try verify(certificate) }
        }
    }

    @Test func `A certificate counts in its time, its swarm and under its key only`() throws {
        let certificate = Fixtures.certificate()
        #expect(throws: CertificateError.notYetValid) { try verify(certificate, at: -61) }
        #expect(throws: CertificateError.expired) { try verify(certificate, at: 1861) }
        try verify(certificate, at: -60)
        try verify(certificate, at: 1860)
        try verify(certificate, at: 1861, grace: .seconds(3600))
        #expect(throws: CertificateError.foreignSwarm(SwarmID([UInt8](repeating: 7, count: 20))!)) {
            try verify(Fixtures.certificate(swarm: [UInt8](repeating: 7, count: 20)))
        }
        #expect(throws: CertificateError.unknownKey(membership.id)) {
            try certificate.verify(
                trusting: [Fixtures.authority.verificationKey], swarm: swarm, now: Fixtures.now, suite: suite)
        }
    }

    @Test func `A token survives its encoding and its text`() throws {
        let token = Fixtures.token()
        let secret = ViewerToken(
            stream: Fixtures.stream, viewer: Bytes16(high: 0, low: 1), issued: Fixtures.now, expires: Fixtures.now,
            nonce: 1, swarmSecret: .zero, signedBy: Fixtures.key(.token, 4))
        #expect(secret.encoded.count == ViewerToken.maximumByteCount)
        for token in [token, secret] {
            #expect(token.encoded.count <= 300)
            #expect(try ViewerToken(decoding: token.encoded[...]) == token)
            #expect(try ViewerToken(text: " \(token.text)\n") == token)
            #expect(token.text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
            for count in 0..<token.encoded.count {
                #expect(throws: WireError.self) { try ViewerToken(decoding: token.encoded[..<count]) }
            }
        }
    }

    @Test(arguments: ["", "=", "AA==", "not a token", "AAAA", "é", String(repeating: "A", count: 1000)])
    func `Text that is no token is refused`(text: String) {
        #expect(throws: WireError.self) { try ViewerToken(text: text) }
    }

    @Test func `A token's text has one spelling`() throws {
        let token = Fixtures.token()
        let last = try #require(token.text.last)
        // 132 bytes are a whole number of groups; with the secret 164 leave unused bits.
        let other = token.text.dropLast() + (last == "A" ? "B" : "A")
        #expect((try? ViewerToken(text: String(other))) != token)
        #expect(throws: WireError.self) { try ViewerToken(text: token.text + "=") }
        #expect(throws: WireError.self) { try ViewerToken(text: token.text.dropFirst(4) + "A") }
    }

    @Test func `A token counts for its stream, in its time and under its key only`() throws {
        let token = Fixtures.token()
        let keys = [Fixtures.key(.token, 4).verificationKey]
        func verify(_ token: ViewerToken, _ stream: StreamID?, _ offset: Int = 0) throws(TokenError) {
            try token.verify(trusting: keys, stream: stream, now: Fixtures.now + .seconds(offset), suite: suite)
        }
        try verify(token, nil)
        try verify(token, Fixtures.stream)
        let other = StreamIdentity.stream(named: "other", suite: suite)
        #expect(throws: TokenError.foreignStream(Fixtures.stream)) { try verify(token, other) }
        #expect(throws: TokenError.notYetValid) { try verify(token, nil, -61) }
        #expect(throws: TokenError.expired) { try verify(token, nil, 661) }
        var moved = token
        moved.stream = other
        #expect(throws: TokenError.invalidSignature) { try verify(moved, other) }
        moved = token
        moved.sessionLimit = 500
        #expect(throws: TokenError.invalidSignature) { try verify(moved, nil) }
        #expect(throws: TokenError.unknownKey(Fixtures.key(.token, 4).id)) {
            try token.verify(
                trusting: [membership.verificationKey], stream: nil, now: Fixtures.now, suite: suite)
        }
    }

    @Test func `A claim survives its encoding and its signature holds`() throws {
        let owner = PeerID(.zero)
        for assignments in [[], [Claim.Assignment(owner: owner, stripes: 3..<9)]] {
            let claim = Claim(
                root: .zero, certificate: Fixtures.certificate(), sequence: 3, waitedMilliseconds: 250,
                assignments: assignments, signedBy: Fixtures.key(.claim, 3))
            #expect(claim.encoded.count == 333 + 36 * assignments.count)
            #expect(try Claim(decoding: claim.encoded[...]) == claim)
            #expect(claim.isSigned(suite: suite))
            var altered = claim
            altered.waitedMilliseconds = 9
            #expect(!altered.isSigned(suite: suite))
            for count in 0..<claim.encoded.count {
                #expect(throws: WireError.self) { try Claim(decoding: claim.encoded[..<count]) }
            }
        }
    }

    @Test func `A claim's stripes are the claimer's unless it names owners`() {
        let owner = PeerID(.zero)
        var claim = Claim(
            root: .zero, certificate: Fixtures.certificate(), sequence: 3, waitedMilliseconds: 250,
            signedBy: Fixtures.key(.claim, 3))
        #expect(claim.stripes(of: claim.claimer, stripeCount: 4) == [0..<4])
        #expect(claim.stripes(of: owner, stripeCount: 4).isEmpty)
        claim.assignments = [Claim.Assignment(owner: owner, stripes: 0..<2)]
        #expect(claim.stripes(of: owner, stripeCount: 4) == [0..<2])
        #expect(claim.stripes(of: claim.claimer, stripeCount: 4).isEmpty)
    }

    @Test func `Draws lie in the unit interval and differ`() {
        let draws = (0..<1000 as Range<UInt64>).map { number in
            ElectionTicket.draw(nonce: Bytes16(high: 0, low: number), segment: .zero, suite: suite)
        }
        #expect(draws.allSatisfy { (0..<1).contains($0) })
        #expect(Set(draws).count == 1000)
        #expect(abs(draws.reduce(0, +) / 1000 - 0.5) < 0.05)
    }
}
