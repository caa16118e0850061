import CoreModel
import FuzzSupport
import SwarmProtocol

/// Nothing to upload.
struct EmptySource: ChunkSource {
    let answer: UInt8

    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability {
        switch answer % 3 {
        case 0: .unavailable
        case 1: .expected
        default: .available([UInt8](repeating: 1, count: SegmentGeometry.chunkByteCount)[...])
        }
    }

    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? { answer % 2 == 0 ? nil : [root] }
}

/// One side of a link under attack, and what it sends.
struct Victim {
    var link: PeerLink
    var now = MonotonicInstant.origin.advanced(by: .seconds(10))
    let source: EmptySource

    /// Takes bytes and gives everything that it wants to send.
    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        link.receive(bytes.span.bytes, now: now)
        return drain()
    }

    mutating func drain() -> [UInt8] {
        var output: [UInt8] = []
        for _ in 0..<10_000 {
            switch link.poll(now: now, writable: 1 << 20, source: source) {
            case .transmit(let bytes): output += bytes
            case .event(.candidate): link.admit(now: now)
            case .event(.recordRequested(let id, _)): link.answerRecord(id, with: [1, 2, 3])
            case .event: break
            case .wait: return output
            }
        }
        preconditionFailure("the link never rests")
    }
}

let suite = PermissiveSuite()
let swarm = SwarmID([UInt8](repeating: 7, count: 20))!
let attacker = LinkIdentity(
    suite: suite, key: suite.agreementKey(seed: Bytes32(words: (1, 1, 1, 1))), certificate: [1], swarm: swarm,
    uploads: true, listenPort: 1)
let defender = LinkIdentity(
    suite: suite, key: suite.agreementKey(seed: Bytes32(words: (2, 2, 2, 2))), certificate: [2], swarm: swarm,
    uploads: true, listenPort: 2)

/// Raw bytes from the first one on, or frames of the fuzzer's over a link whose handshake was honest: a real attacker can do
/// both.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let mode = input.byte()
    var generator = SeededGenerator(seed: 1)
    let now = MonotonicInstant.origin.advanced(by: .seconds(10))
    var victim = Victim(
        link: PeerLink(acceptingWith: defender, now: now, using: &generator), source: EmptySource(answer: mode >> 1))
    if mode & 1 == 0 {
        while !input.isEmpty { _ = victim.take(input.piece()) }
        return 0
    }
    var other = Victim(
        link: PeerLink(connectingTo: defender.peerID, identity: attacker, now: now, using: &generator),
        source: EmptySource(answer: 0))
    var bytes = other.drain()
    for _ in 0..<4 where !bytes.isEmpty { bytes = other.take(victim.take(bytes)) }
    precondition(other.link.isEstablished && victim.link.isEstablished, "an honest handshake succeeds")
    // Requests that are open, so that data and rejects have something to answer.
    for id in 0..<3 {
        let request = ChunkRequest(
            id: ChunkRequestID(rawValue: UInt32(id)), root: Digest(Bytes32(words: (0, 0, 0, UInt64(id)))),
            chunks: 0..<8, timeLeft: .seconds(2), wantsLeaves: true)
        _ = victim.link.request(request, now: victim.now)
    }
    _ = victim.drain()
    while !input.isEmpty {
        let step = input.byte()
        let elapsed = Duration.milliseconds(Int64(step) * 8)
        victim.now = victim.now.advanced(by: elapsed)
        other.now = victim.now
        other.link.send(encoded: input.piece())
        _ = victim.take(other.drain())
    }
    return 0
}
