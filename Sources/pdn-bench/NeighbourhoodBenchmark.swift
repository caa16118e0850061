import CoreModel
import Cryptography
import Integrity
import SwarmProtocol

/// What the decisions about links cost where thousands of viewers share a process, as in the simulator: memory of a viewer
/// and of each of its links, and time for each message from one viewer's decision to the other's.
///
/// The primitives are stand-ins of the same lengths, so that the time is that of the state machines.
enum NeighbourhoodBenchmark {
    private static let viewerCount = 2_000
    private static let linksEach = 12
    private static let swarm = SwarmID([UInt8](repeating: 7, count: 20))!

    static func run() -> [Measurement] {
        var mesh = Mesh(viewerCount: 100, linksEach: linksEach)
        // The first ones make the process's own tables, which are not counted.
        mesh.join()
        let before = Usage.residentByteCount
        mesh = Mesh(viewerCount: viewerCount, linksEach: 0)
        mesh.join()
        let alone = Double(Usage.residentByteCount - before) / Double(viewerCount)
        mesh = Mesh(viewerCount: viewerCount, linksEach: linksEach)
        mesh.join()
        mesh.idle()
        let whole = Double(Usage.residentByteCount - before) / Double(viewerCount)
        let linkCount = mesh.viewers.reduce(0) { $0 + $1.linkCount }
        let perViewer = Double(linkCount) / Double(viewerCount)
        let rounds = 20
        var sent = mesh.controlCount
        let announcing = cpuSeconds { for round in 0..<rounds { mesh.announce(round) } }
        let announced = mesh.controlCount - sent
        sent = mesh.controlCount
        let before2 = mesh.payloadCount
        let uploading = cpuSeconds { for round in 0..<rounds { mesh.upload(round) } }
        let uploaded = (mesh.payloadCount - before2) / UInt64(SegmentGeometry.chunkByteCount)
        return [
            Measurement(name: "neighbourhood-viewer", value: whole, unit: "bytes with \(perViewer) links", limit: nil),
            Measurement(name: "neighbourhood-link", value: (whole - alone) / perViewer, unit: "bytes", limit: nil),
            Measurement(
                name: "neighbourhood-message", value: announcing / Double(announced) * 1e9,
                unit: "ns from poll to event", limit: nil),
            Measurement(
                name: "neighbourhood-chunk", value: uploading / Double(uploaded) * 1e9,
                unit: "ns from request to event", limit: nil),
        ]
    }

    /// Viewers whose bytes arrive at once.
    private struct Mesh {
        var viewers: [Neighbourhood] = []
        var environment = Environment()
        private var now = MonotonicInstant.origin.advanced(by: .seconds(1))
        private var addresses: [NetworkAddress] = []
        private var names: [PeerID] = []
        /// The other end of each viewer's links, by slot.
        private var others: [[(viewer: Int, link: LinkID)?]]
        private var wire: [(viewer: Int, link: LinkID, bytes: [UInt8])] = []
        private var certificates: [MembershipCertificate] = []
        private let keys: [any AgreementKey]
        private let linksEach: Int
        private var nextRequest: UInt32 = 0

        init(viewerCount: Int, linksEach: Int) {
            let suite = StandInSuite()
            self.linksEach = linksEach
            let membership = RoleKey(role: .membership, key: suite.signingKey(seed: .zero), suite: suite)
            keys = (0..<viewerCount).map { suite.agreementKey(seed: Bytes32(words: (UInt64($0) + 1, 7, 7, 7))) }
            // Reserved here, so that the links' memory is their own.
            others = (0..<viewerCount).map { _ in Array(repeating: nil, count: 16) }
            var configuration = NeighbourhoodConfiguration()
            configuration.uploadCaps.shareOfDownload = nil
            configuration.firstExchangeDelay = .seconds(100_000)
            configuration.maximumCandidateCount = 32
            for number in 0..<viewerCount {
                let address = NetworkAddress(ipv4: 0x0A00_0000 + UInt32(number), port: 4000)
                let claimKey = suite.signingKey(seed: Bytes32(words: (UInt64(number), 8, 8, 8)))
                certificates.append(
                    MembershipCertificate(
                        peer: PeerID(keys[number].publicKey), claimKey: claimKey.verificationKey, swarm: swarm,
                        observedHost: address.host, pseudonym: Bytes16(high: 1, low: UInt64(number)),
                        nonce: Bytes16(high: 2, low: UInt64(number)), notBefore: BenchPeer.time,
                        expires: BenchPeer.time + .seconds(3600), signedBy: membership))
                addresses.append(address)
                names.append(PeerID(keys[number].publicKey))
                viewers.append(
                    Neighbourhood(
                        configuration: configuration, swarm: swarm, membershipKeys: [membership.verificationKey],
                        suite: suite, generator: SeededGenerator(seed: UInt64(number)), now: now))
            }
        }

