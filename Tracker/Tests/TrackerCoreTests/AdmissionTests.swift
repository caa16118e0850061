import CoreModel
import Cryptography
import Integrity
import Testing
import TrackerCore
import TrackerProtocol

/// Who is let in, as whom, and for how long.
struct AdmissionTests {
    @Test func `A viewer that signs the challenge gets a certificate that verifies`() throws {
        var script = Script()
        let viewer = Viewer(1, flags: [.metered])
        let welcome = try #require(script.join(viewer).welcome)
        #expect(welcome.membershipKey == Script.membershipKey.verificationKey)
        #expect(welcome.swarmSecret.isEmpty && welcome.swarmSize == 1 && welcome.serverTime == script.time)
        #expect(welcome.observedAddress == NetworkAddress(ipv4: 0x7F00_0001, port: viewer.port))
        let certificate = try MembershipCertificate(decoding: welcome.certificate.bytes[...])
        try certificate.verify(
            trusting: [welcome.membershipKey], swarm: welcome.swarm, now: script.time, suite: suite)
        #expect(certificate.peer == viewer.peer && certificate.claimKey == viewer.request.claimKey)
        #expect(certificate.flags == .leechOnly && certificate.observedHost == viewer.address.host)
        #expect(welcome.swarm == StreamIdentity.swarm(of: viewer.stream, secret: [], suite: suite))
        #expect((1620...1980).contains(welcome.certificate.validForSeconds))
        #expect(script.store.statistics.joins == 1 && script.store.statistics.viewers == 1)
    }

    @Test func `Each of the operator's limits goes with the welcome`() throws {
        var settings = RemoteSettings()
        settings.maximumUploadBitsPerSecond = 1
        settings.maximumUploadPercent = 2
        settings.maximumUploadMebibytesPerDay = 3
        settings.maximumPeerCount = 4
        settings.disablesPeers = true
        var script = Script { $0.settings = settings }
        let welcome = try #require(script.join(Viewer(1)).welcome)
        #expect(welcome.settings == settings)
    }

    @Test func `A signature over another challenge, port or stream is refused`() {
        for change in 0..<3 {
            var script = Script()
            let viewer = Viewer(1)
            let challenge = script.connect(1)
            var signed = viewer.request
            if change == 1 { signed.listenPort += 1 }
            if change == 2 { signed.stream = StreamID(Bytes16(high: 9, low: 9)) }
            let signature = viewer.claimKey.sign(
                ControlProtocol.joinStatement(challenge: change == 0 ? .zero : challenge, request: signed))
            script.send(.join(viewer.request, signature: signature), on: 1)
            #expect(script.take(1).error == .signatureInvalid)
            #expect(script.closed == [1] && script.store.statistics.viewers == 0)
            #expect(script.store.statistics.refusals == 1)
        }
    }

    @Test func `Before the join nothing else is answered, and a second join ends the connection`() {
        for message in [
            ViewerMessage.report(ViewerReport(isPlaying: true, positionMilliseconds: 0)), .renew, .wantPeers(count: 5),
        ] {
            var script = Script()
            _ = script.connect(1)
            script.send(message, on: 1)
            #expect(script.take(1) == [.error(ControlError(code: .outOfOrder, text: "not joined"))])
            #expect(script.closed == [1])
        }
        var script = Script()
        script.join(Viewer(1))
        script.send(.join(Viewer(1).request, signature: Viewer(1).claimKey.sign([])), on: 1)
        #expect(script.take(1).error == .outOfOrder)
        #expect(script.closed == [1] && script.store.statistics.viewers == 0)
    }

