/// A claim on its way through the swarm.
public struct ClaimFrame: Hashable, Sendable {
    /// Hops that the claim has made: 0 from its maker.
    public var hopCount: UInt8
    /// The maker's certificate.
    public var certificate: ArraySlice<UInt8>
    /// The claim, signed by the maker's claim key.
    public var claim: ArraySlice<UInt8>

    /// Makes the frame.
    public init(hopCount: UInt8, certificate: ArraySlice<UInt8>, claim: ArraySlice<UInt8>) {
        self.hopCount = hopCount
        self.certificate = certificate
        self.claim = claim
    }
}
