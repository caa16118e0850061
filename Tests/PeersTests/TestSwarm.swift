import CoreModel
import Cryptography
@testable import Delivery
import EventLoop
import Integrity
import SwarmProtocol

/// A tracker's part and an authority's, for tests: it admits peers and signs segments.
struct TestAuthority {
    static let suite = SystemCryptoSuite()
    static let stream = StreamID(Bytes16(high: 1, low: 2))
    static let swarm = SwarmID([UInt8](repeating: 3, count: 20))!
    static let time = UnixTime(seconds: 1_800_000_000)

    let membershipKey: RoleKey
    let recordKey: RoleKey
    let policy: AuthorityPolicy

    init(seed: UInt64 = 1) {
        let suite = Self.suite
        membershipKey = RoleKey(
            role: .membership, key: suite.signingKey(seed: Bytes32(words: (seed, 0, 0, 1))), suite: suite)
        recordKey = RoleKey(
            role: .authority, key: suite.signingKey(seed: Bytes32(words: (seed, 0, 0, 2))), suite: suite)
        policy = AuthorityPolicy(stream: Self.stream, keys: [recordKey.verificationKey], suite: suite)
    }

    func certificate(
        for key: any AgreementKey, claimKey: RoleKey, number: UInt64, expires: UnixTime = time + .seconds(1800),
        flags: MembershipCertificate.Flags = [],
        observedHost: Bytes16 = NetworkAddress(ipv4: 0x7F00_0001, port: 0).host
    ) -> MembershipCertificate {
        MembershipCertificate(
            peer: PeerID(key.publicKey), claimKey: claimKey.verificationKey, swarm: Self.swarm,
            observedHost: observedHost,
            pseudonym: Bytes16(high: 0x50, low: number), nonce: Bytes16(high: 0x60, low: number),
            notBefore: Self.time + .seconds(-60), expires: expires, flags: flags, signedBy: membershipKey)
    }