    @Test func `What can't be read ends the connection and the membership`() {
        for bytes in [[], [0x7F], [1], [2, 0], [5, 0], [UInt8](repeating: 2, count: 9000)] as [[UInt8]] {
            var script = Script()
            script.join(Viewer(1))
            script.send(bytes, on: 1)
            #expect(script.take(1).error == .malformed)
            #expect(script.closed == [1] && script.store.statistics.viewers == 0)
            script.send(.renew, on: 1)
            #expect(script.take(1).isEmpty)
        }
        var script = Script()
        _ = script.connect(1)
        script.send([1, 0, 2], on: 1)
        #expect(script.take(1).error == .unsupportedVersion)
    }

    @Test func `A connection that does not join is closed after fifteen seconds`() {
        var script = Script()
        _ = script.connect(1)
        script.pass(15)
        #expect(script.closed.isEmpty)
        script.pass(1)
        #expect(script.take(1).error == .silent)
        #expect(script.closed == [1])
    }

    @Test func `A viewer that is silent for three minutes is removed; any message keeps it`() {
        var script = Script()
        script.join(Viewer(1))
        script.join(Viewer(2))
        script.pass(150)
        script.send(.wantPeers(count: 1), on: 2)
        script.pass(31)
        #expect(script.take(1).error == .silent && script.closed == [1])
        #expect(script.store.statistics.viewers == 1)
        #expect(script.take(2).error == nil)
    }

    @Test func `Leaving closes; stopping tells everybody`() {
        var script = Script()
        script.join(Viewer(1))
        script.send(.leave, on: 1)
        #expect(script.closed == [1] && script.take(1).isEmpty)
        script.join(Viewer(2))
        _ = script.connect(3)
        script.stop()
        #expect(script.closed == [1, 2, 3])
        #expect(script.take(2).error == .shuttingDown && script.take(3).error == .shuttingDown)
    }

    @Test func `A renewed certificate keeps pseudonym and nonce and lives longer`() throws {
        var script = Script()
        let first = try certificate(script.join(Viewer(1)).welcome?.certificate)
        script.pass(100)
        _ = script.take(1)
        script.send(.renew, on: 1)
        guard case .certificate(let issued) = script.take(1).last else {
            Issue.record("no certificate")
            return
        }
        let second = try certificate(issued)
        #expect(second.nonce == first.nonce && second.pseudonym == first.pseudonym)
        #expect(second.notBefore.seconds == first.notBefore.seconds + 100)
    }

