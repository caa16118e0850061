import CoreModel
import Cryptography
import EventLoop
import SwarmProtocol

/// The connections of a viewer's links, and what the decisions about them ask of the world. Confined to the loop.
final class PeerTransports: PeerEnvironment {
    let source: ViewerSource
    var secrets = SystemRandom()
    private let wallClock: () -> UnixTime
    /// By the link's slot.
    private var connections: [(id: LinkID, connection: TCPConnection)?] = []

    init(source: any ChunkSource, wallClock: @escaping () -> UnixTime) {
        self.source = ViewerSource(source: source)
        self.wallClock = wallClock
    }

    var time: UnixTime { wallClock() }

    /// A link's connection, while it has one.
    subscript(id: LinkID) -> TCPConnection? {
        get {
            guard id.slot < connections.count, let entry = connections[id.slot], entry.id == id else { return nil }
            return entry.connection
        }
        set {
            while connections.count <= id.slot { connections.append(nil) }
            if let newValue {
                connections[id.slot] = (id, newValue)
            } else if connections[id.slot]?.id == id {
                connections[id.slot] = nil
            }
        }
    }

    func queuedByteCount(of link: LinkID) -> Int { self[link]?.queuedByteCount ?? 0 }
    func unacknowledgedByteCount(of link: LinkID) -> Int { self[link]?.kernelQueuedByteCount ?? 0 }
    func sentByteCount(of link: LinkID) -> Int { self[link]?.sentByteCount ?? 0 }
    func roundTrip(of link: LinkID) -> Duration? { self[link]?.roundTrip }

    /// Closes them all.
    func close() {
        for entry in connections { entry?.connection.close() }
        connections = []
    }
}

/// A viewer's store, whichever it is.
struct ViewerSource: ChunkSource {
    let source: any ChunkSource

    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability {
        source.availability(ofChunk: chunk, root: root)
    }

    func bringBack(_ chunks: Range<Int>, root: Digest) -> Bool { source.bringBack(chunks, root: root) }

    func start(ofSegment root: Digest) -> Duration? { source.start(ofSegment: root) }

    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? { source.leaves(ofStripe: stripe, root: root) }
}
