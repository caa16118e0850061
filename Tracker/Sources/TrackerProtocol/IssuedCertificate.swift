internal import CoreModel

/// A membership certificate as it travels, with the life it has left, so that renewal needs no common clock.
public struct IssuedCertificate: Hashable, Sendable {
    /// The certificate's bytes (the Integrity module reads them).
    public var bytes: [UInt8]
    /// How long it is valid from now, in seconds.
    public var validForSeconds: UInt32

    /// Wraps a certificate.
    public init(bytes: [UInt8], validForSeconds: UInt32) {
        self.bytes = bytes
        self.validForSeconds = validForSeconds
    }

    init(from reader: inout WireReader) throws(WireError) {
        validForSeconds = try reader.integer()
        bytes = Array(try reader.prefixed16("certificate", limit: ControlProtocol.maximumCertificateByteCount))
    }

    func write(to writer: inout WireWriter) {
        precondition(bytes.count <= ControlProtocol.maximumCertificateByteCount, "certificate of \(bytes.count) bytes")
        writer.integer(validForSeconds)
        writer.prefixed16(bytes)
    }
}
