import CoreModel
import Cryptography
import Integrity

@testable import SwarmProtocol

/// What a node's decisions ask of the emulated world.
struct TestEnvironment: PeerEnvironment {
    /// One end of an emulated connection.
    struct End {
        let id: LinkID
        /// The other end; `nil` when nobody answered there.
        var other: (node: Int, id: LinkID)?
        /// When the last byte that was written has left.
        var lineFree: MonotonicInstant
        /// Portions on their way, with what is left to tell of them.
        var underWay: [(byteCount: Int, taken: MonotonicInstant, acknowledged: MonotonicInstant)] = []
        var sentByteCount = 0
        var isPaused = false
        /// What came while reading was paused.
        var unread: [[UInt8]] = []
    }

    let source = TestSource()
    var secrets: SeededGenerator
    var time = TestNeighbourhoods.time
    var ends: [Int: End] = [:]
    var now = MonotonicInstant.origin
    var latency: Duration = .milliseconds(20)
    /// Slots of links whose other side has stopped reading: a byte always waits.
    var unreading: Set<Int> = []

    private func end(_ link: LinkID) -> End? { ends[link.slot].flatMap { $0.id == link ? $0 : nil } }

    func queuedByteCount(of link: LinkID) -> Int {
        if unreading.contains(link.slot) { return 1 }
        return end(link)?.underWay.reduce(0) { $0 + ($1.taken > now ? $1.byteCount : 0) } ?? 0
    }

    func unacknowledgedByteCount(of link: LinkID) -> Int {
        end(link)?.underWay.reduce(0) { $0 + ($1.acknowledged > now ? $1.byteCount : 0) } ?? 0
    }

    func sentByteCount(of link: LinkID) -> Int { end(link)?.sentByteCount ?? 0 }
    func roundTrip(of link: LinkID) -> Duration? { latency * 2 }
}

/// A viewer of the emulated swarm, with what it was told.
struct TestNode {
    var neighbourhood: Neighbourhood
    var environment: TestEnvironment
    let address: NetworkAddress
    let key: any AgreementKey
    let claimKey: RoleKey
    let certificate: MembershipCertificate
    /// Bytes per second of its line; `nil` for no limit.
    var uplink: Double?
    var deadline: MonotonicInstant?
    var ready: [ReadyPeer] = []
    var gone: [(peer: PeerID, end: PeerEnd)] = []
    var events: [(peer: PeerID, event: LinkEvent)] = []
    var claims: [Claim] = []
    var passesClaimsOn = true
    var dials: [(address: NetworkAddress, at: MonotonicInstant)] = []
    /// Data frames as they left: whose link, and when.
    var uploads: [(link: LinkID, at: MonotonicInstant)] = []
    var pauses = 0
    var resumptions = 0

    var peerID: PeerID { PeerID(key.publicKey) }
    var chunks: Int { events.count { if case .chunk = $0.event { true } else { false } } }
    var rejects: [RejectReason] {
        events.compactMap { if case .rejected(_, _, _, let reason, _) = $0.event { reason } else { nil } }
    }
}

/// Neighbourhoods joined by an emulated network in virtual time: each line sends at its rate, each byte takes the latency.
struct TestNeighbourhoods {
    private enum Input {
        case answered(LinkID)
        case refused(LinkID)
        case bytes(LinkID, [UInt8])
        case drained(LinkID)
        case ended(LinkID)
    }

    static let suite = SystemCryptoSuite()
    static let swarm = SwarmID([UInt8](repeating: 3, count: 20))!
    static let time = UnixTime(seconds: 1_800_000_000)
    /// What the system takes of a connection before it has left.
    private static let systemByteCount = 16_384

    private(set) var now = MonotonicInstant.origin.advanced(by: .seconds(1000))
    var nodes: [TestNode] = []
    private let membershipKey = RoleKey(
        role: .membership, key: suite.signingKey(seed: Bytes32(words: (1, 0, 0, 1))), suite: suite)
    /// What happens later, in the order of its planning.
    private var inputs: [(at: MonotonicInstant, number: Int, node: Int, input: Input)] = []
    private var nextNumber = 0
    /// A digest of everything that was sent, by whom and when.
    private(set) var transcript: UInt64 = 0

