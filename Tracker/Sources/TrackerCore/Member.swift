internal import CoreModel
internal import TrackerProtocol

/// A viewer in a swarm.
struct Member: Sendable {
    let connection: ConnectionKey
    let peer: PeerID
    let claimKey: VerificationKey
    /// Where it accepts links; port 0 for nowhere.
    let address: NetworkAddress
    let flags: ViewerFlags
    let pseudonym: Bytes16
    let nonce: Bytes16
    let joinedAt: MonotonicInstant
    var lastHeard: MonotonicInstant
    var position: Duration
    var positionAsOf: MonotonicInstant
    var isPlaying = true
    var mediaBitsPerSecond: UInt64 = 0
    var uplinkBitsPerSecond: UInt64 = 0
    var bytesFromCDN: UInt64 = 0
    var bytesFromPeers: UInt64 = 0
    var bytesUploaded: UInt64 = 0
    var chunksRejected: UInt64 = 0
    var stalls: UInt64 = 0
    /// Addresses it was told in the present hour.
    var toldAddresses = 0
    var toldSince: MonotonicInstant

    /// Where its playhead is, as far as known.
    func position(at now: MonotonicInstant) -> Duration {
        isPlaying ? position + min(positionAsOf.duration(to: now), .seconds(60)) : position
    }
}