        var controlCount: UInt64 { viewers.reduce(0) { $0 + $1.statistics.sentControlCount } }
        var payloadCount: UInt64 { viewers.reduce(0) { $0 + $1.statistics.receivedPayloadByteCount } }

        /// Joins each to the next half dozen, in a ring.
        mutating func join() {
            environment.boxes = certificates.map { CertificateBox($0) }
            for viewer in viewers.indices {
                viewers[viewer].join(
                    certificate: certificates[viewer], key: keys[viewer], listenPort: 4000, now: now)
            }
            for viewer in viewers.indices {
                for step in 0..<linksEach / 2 {
                    let other = (viewer + step * 17 + 1) % viewers.count
                    viewers[viewer].add(names[other], at: addresses[other], now: now)
                }
                drive(viewer)
                settle()
            }
        }

        /// Leaves all links alone until they have given back what the handshake needed.
        mutating func idle() {
            now = now.advanced(by: .seconds(45))
            for viewer in viewers.indices {
                drive(viewer)
                settle()
            }
        }

        /// Everybody has something new, and says so to everybody.
        mutating func announce(_ round: Int) {
            now = now.advanced(by: .seconds(1))
            let root = Digest(Bytes32(words: (UInt64(round), 1, 1, 1)))
            for viewer in viewers.indices {
                viewers[viewer].holdingsChanged(
                    root: root, chunks: 0..<8, verified: ChunkSet(0..<8), expected: ChunkSet(), isComplete: false)
                drive(viewer)
            }
            settle()
        }

        /// Everybody asks a neighbour for eight chunks.
        mutating func upload(_ round: Int) {
            now = now.advanced(by: .seconds(1))
            for viewer in viewers.indices {
                guard let link = viewers[viewer].links.first else { continue }
                nextRequest += 1
                _ = viewers[viewer].request(
                    ChunkRequest(
                        id: ChunkRequestID(rawValue: nextRequest), root: Digest(.zero), chunks: 0..<8,
                        timeLeft: .seconds(9), wantsLeaves: false), from: link, now: now)
                drive(viewer)
                settle()
            }
        }

        private mutating func settle() {
            while !wire.isEmpty {
                let arriving = wire
                wire.removeAll(keepingCapacity: true)
                for (viewer, link, bytes) in arriving {
                    viewers[viewer].receive(bytes.span.bytes, on: link, now: now)
                    drive(viewer)
                }
            }
        }

        private mutating func drive(_ viewer: Int) {
            while true {
                switch viewers[viewer].poll(now: now, environment: &environment) {
                case .transmit(let link, let bytes):
                    guard let other = others[viewer][link.slot] else { continue }
                    wire.append((other.viewer, other.link, bytes))
                case .dial(let link, let address):
                    guard let other = addresses.firstIndex(of: address),
                        let answer = viewers[other].accept(
                            from: addresses[viewer], now: now, environment: &environment)
                    else { preconditionFailure("there is room for every link") }
                    others[viewer][link.slot] = (other, answer)
                    others[other][answer.slot] = (viewer, link)
                    viewers[other].opened(answer, now: now)
                    viewers[viewer].opened(link, now: now)
                    drive(other)
                case .event, .pauseReading, .resumeReading: break
                case .close: preconditionFailure("an honest link stays")
                case .wait: return
                }
            }
        }

    }

    /// Transports that take everything at once, and a store that has everything.
    private struct Environment: PeerEnvironment {
        let source = FullSource()
        var secrets = SeededGenerator(seed: 1)
        var boxes: [CertificateBox] = []
        var time: UnixTime { BenchPeer.time }