    func certificate(
        for key: any AgreementKey, claimKey: RoleKey, number: UInt64, expires: UnixTime = time + .seconds(1800),
        at address: NetworkAddress
    ) -> MembershipCertificate {
        MembershipCertificate(
            peer: PeerID(key.publicKey), claimKey: claimKey.verificationKey, swarm: Self.swarm,
            observedHost: address.host, pseudonym: Bytes16(high: 0x50, low: number),
            nonce: Bytes16(high: 0x60, low: number), notBefore: Self.time + .seconds(-60), expires: expires,
            signedBy: membershipKey)
    }

    /// Adds a viewer, by default at a public address in a prefix of its own.
    @discardableResult
    mutating func add(
        at address: NetworkAddress? = nil, expires: UnixTime = time + .seconds(1800), uplink: Double? = nil,
        configure: (inout NeighbourhoodConfiguration) -> Void = { _ in }
    ) -> Int {
        let number = UInt64(nodes.count + 1)
        let address = address ?? NetworkAddress(ipv4: 0x0B00_0001 + UInt32(number) << 8, port: 4000)
        let key = Self.suite.agreementKey(seed: Bytes32(words: (number, 7, 7, 7)))
        let claimKey = RoleKey(
            role: .claim, key: Self.suite.signingKey(seed: Bytes32(words: (number, 8, 8, 8))), suite: Self.suite)
        let certificate = certificate(for: key, claimKey: claimKey, number: number, expires: expires, at: address)
        var configuration = NeighbourhoodConfiguration()
        configuration.uploadCaps.shareOfDownload = nil
        configuration.firstExchangeDelay = .seconds(1000)
        configure(&configuration)
        var node = TestNode(
            neighbourhood: Neighbourhood(
                configuration: configuration, swarm: Self.swarm, membershipKeys: [membershipKey.verificationKey],
                suite: Self.suite, generator: SeededGenerator(seed: number), now: now),
            environment: TestEnvironment(secrets: SeededGenerator(seed: 1000 + number)), address: address, key: key,
            claimKey: claimKey, certificate: certificate, uplink: uplink)
        node.neighbourhood.join(certificate: certificate, key: key, listenPort: address.port, now: now)
        nodes.append(node)
        drive(nodes.count - 1)
        return nodes.count - 1
    }

    /// Has one viewer learn of another from the tracker.
    mutating func introduce(_ other: Int, to node: Int) {
        nodes[node].neighbourhood.add(nodes[other].peerID, at: nodes[other].address, now: now)
        drive(node)
    }

    /// Has a viewer dial an address whose owner it doesn't know.
    mutating func connect(_ node: Int, to address: NetworkAddress) {
        var environment = nodes[node].environment
        nodes[node].neighbourhood.connect(to: address, now: now, environment: &environment)
        nodes[node].environment = environment
        drive(node)
    }

    /// Joins viewers by links, and checks that they stand.
    mutating func connect(_ pairs: [(Int, Int)]) {
        for (one, other) in pairs { introduce(other, to: one) }
        run(for: .seconds(1))
        for (one, other) in pairs { precondition(link(one, other) != nil, "no link from \(one) to \(other)") }
    }

    func link(_ node: Int, _ other: Int) -> LinkID? { nodes[node].neighbourhood.link(to: nodes[other].peerID) }

    /// Gives a viewer chunks.
    mutating func insert(_ root: Digest, chunks: Range<Int>, to node: Int) {
        nodes[node].environment.source.insert(root, chunks: chunks)
        nodes[node].neighbourhood.holdingsChanged(
            root: root, chunks: chunks, verified: ChunkSet(chunks), expected: ChunkSet(), isComplete: false)
        drive(node)
    }

