public import CoreModel

/// A peer as another one passes it on: where it listens, and the certificate that says who it is.
public struct PeerEntry: Hashable, Sendable {
    /// Where it listens.
    public var address: NetworkAddress
    /// Its certificate.
    public var certificate: ArraySlice<UInt8>

    /// Makes the entry.
    public init(address: NetworkAddress, certificate: ArraySlice<UInt8>) {
        self.address = address
        self.certificate = certificate
    }
}
