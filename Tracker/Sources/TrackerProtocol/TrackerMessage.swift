public import CoreModel

/// A message from the tracker to a viewer.
public enum TrackerMessage: Hashable, Sendable {
    /// Opens the connection.
    case challenge(Challenge)
    /// Admits the viewer.
    case welcome(Welcome)
    /// Suggests peers.
    case peers([PeerCandidate])
    /// Names who fetches from the CDN.
    case front(Front)
    /// The number of viewers in the swarm; the answer to a report.
    case swarm(size: UInt32)
    /// A renewed certificate.
    case certificate(IssuedCertificate)
    /// Refuses something.
    case error(ControlError)

    private enum Kind: UInt8 {
        case challenge = 0x40
        case welcome = 0x41
        case peers = 0x42
        case front = 0x43
        case swarm = 0x44
        case certificate = 0x45
        case error = 0x46
    }

    /// Reads one message.
    ///
    /// - Returns: `nil` for a type that this version doesn't know, which the viewer ignores.
    /// - Throws: ``CoreModel/WireError``; the viewer closes the connection and goes to another tracker.
    public static func decode(_ bytes: ArraySlice<UInt8>) throws(WireError) -> TrackerMessage? {
        guard bytes.count <= ControlProtocol.maximumMessageByteCount else {
            throw .tooLarge(field: "message", value: bytes.count, limit: ControlProtocol.maximumMessageByteCount)
        }
        var reader = WireReader(bytes)
        guard let kind = Kind(rawValue: try reader.integer()) else { return nil }
        let message: TrackerMessage
        switch kind {
        case .challenge: message = .challenge(try Challenge(from: &reader))
        case .welcome: message = .welcome(try Welcome(from: &reader))
        case .peers:
            let count = Int(try reader.integer(UInt8.self))
            guard count <= ControlProtocol.maximumPeerCount else {
                throw .tooLarge(field: "peers", value: count, limit: ControlProtocol.maximumPeerCount)
            }
            var peers: [PeerCandidate] = []
            peers.reserveCapacity(count)
            for _ in 0..<count { peers.append(try PeerCandidate(from: &reader)) }
            message = .peers(peers)
        case .front: message = .front(try Front(from: &reader))
        case .swarm: message = .swarm(size: try reader.integer())
        case .certificate: message = .certificate(try IssuedCertificate(from: &reader))
        case .error: message = .error(try ControlError(from: &reader))
        }
        try reader.finish()
        return message
    }

    /// The message's bytes.
    ///
    /// - Precondition: every count and length is within its limit in ``ControlProtocol``.
    public func encoded() -> [UInt8] {
        var writer = WireWriter()
        switch self {
        case .challenge(let challenge):
            writer.integer(Kind.challenge.rawValue)
            challenge.write(to: &writer)
        case .welcome(let welcome):
            writer.integer(Kind.welcome.rawValue)
            welcome.write(to: &writer)
        case .peers(let peers):
            precondition(peers.count <= ControlProtocol.maximumPeerCount, "\(peers.count) peers in a message")
            writer.integer(Kind.peers.rawValue)
            writer.integer(UInt8(peers.count))
            for peer in peers { peer.write(to: &writer) }
        case .front(let front):
            writer.integer(Kind.front.rawValue)
            front.write(to: &writer)
        case .swarm(let size):
            writer.integer(Kind.swarm.rawValue)
            writer.integer(size)
        case .certificate(let certificate):
            writer.integer(Kind.certificate.rawValue)
            certificate.write(to: &writer)
        case .error(let error):
            writer.integer(Kind.error.rawValue)
            error.write(to: &writer)
        }
        return writer.bytes
    }
}
