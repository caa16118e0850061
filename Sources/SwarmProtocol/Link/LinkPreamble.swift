public import CoreModel

/// The first two bytes of a connection, sent by the initiator in the clear: the handshake's pattern and the version.
///
/// They are part of the prologue, so altering them makes the handshake fail.
public struct LinkPreamble: Hashable, Sendable {
    /// Bytes on the wire.
    public static let byteCount = 2

    /// The handshake's pattern.
    public var pattern: NoisePattern
    /// The version that the initiator wants to speak.
    public var version: UInt8

    /// Makes the preamble of a link in the highest version.
    public init(pattern: NoisePattern, version: UInt8 = LinkVersion.highest) {
        self.pattern = pattern
        self.version = version
    }

    /// Reads a preamble; `nil` for a pattern or version that is not spoken here.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount, let first = bytes.first, let pattern = NoisePattern(rawValue: first),
            let version = bytes.dropFirst().first, (LinkVersion.lowest...LinkVersion.highest).contains(version)
        else { return nil }
        self.init(pattern: pattern, version: version)
    }

    /// The bytes on the wire.
    public var bytes: [UInt8] { [pattern.rawValue, version] }

    /// What both sides hash before the first message: "pdn-peer", the preamble and the swarm.
    public func prologue(swarm: SwarmID) -> [UInt8] { Array("pdn-peer".utf8) + bytes + swarm.bytes }
}