        func queuedByteCount(of link: LinkID) -> Int { 0 }
        func unacknowledgedByteCount(of link: LinkID) -> Int { 0 }
        func sentByteCount(of link: LinkID) -> Int { 0 }
        func roundTrip(of link: LinkID) -> Duration? { nil }
        func box(_ certificate: MembershipCertificate) -> CertificateBox { boxes[Int(certificate.pseudonym.low)] }
    }

    private struct FullSource: ChunkSource {
        private let chunk = [UInt8](repeating: 1, count: SegmentGeometry.chunkByteCount)

        func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability { .available(self.chunk[...]) }
        func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? { nil }
    }
}

/// Stand-ins for the primitives: of the same lengths, and with failures of the same kind, but no secret is kept.
private struct StandInSuite: CryptoSuite {
    private struct Key: AgreementKey, SigningKey {
        let seed: Bytes32

        var publicKey: Bytes32 { seed }
        var verificationKey: VerificationKey { VerificationKey(seed) }

        func sharedSecret(with publicKey: Bytes32) -> Bytes32? {
            StandInSuite.mix(min(seed, publicKey).bytes + max(seed, publicKey).bytes)
        }

        func sign(_ message: [UInt8]) -> Signature { StandInSuite.signature(of: message, by: seed) }
    }

    private static func mix(_ bytes: some Sequence<UInt8>) -> Bytes32 {
        var (one, other): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x9E37_79B9_7F4A_7C15)
        for byte in bytes {
            one = (one ^ UInt64(byte)) &* 0x100_0000_01B3
            other = (other &+ UInt64(byte)) &* 0xBF58_476D_1CE4_E5B9
            other ^= other >> 29
        }
        return Bytes32(words: (one, other, one ^ other >> 7, one &+ other << 9))
    }

    private static func mix(_ span: RawSpan) -> Bytes32 { span.withUnsafeBytes { mix($0) } }

    private static func signature(of message: [UInt8], by key: Bytes32) -> Signature {
        Signature(first: mix(message + key.bytes), second: key)
    }

    private static func tag(_ key: Bytes32, _ nonce: UInt64, _ count: Int) -> (UInt64, UInt64) {
        (key.words.0 ^ nonce, key.words.1 &+ UInt64(count))
    }

    func sha256(_ bytes: RawSpan) -> Digest { Digest(Self.mix(bytes)) }
    func sha256(pair left: Digest, _ right: Digest) -> Digest { Digest(Self.mix(left.bytes + right.bytes)) }
    func blake2b(_ bytes: [UInt8]) -> [UInt8] { Self.mix(bytes).bytes + Self.mix(bytes.reversed()).bytes }
    func hmacBLAKE2b(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] { blake2b(key + bytes) }

    func isValid(_ signature: Signature, of message: [UInt8], by key: VerificationKey) -> Bool {
        signature == Self.signature(of: message, by: key.value)
    }

    func signingKey(seed: Bytes32) -> any SigningKey { Key(seed: seed) }
    func agreementKey(seed: Bytes32) -> any AgreementKey { Key(seed: seed) }

    func seal(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ first: RawSpan, _ second: RawSpan,
        appendingTo output: inout [UInt8]
    ) {
        first.withUnsafeBytes { output.append(contentsOf: $0) }
        second.withUnsafeBytes { output.append(contentsOf: $0) }
        withUnsafeBytes(of: Self.tag(key, nonce, first.byteCount + second.byteCount)) {
            output.append(contentsOf: $0)
        }
    }

    func open(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ message: RawSpan, appendingTo output: inout [UInt8]
    ) -> Bool {
        let count = message.byteCount - 16
        guard count >= 0 else { return false }
        let isAuthentic = message.withUnsafeBytes { bytes in
            let tag = Self.tag(key, nonce, count)
            return bytes.loadUnaligned(fromByteOffset: count, as: UInt64.self) == tag.0
                && bytes.loadUnaligned(fromByteOffset: count + 8, as: UInt64.self) == tag.1
        }
        guard isAuthentic else { return false }
        message.withUnsafeBytes { output.append(contentsOf: $0[..<count]) }
        return true
    }
}
