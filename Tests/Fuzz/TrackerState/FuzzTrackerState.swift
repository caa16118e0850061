import CoreModel
import FuzzSupport
import Integrity
import TrackerCore
import TrackerProtocol

let suite = PermissiveSuite()
let claimKey = suite.signingKey(seed: Bytes32(words: (1, 1, 1, 1)))
let request = JoinRequest(
    stream: Samples.stream, peer: PeerID(.zero), claimKey: claimKey.verificationKey, listenPort: 4001, flags: [],
    startPositionMilliseconds: 0, token: Samples.token.encoded, previousCertificate: Samples.certificate.encoded)
let signature = claimKey.sign([1])

/// The two state machines of the control connection under messages from outside: the tracker with several viewers, or a viewer
/// with a tracker. Each rests after every input.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    if input.byte() & 1 == 0 { attackTracker(&input) } else { attackViewer(&input) }
    return 0
}

func attackTracker(_ input: inout FuzzInput) {
    var generator = SeededGenerator(seed: 1)
    var now = MonotonicInstant.origin.advanced(by: .seconds(1000))
    var time = UnixTime(seconds: 2000)
    var configuration = TrackerConfiguration()
    configuration.maximumMemberCount = 6
    if input.byte() & 1 == 1 { configuration.tokenKeys = [Samples.key] }
    let key = RoleKey(role: .membership, key: suite.signingKey(seed: .zero), suite: suite)
    var store = TrackerStore(configuration: configuration, key: key, suite: suite)
    for _ in 0..<200 where !input.isEmpty {
        let step = input.byte()
        let connection = ConnectionKey(rawValue: UInt64(step >> 4))
        let address = NetworkAddress(ipv4: 0x7F00_0001 + UInt32(step >> 6), port: 1)
        switch step & 7 {
        case 0: store.connected(connection, now: now, using: &generator)
        case 1: store.disconnected(connection, now: now)
        case 2:
            let elapsed = Duration.milliseconds(Int64(input.byte()) * 200)
            now = now.advanced(by: elapsed)
            time = UnixTime(milliseconds: time.milliseconds + Int64(elapsed / .milliseconds(1)))
            store.tick(now: now)
        case 3:
            // A viewer of its own on each connection.
            var own = request
            own.peer = PeerID(Bytes32(words: (0, 0, 0, connection.rawValue)))
            own.startPositionMilliseconds = UInt64(input.byte()) << (step >> 4)
            let join = ViewerMessage.join(own, signature: signature).encoded()
            store.received(join, on: connection, from: address, now: now, time: time, using: &generator)
        default:
            store.received(input.piece(), on: connection, from: address, now: now, time: time, using: &generator)
        }
        var outputs = 0
        while store.poll() != nil {
            outputs += 1
            precondition(outputs < 10_000, "the tracker never rests")
        }
        precondition(store.statistics.viewers <= configuration.maximumMemberCount, "the tracker is bounded")
    }
    store.stop()
    while store.poll() != nil {}
}

func attackViewer(_ input: inout FuzzInput) {
    var generator = SeededGenerator(seed: 1)
    var now = MonotonicInstant.origin.advanced(by: .seconds(10))
    var session = TrackerSession(
        configuration: TrackerSession.Configuration(
            trackers: ["ws://a", "ws://b"], request: request, claimKey: claimKey))
    var connection: TrackerSession.ConnectionID?
    session.handle(.start, now: now, using: &generator)
    for _ in 0..<200 {
        var outputs = 0
        poll: while true {
            outputs += 1
            precondition(outputs < 10_000, "the viewer never rests")
            switch session.poll() {
            case .connect(let id, _): connection = id
            case .close(let id): if connection == id { connection = nil }
            case .send(_, let bytes):
                precondition((try? ViewerMessage(decoding: bytes[...])) != nil, "a viewer is honest")
            case .event: break
            case .wait: break poll
            }
        }
        guard !input.isEmpty else { return }
        let step = input.byte()
        switch step & 7 {
        case 0: if let connection { session.handle(.connected(connection), now: now, using: &generator) }
        case 1:
            if let connection { session.handle(.disconnected(connection, reason: "gone"), now: now, using: &generator) }
        case 2:
            now = now.advanced(by: .milliseconds(Int64(input.byte()) << (step >> 4)))
            session.handle(.timeout, now: now, using: &generator)
        case 3: session.handle(.wantPeers(Int(input.byte())), now: now, using: &generator)
        case 4: session.handle(.reportSoon, now: now, using: &generator)
        default:
            if let connection { session.handle(.received(connection, input.piece()), now: now, using: &generator) }
        }
    }
    session.handle(.stop, now: now, using: &generator)
}
