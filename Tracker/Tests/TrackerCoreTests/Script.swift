import CoreModel
import Cryptography
import Integrity
import TrackerCore
import TrackerProtocol

let suite = SystemCryptoSuite()

func bytes32(_ byte: UInt8) -> Bytes32 {
    Bytes32(words: (UInt64(byte), 0, 0, UInt64(byte)))
}

/// A viewer as the tests play it.
struct Viewer {
    var number: UInt8
    var stream = StreamID(Bytes16(high: 1, low: 2))
    var address = NetworkAddress(ipv4: 0x7F00_0001, port: 50_000)
    var port: UInt16
    var flags: ViewerFlags = []
    var position: UInt64 = 0
    var token: [UInt8] = []
    var previousCertificate: [UInt8] = []
    var claimSeed: UInt8

    init(
        _ number: UInt8, at host: UInt32 = 0x7F00_0001, flags: ViewerFlags = [], position: UInt64 = 0,
        token: [UInt8] = []
    ) {
        self.number = number
        self.flags = flags
        self.position = position
        self.token = token
        address = NetworkAddress(ipv4: host, port: 50_000)
        port = 4000 + UInt16(number)
        claimSeed = number
    }

    var peer: PeerID { PeerID(bytes32(number)) }

    var claimKey: any SigningKey { suite.signingKey(seed: bytes32(claimSeed)) }

    var request: JoinRequest {
        JoinRequest(
            stream: stream, peer: peer, claimKey: claimKey.verificationKey, listenPort: port, flags: flags,
            startPositionMilliseconds: position, token: token, previousCertificate: previousCertificate)
    }
}

/// A tracker in virtual time; what it sends is collected by connection.
struct Script {
    static let membershipKey = RoleKey(role: .membership, key: suite.signingKey(seed: bytes32(200)), suite: suite)
    static let tokenKey = RoleKey(role: .token, key: suite.signingKey(seed: bytes32(201)), suite: suite)

    var store: TrackerStore
    var now = MonotonicInstant.origin + .seconds(1000)
    var time = UnixTime(seconds: 1_800_000_000)
    private var generator = SeededGenerator(seed: 5)
    private var messages: [UInt64: [TrackerMessage]] = [:]
    private(set) var closed: Set<UInt64> = []

    init(_ change: (inout TrackerConfiguration) -> Void = { _ in }) {
        var configuration = TrackerConfiguration()
        change(&configuration)
        store = TrackerStore(configuration: configuration, key: Self.membershipKey, suite: suite)
    }

    /// Opens a connection and gives its challenge.
    mutating func connect(_ id: UInt64) -> Bytes32 {
        store.connected(ConnectionKey(rawValue: id), now: now, using: &generator)
        drain()
        for message in take(id) { if case .challenge(let challenge) = message { return challenge.nonce } }
        return .zero
    }

    mutating func send(_ bytes: [UInt8], on id: UInt64, from address: NetworkAddress = Viewer(1).address) {
        store.received(
            bytes, on: ConnectionKey(rawValue: id), from: address, now: now, time: time, using: &generator)
        drain()
    }

    mutating func send(_ message: ViewerMessage, on id: UInt64) { send(message.encoded(), on: id) }

    /// Joins over a new connection, numbered as the viewer unless told otherwise; gives the answer.
    @discardableResult
    mutating func join(_ viewer: Viewer, on id: UInt64? = nil) -> [TrackerMessage] {
        let id = id ?? UInt64(viewer.number)
        let challenge = connect(id)
        let signature = viewer.claimKey.sign(
            ControlProtocol.joinStatement(challenge: challenge, request: viewer.request))
        send(ViewerMessage.join(viewer.request, signature: signature).encoded(), on: id, from: viewer.address)
        return take(id)
    }

    mutating func report(
        _ id: UInt64, position: UInt64, isPlaying: Bool = true, _ change: (inout ViewerReport) -> Void = { _ in }
    ) {
        var report = ViewerReport(isPlaying: isPlaying, positionMilliseconds: position)
        change(&report)
        send(.report(report), on: id)
    }

    mutating func disconnect(_ id: UInt64) {
        store.disconnected(ConnectionKey(rawValue: id), now: now)
        drain()
    }

    /// Lets time pass, with a tick each second.
    mutating func pass(_ seconds: Int) {
        for _ in 0..<seconds { pass(milliseconds: 1000) }
    }

    /// Lets time pass up to one tick.
    mutating func pass(milliseconds: Int64) {
        now = now + .milliseconds(milliseconds)
        time = time + .milliseconds(milliseconds)
        store.tick(now: now)
        drain()
    }

    /// What was sent to a connection since the last call.
    mutating func take(_ id: UInt64) -> [TrackerMessage] { messages.removeValue(forKey: id) ?? [] }

    mutating func stop() {
        store.stop()
        drain()
    }

    private mutating func drain() {
        while let output = store.poll() {
            switch output {
            case .send(let connection, let message): messages[connection.rawValue, default: []].append(message)
            case .close(let connection): closed.insert(connection.rawValue)
            }
        }
    }
}

extension [TrackerMessage] {
    var welcome: Welcome? {
        for case .welcome(let welcome) in self { return welcome }
        return nil
    }

    var peers: [PeerCandidate]? {
        for case .peers(let peers) in self { return peers }
        return nil
    }

    var names: [PeerID] { peers?.map(\.peer) ?? [] }

    var fronts: [Front] { compactMap { if case .front(let front) = $0 { front } else { nil } } }

    var error: ControlError.Code? {
        for case .error(let error) in self { return error.code }
        return nil
    }
}