    private func certificate(_ issued: IssuedCertificate?) throws -> MembershipCertificate {
        try MembershipCertificate(decoding: #require(issued).bytes[...])
    }
}

/// A viewer that comes back.
struct ReloadTests {
    private func certificate(_ messages: [TrackerMessage]) throws -> MembershipCertificate {
        try MembershipCertificate(decoding: #require(messages.welcome).certificate.bytes[...])
    }

    @Test func `The same keys over a new connection take the old one's place`() throws {
        var script = Script()
        let first = try certificate(script.join(Viewer(1), on: 1))
        var again = Viewer(1)
        again.previousCertificate = first.encoded
        let second = try certificate(script.join(again, on: 2))
        #expect(script.take(1) == [.error(ControlError(code: .replaced))])
        #expect(script.closed == [1] && script.store.statistics.viewers == 1)
        #expect(second.nonce == first.nonce && second.pseudonym == first.pseudonym)
        // The old connection's end changes nothing any more.
        script.disconnect(1)
        #expect(script.store.statistics.viewers == 1)
    }

    @Test func `With its certificate a viewer under a new peer key replaces its former session`() throws {
        var script = Script()
        let first = try certificate(script.join(Viewer(1), on: 1))
        var reloaded = Viewer(2)
        reloaded.claimSeed = 1
        reloaded.previousCertificate = first.encoded
        let second = try certificate(script.join(reloaded, on: 2))
        #expect(second.pseudonym == first.pseudonym && second.peer == reloaded.peer)
        #expect(script.closed == [1] && script.store.statistics.viewers == 1)
    }

    @Test func `A peer key is not taken over by another claim key`() {
        var script = Script()
        script.join(Viewer(1), on: 1)
        var thief = Viewer(1)
        thief.claimSeed = 9
        #expect(script.join(thief, on: 2).error == .keyInUse)
        #expect(script.closed == [2] && script.store.statistics.viewers == 1)
    }

    @Test func `A certificate of another viewer, key or time gives nothing`() throws {
        var script = Script()
        let first = try certificate(script.join(Viewer(1), on: 1))
        var thief = Viewer(2)
        thief.previousCertificate = first.encoded
        #expect(try certificate(script.join(thief, on: 2)).nonce != first.nonce)
        #expect(script.closed.isEmpty)

        let forger = RoleKey(role: .membership, key: suite.signingKey(seed: bytes32(77)), suite: suite)
        var cheat = Viewer(3)
        cheat.previousCertificate =
            MembershipCertificate(
                peer: cheat.peer, claimKey: cheat.request.claimKey, swarm: first.swarm,
                observedHost: Bytes16(high: 0, low: 0),
                pseudonym: first.pseudonym, nonce: Bytes16(high: 0, low: 0), notBefore: script.time,
                expires: script.time,
                signedBy: forger
            ).encoded
        #expect(try certificate(script.join(cheat, on: 3)).pseudonym != first.pseudonym)

        script.disconnect(1)
        var late = Viewer(1)
        late.previousCertificate = first.encoded
        script.time = script.time + .seconds(2 * 86_400)
        #expect(try certificate(script.join(late, on: 4)).nonce != first.nonce)
    }

    @Test func `One that ran out within a day still shows who the viewer was`() throws {
        var script = Script()
        let first = try certificate(script.join(Viewer(1), on: 1))
        script.disconnect(1)
        script.time = script.time + .seconds(20 * 3600)
        var again = Viewer(1)
        again.previousCertificate = first.encoded
        #expect(try certificate(script.join(again, on: 2)).nonce == first.nonce)
    }
}

/// Admission by token.
struct TokenTests {
    private static let stream = Viewer(1).stream

    private func token(
        _ viewer: String = "ada", stream: StreamID = stream, sessions: UInt16 = 1, from: Int64 = -100,
        to: Int64 = 3600, secret: Bytes32? = nil, key: RoleKey = Script.tokenKey
    ) -> [UInt8] {
        let now: Int64 = 1_800_000_000
        return ViewerToken(
            stream: stream, viewer: ViewerToken.hash(ofViewer: viewer, stream: stream, suite: suite),
            sessionLimit: sessions, issued: UnixTime(seconds: now + from), expires: UnixTime(seconds: now + to),
            nonce: 1, swarmSecret: secret, signedBy: key
        ).encoded
    }

    private func script() -> Script { Script { $0.tokenKeys = [Script.tokenKey.verificationKey] } }

    @Test func `A good token admits, under the viewer's pseudonym and with the swarm's secret`() throws {
        var script = script()
        let welcome = try #require(script.join(Viewer(1, token: token(secret: bytes32(9)))).welcome)
        #expect(welcome.swarmSecret == bytes32(9).bytes)
        #expect(welcome.swarm == StreamIdentity.swarm(of: Self.stream, secret: bytes32(9).bytes, suite: suite))
        let certificate = try MembershipCertificate(decoding: welcome.certificate.bytes[...])
        #expect(certificate.pseudonym == ViewerToken.hash(ofViewer: "ada", stream: Self.stream, suite: suite))
    }

    @Test func `Viewers whose tokens hold different secrets are in different swarms`() throws {
        var script = script()
        script.join(Viewer(1, token: token("a", secret: bytes32(9))))
        let answer = script.join(Viewer(2, token: token("b", secret: bytes32(10))))
        #expect(answer.welcome?.swarmSize == 1 && answer.peers == nil)
        script.send(.renew, on: 2)
        guard case .certificate(let issued) = script.take(2).last else {
            Issue.record("no certificate")
            return
        }
        let certificate = try MembershipCertificate(decoding: issued.bytes[...])
        #expect(certificate.swarm == answer.welcome?.swarm)
        // The figures are by stream.
        #expect(script.store.statistics.streams.map(\.viewers) == [2])
    }

