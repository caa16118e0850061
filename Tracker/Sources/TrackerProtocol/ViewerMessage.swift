public import CoreModel

/// A message from a viewer to the tracker.
public enum ViewerMessage: Hashable, Sendable {
    /// Asks for admission; the signature is the claim key's over ``ControlProtocol/joinStatement(challenge:request:)``.
    case join(JoinRequest, signature: Signature)
    /// Reports position and traffic.
    case report(ViewerReport)
    /// Asks for up to `count` peers.
    case wantPeers(count: UInt8)
    /// Asks for a new certificate before the present one expires.
    case renew
    /// Says good-bye; the tracker closes the connection.
    case leave

    private enum Kind: UInt8 {
        case join = 0x01
        case report = 0x02
        case wantPeers = 0x03
        case renew = 0x04
        case leave = 0x05
    }

    /// Reads one message.
    ///
    /// - Throws: ``CoreModel/WireError``; ``ControlError/Code/malformed`` is then the answer. A join of another version
    ///   is `.invalid(field: "version")`.
    public init(decoding bytes: ArraySlice<UInt8>) throws(WireError) {
        guard bytes.count <= ControlProtocol.maximumMessageByteCount else {
            throw .tooLarge(field: "message", value: bytes.count, limit: ControlProtocol.maximumMessageByteCount)
        }
        var reader = WireReader(bytes)
        guard let kind = Kind(rawValue: try reader.integer()) else { throw .invalid(field: "type") }
        switch kind {
        case .join:
            guard try reader.integer(UInt16.self) == ControlProtocol.version else { throw .invalid(field: "version") }
            let request = try JoinRequest(from: &reader)
            guard let signature = Signature(try reader.slice(64)) else { throw .invalid(field: "signature") }
            self = .join(request, signature: signature)
        case .report: self = .report(try ViewerReport(from: &reader))
        case .wantPeers: self = .wantPeers(count: try reader.integer())
        case .renew: self = .renew
        case .leave: self = .leave
        }
        try reader.finish()
    }

    /// The message's bytes.
    ///
    /// - Precondition: token and previous certificate are within their limits.
    public func encoded() -> [UInt8] {
        var writer = WireWriter()
        switch self {
        case .join(let request, let signature):
            precondition(
                request.token.count <= ControlProtocol.maximumTokenByteCount
                    && request.previousCertificate.count <= ControlProtocol.maximumCertificateByteCount,
                "a join's token or certificate is over its limit")
            writer.integer(Kind.join.rawValue)
            writer.integer(ControlProtocol.version)
            request.write(to: &writer)
            writer.append(signature.bytes)
        case .report(let report):
            writer.integer(Kind.report.rawValue)
            report.write(to: &writer)
        case .wantPeers(let count):
            writer.integer(Kind.wantPeers.rawValue)
            writer.integer(count)
        case .renew: writer.integer(Kind.renew.rawValue)
        case .leave: writer.integer(Kind.leave.rawValue)
        }
        return writer.bytes
    }
}
