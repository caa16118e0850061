internal import CoreModel
internal import TrackerProtocol

/// A viewer in a swarm.
struct Member: Sendable {
    /// A front that was told to a viewer.
    struct ToldFront: Sendable {
        var members: [PeerID]
        var until: MonotonicInstant
        /// Where the leading viewer of its cohort was at ``leadAsOf``.
        var lead: Duration
        var leadAsOf: MonotonicInstant
    }

    let connection: ConnectionKey
    let peer: PeerID
    let claimKey: VerificationKey
    /// Where it accepts links; port 0 for nowhere.
    let address: NetworkAddress
    let flags: ViewerFlags
    let pseudonym: Bytes16
    let nonce: Bytes16
    var lastHeard: MonotonicInstant
    var position: Duration
    var positionAsOf: MonotonicInstant
    /// When it joined, or last said that it plays.
    var activeAt: MonotonicInstant
    var isPlaying = true
    var mediaBitsPerSecond: UInt64 = 0
    var uplinkBitsPerSecond: UInt64 = 0
    var traffic = Traffic()
    var front: ToldFront?

    /// A viewer that neither plays nor is about to leaves its cohort after so long: it does not move on with the others.
    static let pauseLimit: Duration = .seconds(60)

    /// Where its playhead is, as far as known.
    func position(at now: MonotonicInstant) -> Duration {
        isPlaying ? position + min(positionAsOf.duration(to: now), .seconds(60)) : position
    }

    /// Whether it belongs to a cohort: it plays, or has paused or joined a short while ago.
    func isActive(at now: MonotonicInstant) -> Bool {
        isPlaying || activeAt.duration(to: now) < Self.pauseLimit
    }

    /// Whether it may play the same rendition as another, as far as bit rates tell.
    func playsSame(as other: Member) -> Bool {
        mediaBitsPerSecond == 0 || other.mediaBitsPerSecond == 0
            || RenditionGroup.areSame(mediaBitsPerSecond, other.mediaBitsPerSecond)
    }

    /// Whether others are sent to it.
    var isOfferable: Bool { flags.allowsUpload && address.port != 0 }

    /// Whether it has had its chance to upload and has not.
    var isSuspect: Bool {
        traffic.bytesFromCDN > 4 << 20 && traffic.bytesFromPeers > 4 << 20 && traffic.bytesUploaded == 0
    }
}