    @Test func `Each bad token has its error`() {
        let stranger = RoleKey(role: .token, key: suite.signingKey(seed: bytes32(3)), suite: suite)
        var broken = token()
        broken[5] ^= 1
        var altered = token()
        altered[20] ^= 1
        let cases: [([UInt8], ControlError.Code)] = [
            ([], .tokenRequired), ([1, 2, 3], .tokenInvalid), (token(key: stranger), .tokenInvalid),
            (broken, .tokenInvalid), (altered, .tokenInvalid),
            (token(stream: StreamID(Bytes16(high: 5, low: 5))), .tokenInvalid),
            (token(to: -61), .tokenExpired), (token(from: 61), .tokenExpired),
        ]
        for (token, code) in cases {
            var script = script()
            let answer = script.join(Viewer(1, token: token))
            #expect(answer == [.error(ControlError(code: code, retryAfterMilliseconds: ControlError.never))])
            #expect(script.closed == [1] && script.store.statistics.viewers == 0)
        }
    }

    @Test func `A token has room for its sessions, and a reload needs no more`() {
        var script = script()
        let two = token(sessions: 2)
        #expect(script.join(Viewer(1, token: two), on: 1).welcome != nil)
        #expect(script.join(Viewer(2, token: two), on: 2).welcome != nil)
        #expect(script.join(Viewer(3, token: two), on: 3).error == .tooManySessions)
        #expect(script.closed == [3])
        // The same viewer again, over a new connection.
        #expect(script.join(Viewer(2, token: two), on: 4).welcome != nil)
        script.send(.leave, on: 1)
        #expect(script.join(Viewer(3, token: two), on: 5).welcome != nil)
        #expect(script.store.statistics.viewers == 2)
    }

    @Test func `A refused reload does not end the session it would have replaced`() {
        var script = script()
        script.join(Viewer(1, token: token()), on: 1)
        #expect(script.join(Viewer(1, token: token(to: -61)), on: 2).error == .tokenExpired)
        #expect(script.closed == [2] && script.store.statistics.viewers == 1)
    }
}

/// What the tracker can hold.
struct LimitTests {
    @Test func `A full tracker says so, and has room for a reload`() {
        var script = Script { $0.maximumMemberCount = 2 }
        script.join(Viewer(1), on: 1)
        script.join(Viewer(2), on: 2)
        #expect(script.join(Viewer(3), on: 3).error == .full)
        #expect(script.join(Viewer(2), on: 4).welcome != nil)
        script.disconnect(1)
        #expect(script.join(Viewer(3), on: 5).welcome != nil)
    }

    @Test func `Swarms are limited, and end with their last viewer`() {
        var script = Script { $0.maximumSwarmCount = 1 }
        script.join(Viewer(1))
        var other = Viewer(2)
        other.stream = StreamID(Bytes16(high: 8, low: 8))
        #expect(script.join(other, on: 2).error == .full)
        script.disconnect(1)
        #expect(script.join(other, on: 3).welcome != nil)
    }

    @Test func `Figures survive who reported them, and absurd ones do not trap`() {
        var script = Script()
        script.join(Viewer(1))
        script.join(Viewer(2))
        for _ in 0..<3 {
            script.report(1, position: .max) {
                $0.bytesFromCDN = .max
                $0.chunksRejected = .max
                $0.mediaBitsPerSecond = .max
                $0.uplinkBitsPerSecond = .max
            }
        }
        script.report(2, position: 0) {
            $0.bytesFromPeers = 5
            $0.stalls = 3
        }
        script.pass(5)
        script.disconnect(2)
        let stream = script.store.statistics.streams.first
        #expect(stream?.bytesCDN == .max && stream?.bytesPeers == 5 && stream?.stalls == 3)
    }
}
