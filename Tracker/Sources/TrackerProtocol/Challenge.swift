public import CoreModel

/// The tracker's first message: what a join must sign, and the versions the tracker speaks.
public struct Challenge: Hashable, Sendable {
    /// The lowest version of the protocol that the tracker speaks.
    public var lowestVersion: UInt16
    /// The highest version of the protocol that the tracker speaks.
    public var highestVersion: UInt16
    /// Random bytes, new for each connection.
    public var nonce: Bytes32

    /// Makes a challenge.
    public init(
        lowestVersion: UInt16 = ControlProtocol.version, highestVersion: UInt16 = ControlProtocol.version,
        nonce: Bytes32
    ) {
        self.lowestVersion = lowestVersion
        self.highestVersion = highestVersion
        self.nonce = nonce
    }

    init(from reader: inout WireReader) throws(WireError) {
        lowestVersion = try reader.integer()
        highestVersion = try reader.integer()
        nonce = try reader.bytes32()
    }

    func write(to writer: inout WireWriter) {
        writer.integer(lowestVersion)
        writer.integer(highestVersion)
        writer.append(nonce)
    }
}