    /// Asks for chunks in requests of 64.
    mutating func request(_ root: Digest, chunks: Range<Int>, from other: Int, by node: Int, number: UInt32 = 0) {
        guard let link = link(node, other) else { preconditionFailure("no link from \(node) to \(other)") }
        for (place, lower) in stride(from: chunks.lowerBound, to: chunks.upperBound, by: 64).enumerated() {
            let isTaken = nodes[node].neighbourhood.request(
                ChunkRequest(
                    id: ChunkRequestID(rawValue: number + UInt32(place)), root: root,
                    chunks: lower..<min(lower + 64, chunks.upperBound), timeLeft: .seconds(20), wantsLeaves: false),
                from: link, now: now)
            precondition(isTaken, "the request is taken")
        }
        drive(node)
    }

    /// Gives a viewer a command, and carries out what follows.
    mutating func with(_ node: Int, _ body: (inout Neighbourhood, MonotonicInstant) -> Void) {
        body(&nodes[node].neighbourhood, now)
        drive(node)
    }

    // MARK: Time

    /// Lets virtual time pass, from input to deadline to input.
    mutating func run(for span: Duration) {
        let end = now.advanced(by: span)
        var steps = 0
        while true {
            steps += 1
            precondition(steps < 1_000_000, "never idle")
            let input = inputs.indices.min { (inputs[$0].at, inputs[$0].number) < (inputs[$1].at, inputs[$1].number) }
            let node = nodes.indices.filter { nodes[$0].deadline != nil }
                .min { (nodes[$0].deadline!, $0) < (nodes[$1].deadline!, $1) }
            let nextInput = input.map { inputs[$0].at } ?? .distantFuture
            let nextDeadline = node.flatMap { nodes[$0].deadline } ?? .distantFuture
            guard min(nextInput, nextDeadline) <= end else { break }
            now = max(now, min(nextInput, nextDeadline))
            if let input, nextInput <= nextDeadline {
                let planned = inputs.remove(at: input)
                take(planned.input, at: planned.node)
            } else if let node {
                drive(node)
            }
        }
        now = end
    }

    private mutating func plan(_ input: Input, at instant: MonotonicInstant, for node: Int) {
        inputs.append((instant, nextNumber, node, input))
        nextNumber += 1
    }

    private mutating func take(_ input: Input, at node: Int) {
        switch input {
        case .answered(let id):
            guard nodes[node].environment.ends[id.slot]?.id == id else { return }
            nodes[node].neighbourhood.opened(id, now: now)
        case .refused(let id):
            nodes[node].environment.ends[id.slot] = nil
            nodes[node].neighbourhood.lost(id, code: -111, now: now)
        case .bytes(let id, let bytes):
            guard nodes[node].environment.ends[id.slot]?.id == id else { return }
            if nodes[node].environment.ends[id.slot]!.isPaused {
                nodes[node].environment.ends[id.slot]!.unread.append(bytes)
                return
            }
            nodes[node].neighbourhood.receive(bytes.span.bytes, on: id, now: now)
        case .drained(let id): nodes[node].neighbourhood.drained(id)
        case .ended(let id):
            guard nodes[node].environment.ends[id.slot]?.id == id else { return }
            nodes[node].environment.ends[id.slot] = nil
            nodes[node].neighbourhood.lost(id, code: -4095, now: now)
        }
        drive(node)
    }

    // MARK: Carrying out

