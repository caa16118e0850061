/// A claim on its way through the swarm.
public struct ClaimFrame: Hashable, Sendable {
    /// Hops that the claim has made: 0 from its maker.
    public var hopCount: UInt8
    /// The claim with its maker's certificate in it, signed by the maker's claim key.
    public var claim: ArraySlice<UInt8>

    /// Makes the frame.
    public init(hopCount: UInt8, claim: ArraySlice<UInt8>) {
        self.hopCount = hopCount
        self.claim = claim
    }
}
