public import CoreModel
public import Integrity
public import TrackerProtocol

/// The tracker's state: who is in which swarm, and what each is told.
///
/// Pure: time and randomness come in. The server calls a method for what happens and then ``poll()`` until it is `nil`.
public struct TrackerStore: Sendable {
    /// What the server is to do.
    public enum Output: Sendable, Equatable {
        /// Send a message.
        case send(ConnectionKey, TrackerMessage)
        /// Close a connection.
        case close(ConnectionKey)
    }

    let configuration: TrackerConfiguration
    let key: RoleKey
    let suite: any CryptoSuite
    var swarms: [StreamID: Swarm] = [:]
    var streams: [ConnectionKey: StreamID] = [:]
    /// Challenges of connections that have not joined.
    var challenges: [ConnectionKey: Bytes32] = [:]
    var memberCount = 0
    private var outputs: [Output] = []
    private var nextOutput = 0
    private var joins: UInt64 = 0
    private var refusals: UInt64 = 0
    private let tokenKeys: [KeyID: VerificationKey]

    /// Makes an empty store.
    ///
    /// - Parameter key: The membership key that signs certificates.
    public init(configuration: TrackerConfiguration, key: RoleKey, suite: any CryptoSuite) {
        self.configuration = configuration
        self.key = key
        self.suite = suite
        tokenKeys = Dictionary(
            configuration.tokenKeys.map { (KeyID(of: $0, suite: suite), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The next thing to do; `nil` when there is none.
    public mutating func poll() -> Output? {
        guard nextOutput < outputs.count else {
            outputs.removeAll(keepingCapacity: true)
            nextOutput = 0
            return nil
        }
        defer { nextOutput += 1 }
        return outputs[nextOutput]
    }

    mutating func emit(_ output: Output) { outputs.append(output) }

    // MARK: - Connections

    /// A connection came up: it is challenged.
    public mutating func connected(_ connection: ConnectionKey, using generator: inout some RandomNumberGenerator) {
        let nonce = Bytes32(words: (generator.next(), generator.next(), generator.next(), generator.next()))
        challenges[connection] = nonce
        emit(.send(connection, .challenge(Challenge(nonce: nonce))))
    }

    /// A connection ended.
    public mutating func disconnected(_ connection: ConnectionKey, now: MonotonicInstant) {
        challenges[connection] = nil
        remove(connection)
    }

    /// A message came in from `address`, as the connection shows it.
    public mutating func received(
        _ bytes: [UInt8], on connection: ConnectionKey, from address: NetworkAddress, now: MonotonicInstant,
        time: UnixTime, using generator: inout some RandomNumberGenerator
    ) {
        let message: ViewerMessage
        do throws(WireError) {
            message = try ViewerMessage(decoding: bytes[...])
        } catch {
            let isVersion = error == .invalid(field: "version")
            return refuse(connection, isVersion ? .unsupportedVersion : .malformed, "\(error)", isEnd: true)
        }
        switch message {
        case .join(let request, let signature):
            join(
                request, signature, on: connection, from: address, now: now, time: time, using: &generator)
        case .report(let report): take(report, on: connection, now: now)
        case .wantPeers(let count):
            suggest(Int(count), to: connection, now: now, using: &generator)
        case .renew: renew(connection, time: time, using: &generator)
        case .leave:
            remove(connection)
            emit(.close(connection))
        }
    }

    /// Removes who has been silent, and names fronts where they are due. Call it a few times a second.
    public mutating func tick(now: MonotonicInstant) {
        for (stream, swarm) in swarms {
            for member in swarm.members.values.sorted(by: { $0.connection < $1.connection })
            where member.lastHeard.duration(to: now) > configuration.memberLife {
                refuse(member.connection, .silent, "", isEnd: true)
                remove(member.connection)
            }
            nameFront(of: stream, now: now)
        }
    }

    /// The figures now.
    public var statistics: TrackerStatistics {
        let all = swarms.values.sorted { $0.stream < $1.stream }.map { swarm in
            let cdn = swarm.members.values.reduce(swarm.leftBytesFromCDN) { $0 &+ $1.bytesFromCDN }
            let peers = swarm.members.values.reduce(swarm.leftBytesFromPeers) { $0 &+ $1.bytesFromPeers }
            return TrackerStatistics.Stream(
                stream: "\(swarm.stream)", viewers: swarm.members.count, bytesCDN: cdn, bytesPeers: peers,
                peerShare: cdn &+ peers == 0 ? nil : Double(peers) / (Double(cdn) + Double(peers)),
                chunksRejected: swarm.members.values.reduce(0) { $0 &+ $1.chunksRejected },
                stalls: swarm.members.values.reduce(0) { $0 &+ $1.stalls })
        }
        return TrackerStatistics(streams: all, viewers: memberCount, joins: joins, refusals: refusals)
    }

    // MARK: - Admission

    private mutating func refuse(
        _ connection: ConnectionKey, _ code: ControlError.Code, _ text: String, retryAfter: UInt32 = 0,
        isEnd: Bool
    ) {
        refusals += 1
        let short = String(decoding: text.utf8.prefix(ControlProtocol.maximumErrorTextByteCount), as: UTF8.self)
        emit(
            .send(
                connection, .error(ControlError(code: code, retryAfterMilliseconds: retryAfter, text: short))))
        if isEnd { emit(.close(connection)) }
    }

    private mutating func join(
        _ request: JoinRequest, _ signature: Signature, on connection: ConnectionKey, from address: NetworkAddress,
        now: MonotonicInstant, time: UnixTime, using generator: inout some RandomNumberGenerator
    ) {
        guard let challenge = challenges.removeValue(forKey: connection) else {
            return refuse(connection, .outOfOrder, "a second join", isEnd: true)
        }
        let statement = ControlProtocol.joinStatement(challenge: challenge, request: request)
        guard suite.isValid(signature, of: statement, by: request.claimKey) else {
            return refuse(
                connection, .signatureInvalid, "", retryAfter: ControlError.never, isEnd: true)
        }
        var token: ViewerToken?
        if !tokenKeys.isEmpty {
            switch admit(request, time: time) {
            case .success(let admitted): token = admitted
            case .failure(let error):
                return refuse(
                    connection, error.code, error.text, retryAfter: error.retryAfterMilliseconds, isEnd: true)
            }
        }
        let secret = token?.swarmSecret?.bytes ?? []
        let swarmID = StreamIdentity.swarm(of: request.stream, secret: secret, suite: suite)
        let previous = previousCertificate(request, swarm: swarmID, time: time)
        if let old = swarms[request.stream]?.members.values.first(where: { $0.peer == request.peer }) {
            // The same viewer over a new connection, or somebody with its public key.
            guard old.claimKey == request.claimKey else {
                return refuse(connection, .keyInUse, "", retryAfter: ControlError.never, isEnd: true)
            }
            replace(old.connection)
        }
        let pseudonym = token?.viewer ?? previous?.pseudonym ?? Self.draw(using: &generator)
        if let token, !makeRoom(for: token, pseudonym: pseudonym, in: request.stream) {
            return refuse(
                connection, .tooManySessions, "", retryAfter: 30_000, isEnd: true)
        }
        guard memberCount < configuration.maximumMemberCount,
            swarms[request.stream] != nil || swarms.count < configuration.maximumSwarmCount
        else { return refuse(connection, .full, "", retryAfter: 60_000, isEnd: true) }
        var observed = address
        observed.port = request.listenPort
        let member = Member(
            connection: connection, peer: request.peer, claimKey: request.claimKey, address: observed,
            flags: request.flags, pseudonym: pseudonym, nonce: previous?.nonce ?? Self.draw(using: &generator),
            joinedAt: now, lastHeard: now,
            position: .milliseconds(Int64(clamping: min(request.startPositionMilliseconds, 1 << 50))),
            positionAsOf: now,
            toldSince: now)
        swarms[request.stream, default: Swarm(stream: request.stream, secret: secret)].members[connection] = member
        streams[connection] = request.stream
        memberCount += 1
        joins += 1
        welcome(member, swarm: swarmID, secret: secret, stream: request.stream, time: time, using: &generator)
        suggest(configuration.peersPerAnswer, to: connection, now: now, using: &generator)
        swarms[request.stream]?.isFrontStale = true
        greet(connection, in: request.stream, now: now)
    }

    private mutating func welcome(
        _ member: Member, swarm: SwarmID, secret: [UInt8], stream: StreamID, time: UnixTime,
        using generator: inout some RandomNumberGenerator
    ) {
        var settings = RemoteSettings()
        settings.maximumUploadBitsPerSecond = configuration.settings.maximumUploadBitsPerSecond
        settings.disablesPeers = configuration.settings.disablesPeers
        emit(
            .send(
                member.connection,
                .welcome(
                    Welcome(
                        swarm: swarm, swarmSecret: secret, membershipKey: key.verificationKey,
                        certificate: issue(to: member, swarm: swarm, time: time, using: &generator), serverTime: time,
                        swarmSize: UInt32(clamping: swarms[stream]?.members.count ?? 1),
                        reportIntervalMilliseconds: UInt32(clamping: configuration.reportInterval.inMilliseconds),
                        observedAddress: member.address, settings: settings))))
    }

    private func admit(_ request: JoinRequest, time: UnixTime) -> Result<ViewerToken, ControlError> {
        guard !request.token.isEmpty else {
            return .failure(ControlError(code: .tokenRequired, retryAfterMilliseconds: ControlError.never))
        }
        guard let token = try? ViewerToken(decoding: request.token[...]), let key = tokenKeys[token.keyID] else {
            return .failure(ControlError(code: .tokenInvalid, retryAfterMilliseconds: ControlError.never))
        }
        do throws(TokenError) {
            try token.verify(trusting: [key], stream: request.stream, now: time, suite: suite)
            return .success(token)
        } catch {
            let isTime = error == .expired
            return .failure(
                ControlError(
                    code: isTime ? .tokenExpired : .tokenInvalid, retryAfterMilliseconds: ControlError.never))
        }
    }

    /// Whether the token has room for one more session; a viewer's own oldest one is no reason to refuse a reload.
    private func makeRoom(for token: ViewerToken, pseudonym: Bytes16, in stream: StreamID) -> Bool {
        let active = swarms[stream]?.members.values.count { $0.pseudonym == pseudonym } ?? 0
        return active < Int(token.sessionLimit)
    }

    private func previousCertificate(
        _ request: JoinRequest, swarm: SwarmID, time: UnixTime
    ) -> MembershipCertificate? {
        guard !request.previousCertificate.isEmpty,
            let certificate = try? MembershipCertificate(decoding: request.previousCertificate[...]),
            certificate.claimKey == request.claimKey
        else { return nil }
        // One that ran out a day ago still shows who the viewer was.
        let check: Void? = try? certificate.verify(
            trusting: [key.verificationKey], swarm: swarm, now: time, grace: .seconds(86_400), suite: suite)
        return check == nil ? nil : certificate
    }

    private mutating func replace(_ connection: ConnectionKey) {
        emit(.send(connection, .error(ControlError(code: .replaced))))
        emit(.close(connection))
        remove(connection)
    }

    private mutating func remove(_ connection: ConnectionKey) {
        guard let stream = streams.removeValue(forKey: connection),
            let member = swarms[stream]?.members.removeValue(forKey: connection)
        else { return }
        memberCount -= 1
        swarms[stream]?.leftBytesFromCDN &+= member.bytesFromCDN
        swarms[stream]?.leftBytesFromPeers &+= member.bytesFromPeers
        swarms[stream]?.isFrontStale = true
        if swarms[stream]?.members.isEmpty ?? false { swarms[stream] = nil }
    }

    private static func draw(using generator: inout some RandomNumberGenerator) -> Bytes16 {
        Bytes16(high: generator.next(), low: generator.next())
    }

    // MARK: - Certificates

    private func issue(
        to member: Member, swarm: SwarmID, time: UnixTime, using generator: inout some RandomNumberGenerator
    ) -> IssuedCertificate {
        let life = configuration.certificateLife * Double.random(in: 0.9...1.1, using: &generator)
        var flags: MembershipCertificate.Flags = []
        if !member.flags.allowsUpload { flags.insert(.leechOnly) }
        let certificate = MembershipCertificate(
            peer: member.peer, claimKey: member.claimKey, swarm: swarm, observedHost: member.address.host,
            pseudonym: member.pseudonym, nonce: member.nonce, notBefore: time, expires: time + life, flags: flags,
            signedBy: key)
        return IssuedCertificate(
            bytes: certificate.encoded, validForSeconds: UInt32(clamping: life.components.seconds))
    }

    private mutating func renew(
        _ connection: ConnectionKey, time: UnixTime, using generator: inout some RandomNumberGenerator
    ) {
        guard let stream = streams[connection], let swarm = swarms[stream], let member = swarm.members[connection]
        else { return refuse(connection, .outOfOrder, "not joined", isEnd: true) }
        let swarmID = StreamIdentity.swarm(of: stream, secret: swarm.secret, suite: suite)
        emit(.send(connection, .certificate(issue(to: member, swarm: swarmID, time: time, using: &generator))))
    }

    // MARK: - Reports

    private mutating func take(_ report: ViewerReport, on connection: ConnectionKey, now: MonotonicInstant) {
        guard let stream = streams[connection], var member = swarms[stream]?.members[connection] else {
            return refuse(connection, .outOfOrder, "not joined", isEnd: true)
        }
        member.lastHeard = now
        member.position = .milliseconds(Int64(clamping: min(report.positionMilliseconds, 1 << 50)))
        member.positionAsOf = now
        member.isPlaying = report.isPlaying
        member.mediaBitsPerSecond = UInt64(report.mediaBitsPerSecond)
        member.uplinkBitsPerSecond = UInt64(report.uplinkBitsPerSecond)
        member.bytesFromCDN &+= report.bytesFromCDN
        member.bytesFromPeers &+= report.bytesFromPeers
        member.bytesUploaded &+= report.bytesUploaded
        member.chunksRejected &+= UInt64(report.chunksRejected)
        member.stalls &+= UInt64(report.stalls)
        swarms[stream]?.members[connection] = member
        swarms[stream]?.isFrontStale = true
        emit(.send(connection, .swarm(size: UInt32(clamping: swarms[stream]?.members.count ?? 1))))
    }
}
