public import CoreModel
public import Integrity
public import TrackerProtocol

/// The tracker's state: who is in which swarm, and what each is told.
///
/// Pure: time and randomness come in. The server calls a method for what happens and then ``poll()`` until it is `nil`.
/// A connection that the store closes is over for it; what comes from it later has no effect.
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
    var swarms: [SwarmID: Swarm] = [:]
    /// The swarms of the connections that have joined.
    var memberships: [ConnectionKey: SwarmID] = [:]
    var budget: AddressBudget
    /// Connections that have not joined.
    private var pending: [ConnectionKey: Pending] = [:]
    private var outputs: [Output] = []
    private var nextOutput = 0
    private var joins: UInt64 = 0
    private var refusals: UInt64 = 0
    let tokenKeys: [KeyID: VerificationKey]

    private struct Pending: Sendable {
        let challenge: Bytes32
        let since: MonotonicInstant
    }

    /// Makes an empty store.
    ///
    /// - Parameter key: The membership key that signs certificates.
    public init(configuration: TrackerConfiguration, key: RoleKey, suite: any CryptoSuite) {
        self.configuration = configuration
        self.key = key
        self.suite = suite
        budget = AddressBudget(
            allowance: configuration.addressesPerHour
                * (configuration.tokenKeys.isEmpty ? configuration.openAddressFactor : 1),
            limit: 4 * configuration.maximumMemberCount)
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
    public mutating func connected(
        _ connection: ConnectionKey, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        let nonce = Bytes32(words: (generator.next(), generator.next(), generator.next(), generator.next()))
        pending[connection] = Pending(challenge: nonce, since: now)
        emit(.send(connection, .challenge(Challenge(nonce: nonce))))
    }

    /// A connection ended.
    public mutating func disconnected(_ connection: ConnectionKey, now: MonotonicInstant) {
        remove(connection)
    }

    /// A message came in from `address`, as the connection shows it.
    public mutating func received(
        _ bytes: [UInt8], on connection: ConnectionKey, from address: NetworkAddress, now: MonotonicInstant,
        time: UnixTime, using generator: inout some RandomNumberGenerator
    ) {
        guard pending[connection] != nil || memberships[connection] != nil else { return }
        let message: ViewerMessage
        do throws(WireError) {
            message = try ViewerMessage(decoding: bytes[...])
        } catch {
            let isVersion = error == .invalid(field: "version")
            return end(connection, ControlError(code: isVersion ? .unsupportedVersion : .malformed, text: "\(error)"))
        }
        switch message {
        case .join(let request, let signature):
            guard let challenge = pending[connection]?.challenge else {
                return end(connection, ControlError(code: .outOfOrder, text: "a second join"))
            }
            do throws(ControlError) {
                try join(
                    request, signature, challenge, on: connection, from: address, now: now, time: time,
                    using: &generator)
            } catch {
                refusals += 1
                end(connection, error)
            }
        case .leave:
            remove(connection)
            emit(.close(connection))
        case .report, .wantPeers, .renew:
            guard let swarm = memberships[connection] else {
                return end(connection, ControlError(code: .outOfOrder, text: "not joined"))
            }
            swarms[swarm]?.update(connection) { $0.lastHeard = now }
            switch message {
            case .report(let report): take(report, on: connection, in: swarm, now: now)
            case .wantPeers(let count):
                answer(Int(count), on: connection, in: swarm, now: now, using: &generator)
            case .renew: renew(connection, in: swarm, time: time, using: &generator)
            case .join, .leave: break  // Handled above.
            }
        }
    }

    /// Removes who has been silent or never joined, and names fronts where they are due. Call it a few times a second.
    public mutating func tick(now: MonotonicInstant) {
        budget.tick(now: now)
        for (connection, waiting) in pending.sorted(by: { $0.key < $1.key })
        where waiting.since.duration(to: now) > configuration.joinTimeout {
            end(connection, ControlError(code: .silent, text: "no join"))
        }
        for id in swarms.keys.sorted() {
            let silent = swarms[id]?.members.values.filter {
                $0.lastHeard.duration(to: now) > configuration.memberLife
            }
            for member in (silent ?? []).sorted(by: { $0.connection < $1.connection }) {
                end(member.connection, ControlError(code: .silent))
            }
            nameFronts(of: id, now: now)
        }
    }

    /// Tells everybody that the tracker stops, and closes.
    public mutating func stop() {
        for connection in (Array(pending.keys) + Array(memberships.keys)).sorted() {
            end(connection, ControlError(code: .shuttingDown))
        }
    }

    /// The figures now.
    public var statistics: TrackerStatistics {
        var streams: [StreamID: (viewers: Int, traffic: Traffic)] = [:]
        for swarm in swarms.values {
            var entry = streams[swarm.stream] ?? (0, Traffic())
            entry.viewers += swarm.members.count
            entry.traffic.add(swarm.traffic)
            streams[swarm.stream] = entry
        }
        let all = streams.sorted { $0.key < $1.key }.map { stream, entry in
            let (cdn, peers) = (Double(entry.traffic.bytesFromCDN), Double(entry.traffic.bytesFromPeers))
            return TrackerStatistics.Stream(
                stream: "\(stream)", viewers: entry.viewers, bytesCDN: entry.traffic.bytesFromCDN,
                bytesPeers: entry.traffic.bytesFromPeers, peerShare: cdn + peers == 0 ? nil : peers / (cdn + peers),
                chunksRejected: entry.traffic.chunksRejected, stalls: entry.traffic.stalls)
        }
        return TrackerStatistics(streams: all, viewers: memberships.count, joins: joins, refusals: refusals)
    }

    /// Ends a connection with a reason.
    private mutating func end(_ connection: ConnectionKey, _ error: ControlError) {
        var error = error
        error.text = String(
            decoding: error.text.utf8.prefix(ControlProtocol.maximumErrorTextByteCount), as: UTF8.self)
        emit(.send(connection, .error(error)))
        emit(.close(connection))
        remove(connection)
    }

    private mutating func remove(_ connection: ConnectionKey) {
        pending[connection] = nil
        guard let id = memberships.removeValue(forKey: connection) else { return }
        swarms[id]?.remove(connection)
        if swarms[id]?.members.isEmpty ?? false { swarms[id] = nil }
    }

    // MARK: - Admission

    private mutating func join(
        _ request: JoinRequest, _ signature: Signature, _ challenge: Bytes32, on connection: ConnectionKey,
        from address: NetworkAddress, now: MonotonicInstant, time: UnixTime,
        using generator: inout some RandomNumberGenerator
    ) throws(ControlError) {
        let statement = ControlProtocol.joinStatement(challenge: challenge, request: request)
        guard suite.isValid(signature, of: statement, by: request.claimKey) else {
            throw ControlError(code: .signatureInvalid, retryAfterMilliseconds: ControlError.never)
        }
        let token = tokenKeys.isEmpty ? nil : try admit(request, time: time)
        let secret = token?.swarmSecret?.bytes ?? []
        let swarmID = StreamIdentity.swarm(of: request.stream, secret: secret, suite: suite)
        let previous = previousCertificate(request, swarm: swarmID, time: time)
        let replaced = try replaced(by: request, previous: previous, in: swarmID)
        let pseudonym = token?.viewer ?? previous?.pseudonym ?? Self.draw(using: &generator)
        if let token {
            let others = swarms[swarmID]?.sessions(of: pseudonym).subtracting(replaced).count ?? 0
            guard others < Int(token.sessionLimit) else {
                throw ControlError(code: .tooManySessions, retryAfterMilliseconds: 30_000)
            }
        }
        guard memberships.count - replaced.count < configuration.maximumMemberCount,
            swarms[swarmID] != nil || swarms.count < configuration.maximumSwarmCount
        else { throw ControlError(code: .full, retryAfterMilliseconds: 60_000) }
        pending[connection] = nil
        for old in replaced {
            emit(.send(old, .error(ControlError(code: .replaced))))
            emit(.close(old))
            memberships[old] = nil
            swarms[swarmID]?.remove(old)
        }
        var observed = address
        observed.port = request.listenPort
        let member = Member(
            connection: connection, peer: request.peer, claimKey: request.claimKey, address: observed,
            flags: request.flags, pseudonym: pseudonym, nonce: previous?.nonce ?? Self.draw(using: &generator),
            lastHeard: now, position: Self.position(request.startPositionMilliseconds), positionAsOf: now,
            activeAt: now)
        // In place: a copy would cost each join as much as there are members.
        swarms[swarmID, default: Swarm(stream: request.stream, secret: secret)].insert(member)
        memberships[connection] = swarmID
        joins += 1
        welcome(member, secret: secret, id: swarmID, time: time, using: &generator)
        suggest(configuration.peersPerAnswer, to: member, in: swarmID, now: now, using: &generator)
        greet(member, in: swarmID, now: now)
    }

    /// The sessions whose place a join takes: that of its peer key, and that of its previous certificate.
    private func replaced(
        by request: JoinRequest, previous: MembershipCertificate?, in swarm: SwarmID
    ) throws(ControlError) -> [ConnectionKey] {
        guard let swarm = swarms[swarm] else { return [] }
        var replaced: [ConnectionKey] = []
        if let old = swarm.connections[request.peer] {
            // The same viewer over a new connection, or somebody with its public key.
            guard swarm.members[old]?.claimKey == request.claimKey else {
                throw ControlError(code: .keyInUse, retryAfterMilliseconds: ControlError.never)
            }
            replaced.append(old)
        }
        if let previous, previous.peer != request.peer, let old = swarm.connections[previous.peer],
            swarm.members[old]?.claimKey == request.claimKey
        {
            replaced.append(old)
        }
        return replaced
    }

    private mutating func welcome(
        _ member: Member, secret: [UInt8], id: SwarmID, time: UnixTime,
        using generator: inout some RandomNumberGenerator
    ) {
        let welcome = Welcome(
            swarm: id, swarmSecret: secret, membershipKey: key.verificationKey,
            certificate: issue(to: member, swarm: id, time: time, using: &generator), serverTime: time,
            swarmSize: UInt32(clamping: swarms[id]?.members.count ?? 1),
            reportIntervalMilliseconds: UInt32(clamping: configuration.reportInterval.inMilliseconds),
            observedAddress: member.address, settings: configuration.settings)
        emit(.send(member.connection, .welcome(welcome)))
    }

    private func admit(_ request: JoinRequest, time: UnixTime) throws(ControlError) -> ViewerToken {
        guard !request.token.isEmpty else {
            throw ControlError(code: .tokenRequired, retryAfterMilliseconds: ControlError.never)
        }
        guard let token = try? ViewerToken(decoding: request.token[...]), let key = tokenKeys[token.keyID] else {
            // What is wrong with it is the operator's business, not the sender's.
            throw ControlError(code: .tokenInvalid, retryAfterMilliseconds: ControlError.never)
        }
        do throws(TokenError) {
            try token.verify(trusting: [key], stream: request.stream, now: time, suite: suite)
            return token
        } catch {
            let isTime = error == .expired || error == .notYetValid
            throw ControlError(
                code: isTime ? .tokenExpired : .tokenInvalid, retryAfterMilliseconds: ControlError.never)
        }
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

    private static func draw(using generator: inout some RandomNumberGenerator) -> Bytes16 {
        Bytes16(high: generator.next(), low: generator.next())
    }

    private static func position(_ milliseconds: UInt64) -> Duration {
        .milliseconds(Int64(clamping: min(milliseconds, 1 << 50)))
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
        _ connection: ConnectionKey, in swarm: SwarmID, time: UnixTime,
        using generator: inout some RandomNumberGenerator
    ) {
        guard let member = swarms[swarm]?.members[connection] else { return }
        emit(.send(connection, .certificate(issue(to: member, swarm: swarm, time: time, using: &generator))))
    }

    // MARK: - Reports

    private mutating func take(
        _ report: ViewerReport, on connection: ConnectionKey, in swarm: SwarmID, now: MonotonicInstant
    ) {
        swarms[swarm]?.update(connection) { member in
            member.position = Self.position(report.positionMilliseconds)
            member.positionAsOf = now
            member.isPlaying = report.isPlaying
            if report.isPlaying { member.activeAt = now }
            member.mediaBitsPerSecond = UInt64(report.mediaBitsPerSecond)
            member.uplinkBitsPerSecond = UInt64(report.uplinkBitsPerSecond)
            member.traffic.add(report)
        }
        swarms[swarm]?.isFrontStale = true
        emit(.send(connection, .swarm(size: UInt32(clamping: swarms[swarm]?.members.count ?? 1))))
    }
}
