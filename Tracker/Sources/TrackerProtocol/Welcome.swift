public import CoreModel

/// The tracker's answer to a join that it admits.
public struct Welcome: Hashable, Sendable {
    /// The swarm of the stream.
    public var swarm: SwarmID
    /// The secret that the swarm's identifier is derived with; empty with open admission.
    public var swarmSecret: [UInt8]
    /// The key that signs the swarm's certificates.
    public var membershipKey: VerificationKey
    /// The viewer's certificate.
    public var certificate: IssuedCertificate
    /// The tracker's clock.
    public var serverTime: UnixTime
    /// The viewers in the swarm, this one included.
    public var swarmSize: UInt32
    /// The time between two reports that the tracker asks for, in milliseconds.
    public var reportIntervalMilliseconds: UInt32
    /// The viewer's address as the tracker sees it, with the port it said it listens on.
    public var observedAddress: NetworkAddress
    /// What the operator tightens.
    public var settings: RemoteSettings

    /// Makes a welcome.
    public init(
        swarm: SwarmID, swarmSecret: [UInt8], membershipKey: VerificationKey, certificate: IssuedCertificate,
        serverTime: UnixTime, swarmSize: UInt32, reportIntervalMilliseconds: UInt32, observedAddress: NetworkAddress,
        settings: RemoteSettings = RemoteSettings()
    ) {
        self.swarm = swarm
        self.swarmSecret = swarmSecret
        self.membershipKey = membershipKey
        self.certificate = certificate
        self.serverTime = serverTime
        self.swarmSize = swarmSize
        self.reportIntervalMilliseconds = reportIntervalMilliseconds
        self.observedAddress = observedAddress
        self.settings = settings
    }

    init(from reader: inout WireReader) throws(WireError) {
        guard let swarm = SwarmID(try reader.slice(20)) else { throw .invalid(field: "swarm") }
        self.swarm = swarm
        swarmSecret = Array(
            try reader.prefixed16("swarm secret", limit: ControlProtocol.maximumSwarmSecretByteCount))
        membershipKey = VerificationKey(try reader.bytes32())
        certificate = try IssuedCertificate(from: &reader)
        let time: UInt64 = try reader.integer()
        guard let milliseconds = Int64(exactly: time) else { throw .invalid(field: "server time") }
        serverTime = UnixTime(milliseconds: milliseconds)
        swarmSize = try reader.integer()
        reportIntervalMilliseconds = try reader.integer()
        observedAddress = try NetworkAddress(from: &reader)
        settings = try RemoteSettings(from: &reader)
    }

    func write(to writer: inout WireWriter) {
        writer.append(swarm.bytes)
        writer.prefixed16(swarmSecret)
        writer.append(membershipKey.value)
        certificate.write(to: &writer)
        writer.integer(UInt64(max(0, serverTime.milliseconds)))
        writer.integer(swarmSize)
        writer.integer(reportIntervalMilliseconds)
        observedAddress.write(to: &writer)
        settings.write(to: &writer)
    }
}
