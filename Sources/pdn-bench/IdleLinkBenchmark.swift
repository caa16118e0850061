import CoreModel
import Cryptography
import SwarmProtocol

/// The memory of an idle link's state machine, heap and all.
enum IdleLinkBenchmark {
    static func run() -> [Measurement] {
        let pairCount = 10_000
        let suite = SystemCryptoSuite()
        let swarm = SwarmID([UInt8](repeating: 7, count: 20))!
        var generator = SeededGenerator(seed: 1)
        let identities = (0..<2).map { index in
            LinkIdentity(
                suite: suite, key: suite.agreementKey(seed: Bytes32(words: (1, 2, 3, UInt64(index)))),
                certificate: [1], swarm: swarm, uploads: true, listenPort: 1)
        }
        var links: [PeerLink] = []
        links.reserveCapacity(2 * pairCount)
        var before = 0
        var now = MonotonicInstant.origin
        // The first ones make the process's own tables, which are not counted.
        for pair in -100..<pairCount {
            if pair == 0 {
                links.removeAll(keepingCapacity: true)
                before = Usage.residentByteCount
            }
            var one = PeerLink(
                connectingTo: identities[1].peerID, identity: identities[0], now: now, using: &generator)
            var other = PeerLink(acceptingWith: identities[1], now: now, using: &generator)
            for _ in 0..<4 {
                exchange(from: &one, to: &other, now: now)
                exchange(from: &other, to: &one, now: now)
            }
            precondition(one.isEstablished && other.isEstablished, "an honest handshake succeeds")
            links.append(one)
            links.append(other)
        }
        // Idle for long enough to give back what the handshake needed.
        now = now.advanced(by: .seconds(45))
        for index in stride(from: 0, to: links.count, by: 2) {
            var (one, other) = (links[index], links[index + 1])
            exchange(from: &one, to: &other, now: now)
            exchange(from: &other, to: &one, now: now)
            (links[index], links[index + 1]) = (one, other)
        }
        let perLink = Double(Usage.residentByteCount - before) / Double(links.count)
        return [Measurement(name: "idle-link", value: perLink, unit: "bytes", limit: nil)]
    }

    private static func exchange(from: inout PeerLink, to: inout PeerLink, now: MonotonicInstant) {
        while true {
            switch from.poll(now: now, writable: 1 << 16, source: NothingToUpload()) {
            case .transmit(let bytes): to.receive(bytes.span.bytes, now: now)
            case .event(.candidate): from.admit(now: now)
            case .event: break
            case .wait: return
            }
        }
    }
}

/// A store that is empty.
struct NothingToUpload: ChunkSource {
    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability { .unavailable }
    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? { nil }
}