    private mutating func drive(_ node: Int) {
        nodes[node].environment.now = now
        while true {
            let before = nodes[node].neighbourhood.statistics.sentPayloadByteCount
            var environment = nodes[node].environment
            let output = nodes[node].neighbourhood.poll(now: now, environment: &environment)
            nodes[node].environment = environment
            switch output {
            case .dial(let id, let address): dial(id, address, by: node)
            case .transmit(let id, let bytes):
                if nodes[node].neighbourhood.statistics.sentPayloadByteCount > before {
                    nodes[node].uploads.append((id, now))
                }
                transmit(bytes, on: id, by: node)
            case .close(let id, _):
                guard let end = nodes[node].environment.ends.removeValue(forKey: id.slot) else { continue }
                // The end follows the last byte.
                if let other = end.other {
                    let latency = nodes[node].environment.latency
                    plan(.ended(other.id), at: max(now, end.lineFree).advanced(by: latency), for: other.node)
                }
            case .pauseReading(let id):
                nodes[node].pauses += 1
                nodes[node].environment.ends[id.slot]?.isPaused = true
            case .resumeReading(let id):
                nodes[node].resumptions += 1
                let unread = nodes[node].environment.ends[id.slot]?.unread ?? []
                nodes[node].environment.ends[id.slot]?.isPaused = false
                nodes[node].environment.ends[id.slot]?.unread = []
                for bytes in unread { plan(.bytes(id, bytes), at: now, for: node) }
            case .event(let event): note(event, by: node)
            case .wait(let deadline):
                precondition(deadline.map { $0 > now } ?? true, "a deadline that has passed: \(deadline!) at \(now)")
                nodes[node].deadline = deadline
                return
            }
        }
    }

    private mutating func note(_ event: NeighbourhoodEvent, by node: Int) {
        switch event {
        case .ready(let peer): nodes[node].ready.append(peer)
        case .received(let event, let peer, _): nodes[node].events.append((peer, event))
        case .claimed(let claim, _):
            nodes[node].claims.append(claim)
            if nodes[node].passesClaimsOn { nodes[node].neighbourhood.passOn(now: now) }
        case .gone(let peer, _, let end): nodes[node].gone.append((peer, end))
        }
    }

    private mutating func dial(_ id: LinkID, _ address: NetworkAddress, by node: Int) {
        nodes[node].dials.append((address, now))
        nodes[node].environment.ends[id.slot] = TestEnvironment.End(id: id, lineFree: now)
        let latency = nodes[node].environment.latency
        let answer = now.advanced(by: latency * 2)
        guard let target = nodes.firstIndex(where: { $0.address == address }) else {
            return plan(.refused(id), at: answer, for: node)
        }
        let from = NetworkAddress(host: nodes[node].address.host, port: 50_000)
        nodes[target].environment.now = now
        var environment = nodes[target].environment
        let accepted = nodes[target].neighbourhood.accept(from: from, now: now, environment: &environment)
        nodes[target].environment = environment
        guard let other = accepted else { return plan(.refused(id), at: answer, for: node) }
        nodes[node].environment.ends[id.slot]?.other = (target, other)
        nodes[target].environment.ends[other.slot] = TestEnvironment.End(
            id: other, other: (node, id), lineFree: now)
        plan(.answered(other), at: now.advanced(by: latency), for: target)
        plan(.answered(id), at: answer, for: node)
    }

    private mutating func transmit(_ bytes: [UInt8], on id: LinkID, by node: Int) {
        for word in [UInt64(node), UInt64(bitPattern: now.nanoseconds), UInt64(bytes.count), UInt64(bytes[0])] {
            transcript = (transcript ^ word) &* 0x100_0000_01B3
        }
        guard var end = nodes[node].environment.ends[id.slot], end.id == id, let other = end.other else { return }
        let latency = nodes[node].environment.latency
        let start = max(now, end.lineFree)
        let left = start.advanced(by: nodes[node].uplink.map { .seconds(Double(bytes.count) / $0) } ?? .zero)
        // The system takes it when no more than its part waits to leave.
        let part = nodes[node].uplink.map { Duration.seconds(Double(Self.systemByteCount) / $0) } ?? .zero
        let taken = max(now, left.advanced(by: .zero - part))
        end.lineFree = left
        end.sentByteCount += bytes.count
        end.underWay.removeAll { $0.acknowledged <= now }
        end.underWay.append((bytes.count, taken, left.advanced(by: latency * 2)))
        nodes[node].environment.ends[id.slot] = end
        plan(.bytes(other.id, bytes), at: left.advanced(by: latency), for: other.node)
        if taken > now { plan(.drained(id), at: taken, for: node) }
    }
}