    /// A segment of numbered bytes, with its record.
    func segment(_ number: UInt64, byteCount: Int) -> (bytes: [UInt8], segment: VerifiedSegment) {
        var generator = SeededGenerator(seed: number)
        let bytes = (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var hasher = MerkleHasher(suite: Self.suite)
        guard hasher.update(bytes[...]), let tree = hasher.finish() else { preconditionFailure("no tree") }
        let name = SegmentName(
            stream: Self.stream, rendition: RenditionKey(rawValue: 1), position: SegmentPosition(number: number))
        let statement = RecordStatement(
            name: name, duration: MediaTime(ticks: 4, timescale: 1), geometry: tree.geometry, root: tree.root)
        let record = SegmentRecord(
            signing: statement, with: recordKey, issued: Self.time, expires: Self.time + .seconds(3600))
        do {
            guard let signed = SignedSegment(record: record, stripeLayer: tree.stripeLayer) else {
                preconditionFailure("the layer fits")
            }
            return (bytes, try policy.verify(signed, now: Self.time, suite: Self.suite))
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

/// The segments of a test viewer.
final class TestStore: ChunkSource {
    var assemblies: [Digest: SegmentAssembly] = [:]
    /// Alters what is uploaded.
    var pollutes = false
    var expectsEverything = false

    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability {
        guard let assembly = assemblies[root], let bytes = assembly.chunk(at: chunk) else {
            return expectsEverything ? .expected : .unavailable
        }
        guard pollutes else { return .available(bytes) }
        var altered = Array(bytes)
        altered[altered.count / 2] ^= 1
        return .available(altered[...])
    }

    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? { assemblies[root]?.leaves(ofStripe: stripe) }
}

/// A viewer without a player: it takes every chunk of the segments that it wants from whoever has it.
final class TestViewer: PeerManagerDelegate {
    let manager: PeerManager
    let store = TestStore()
    let key: any AgreementKey
    let claimKey: RoleKey
    let number: UInt64
    let loop: EventLoop
    var ready: [ReadyPeer] = []
    var gone: [(PeerID, PeerEnd)] = []
    var claims: [Claim] = []
    var roundTrips: [Duration] = []
    var rejects: [RejectReason] = []
    var badChunks = 0
    var wanted: [Digest: VerifiedSegment] = [:]
    /// Records that are passed on.
    var records: [SegmentName: SignedSegment] = [:]
    /// A record that is asked of everybody who comes.
    var wantedRecord: SegmentName?
    var acceptedRecords: [SignedSegment] = []
    var refusedRecords = 0
    var recordsAbsent = 0
    var timeLeft: Duration = .seconds(20)
    var timeouts = 0
    let policy: AuthorityPolicy
    private var nextRequest: UInt32 = 0
    /// Whom has been asked for what.
    private var asked: [Digest: Set<PeerID>] = [:]

    init(
        loop: EventLoop, authority: TestAuthority, number: UInt64, expires: UnixTime? = nil,
        configure: (inout NeighbourhoodConfiguration) -> Void = { _ in }
    ) throws {
        self.loop = loop
        self.number = number
        policy = authority.policy
        let suite = TestAuthority.suite
        key = suite.agreementKey(seed: Bytes32(words: (number, 7, 7, 7)))
        claimKey = RoleKey(
            role: .claim, key: suite.signingKey(seed: Bytes32(words: (number, 8, 8, 8))), suite: suite)
        var configuration = PeerManagerConfiguration()
        configuration.listenAddress = NetworkAddress(ipv4: 0x7F00_0001, port: 0)
        configuration.neighbourhood.firstExchangeDelay = .milliseconds(100)
        configuration.neighbourhood.uploadCaps.shareOfDownload = nil
        configure(&configuration.neighbourhood)
        manager = PeerManager(
            loop: loop, configuration: configuration, swarm: TestAuthority.swarm,
            membershipKeys: [authority.membershipKey.verificationKey], source: store,
            wallClock: { TestAuthority.time })
        manager.delegate = self
        try manager.listen()
        manager.join(
            certificate: authority.certificate(
                for: key, claimKey: claimKey, number: number, expires: expires ?? TestAuthority.time + .seconds(1800)),
            key: key)
    }

    var peerID: PeerID { PeerID(key.publicKey) }

    var address: NetworkAddress {
        guard let address = manager.listenAddress else { preconditionFailure("does not listen") }
        return address
    }

    /// Gives the viewer a whole segment.
    func insert(_ bytes: [UInt8], _ segment: VerifiedSegment) {
        var assembly = SegmentAssembly(segment: segment, suite: TestAuthority.suite)
        _ = try? assembly.acceptTrusted(bytes[...], at: 0)
        store.assemblies[segment.root] = assembly
        records[segment.name] = segment.signed
        announce(segment.root, assembly.geometry.chunks)
    }

    func want(_ segment: VerifiedSegment) {
        wanted[segment.root] = segment
        store.assemblies[segment.root] = SegmentAssembly(segment: segment, suite: TestAuthority.suite)
    }

    func isComplete(_ segment: VerifiedSegment) -> Bool { store.assemblies[segment.root]?.isComplete == true }

    func ask(_ peer: PeerID, for segment: VerifiedSegment) {
        guard let assembly = store.assemblies[segment.root] else { return }
        for lower in stride(from: 0, to: segment.geometry.chunkCount, by: 64) {
            let chunks = lower..<min(lower + 64, segment.geometry.chunkCount)
            guard !assembly.verified.contains(chunks) else { continue }
            nextRequest += 1
            _ = manager.request(
                ChunkRequest(
                    id: ChunkRequestID(rawValue: nextRequest), root: segment.root, chunks: chunks,
                    timeLeft: timeLeft, wantsLeaves: true), from: peer)
        }
    }

    func peerReady(_ peer: ReadyPeer) {
        ready.append(peer)
        guard let wantedRecord else { return }
        nextRequest += 1
        _ = manager.requestRecord(RecordRequestID(rawValue: nextRequest), of: wantedRecord, from: peer.peer)
    }

    /// Believes a record that is the one asked for and signed by the authority; bans who sends a lie that can be proved.
    private func accept(_ bytes: ArraySlice<UInt8>, from peer: PeerID) {
        do {
            let signed = try SignedSegment(decoding: bytes)
            guard signed.name == wantedRecord else { throw RecordError.wrongLayer }
            _ = try policy.verify(signed, now: TestAuthority.time, suite: TestAuthority.suite)
            acceptedRecords.append(signed)
        } catch {
            refusedRecords += 1
            if (error as? RecordError)?.provesMisconduct ?? true { manager.ban(peer) }
        }
    }

    func peerGone(_ peer: PeerID, _ end: PeerEnd) { gone.append((peer, end)) }

    func received(_ claim: Claim, from peer: PeerID) -> Bool {
        claims.append(claim)
        return true
    }

    func peer(_ peer: PeerID, did event: LinkEvent) {
        switch event {
        case .have(let entries):
            for entry in entries {
                guard let segment = wanted[entry.root], !isComplete(segment),
                    asked[entry.root, default: []].insert(peer).inserted
                else { continue }
                ask(peer, for: segment)
            }
        case .leaves(let root, let stripe, let leaves):
            do {
                _ = try store.assemblies[root]?.accept(leaves: leaves, stripe: stripe)
            } catch {
                badChunks += 1
                manager.ban(peer)
            }
        case .chunk(_, let root, let chunk, let payload):
            do {
                guard try store.assemblies[root]?.accept(chunk: payload, at: chunk) == true else { return }
                announce(root, chunk..<chunk + 1)
            } catch {
                badChunks += 1
                manager.ban(peer)
            }
        case .rejected(_, _, _, let reason, _): rejects.append(reason)
        case .roundTrip(let span): roundTrips.append(span)
        case .recordRequested(let id, let name):
            manager.answerRecord(id, with: records[name]?.encoded[...] ?? [], to: peer)
        case .record(_, let bytes):
            if let bytes { accept(bytes, from: peer) } else { recordsAbsent += 1 }
        case .requestTimedOut: timeouts += 1
        case .choked, .unchoked, .claim, .peers, .candidate, .established, .closed: break
        }
    }

    private func announce(_ root: Digest, _ chunks: Range<Int>) {
        guard let assembly = store.assemblies[root] else { return }
        manager.holdingsChanged(
            root: root, chunks: chunks, verified: assembly.verified, expected: ChunkSet(),
            isComplete: assembly.isComplete)
    }
}

/// Test viewers on one loop. Its work runs on the loop's thread.
actor TestSwarm {
    nonisolated let loop: EventLoop
    let authority = TestAuthority()
    private(set) var viewers: [TestViewer] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init() throws { loop = try EventLoop.startThread(named: "test-swarm") }

    @discardableResult
    func addViewer(
        authority: TestAuthority? = nil, expires: UnixTime? = nil,
        configure: @Sendable (inout NeighbourhoodConfiguration) -> Void = { _ in }
    ) throws -> Int {
        let viewer = try TestViewer(
            loop: loop, authority: authority ?? self.authority, number: UInt64(viewers.count + 1), expires: expires,
            configure: configure)
        // A stranger's viewer trusts what the others trust; only its own certificate is foreign.
        viewer.manager.membershipKeys = [self.authority.membershipKey.verificationKey]
        viewers.append(viewer)
        return viewers.count - 1
    }

    /// Has one viewer learn of another.
    func introduce(_ other: Int, to viewer: Int) {
        viewers[viewer].manager.add(viewers[other].peerID, at: viewers[other].address)
    }

    /// Does something with the viewers, on the loop.
    func with<Result: Sendable>(_ body: @Sendable ([TestViewer]) -> Result) -> Result { body(viewers) }

    /// Waits until a condition holds; false when it did not within the time.
    func wait(_ limit: Duration = .seconds(10), until condition: @Sendable ([TestViewer]) -> Bool) async throws -> Bool
    {
        let end = loop.now.advanced(by: limit)
        while !condition(viewers) {
            guard loop.now < end else { return false }
            try await Task.sleep(for: .milliseconds(2))
        }
        return true
    }

    func stop() {
        for viewer in viewers { viewer.manager.close() }
        viewers = []
        loop.stop()
    }
}
