public import CoreModel
public import Cryptography
public import Scheduling

/// What one viewer's session plays and how.
public struct SessionConfiguration: Sendable {
    /// How a viewer of a test swarm misbehaves.
    public enum Conduct: Sendable, Equatable {
        /// As the protocol says.
        case honest
        /// Alters each chunk that it uploads.
        case polluting
        /// Takes and never gives.
        case freeRiding
    }

    /// The manifest's address; without a scheme https is tried first.
    public var url: String
    /// Whether peers are used at all; off means that no socket but the CDN's is opened.
    public var usesPeers = false
    /// Trackers, tried in order: http(s) and ws(s) addresses.
    public var trackerURLs: [String] = []
    /// The viewer's token, as `pdn token` prints it. With one, trackers are used only over TLS or on this machine.
    public var token: String?
    /// The public keys whose signatures on records count.
    public var trustedKeys: [VerificationKey] = []
    /// How many of them must have signed a record; 1 and more.
    public var requiredSignatures = 1
    /// The tracker's membership key, when it is pinned.
    public var trackerKey: VerificationKey?
    /// The operator's name of the stream; otherwise the catalogue says it.
    public var streamName: String?
    /// Where the catalogue is; otherwise beside the manifest, as its path with ".pdn" added.
    public var catalogueURL: String?
    /// The rendition to play from the first segment to the last, as `pdn inspect` lists it; otherwise each segment is played
    /// in the one that suits the network best.
    public var renditionID: String?
    /// The highest bit rate that is chosen, in bits a second; `nil` for any. The lowest rendition is always allowed.
    public var maximumBitsPerSecond: Int?
    /// Where the picture is shown when the session starts, in pixels: no larger one is chosen than it takes to fill that.
    public var viewport: PixelSize?
    /// Whether ``viewport`` counts.
    public var isLimitedToDisplay = true
    /// Keys of media in common encryption by their identifiers; they stay in this process and out of every log.
    public var contentKeys: [Bytes16: ContentKey] = [:]
    /// The audio language to prefer, as in BCP 47.
    public var audioLanguage: String?
    /// The language of the subtitles to choose, as in BCP 47. They can't be shown yet: the log says so where there are any.
    public var subtitleLanguage: String?
    /// Where playback starts; in live playback starts at the latency to play at.
    public var start: Duration = .zero
    /// In live how far behind the live edge to play; `nil` for what the manifest says.
    public var liveLatency: Duration?
    /// What the network is expected to give before anything was measured, in bits a second.
    public var startBitsPerSecond: UInt64 = 4_000_000
    /// Upload at most this many bits a second; `nil` for no cap.
    public var uploadBitsPerSecond: Int?
    /// Download from peers at most this many bits a second; `nil` for no cap.
    public var downloadBitsPerSecond: Int?
    /// Upload at most this many times what was downloaded, over ten minutes; 0 for download only.
    public var uploadRatio = 2.0
    /// Whether the link is metered: nothing is uploaded then unless ``uploadsOnMetered``.
    public var isMetered = false
    /// Whether uploads go on over a metered link.
    public var uploadsOnMetered = false
    /// Whether only private addresses are dialled.
    public var isLocalOnly = false
    /// Media kept in memory for peers and for seeks back, in bytes.
    public var storeByteCount = 128 << 20
    /// Media kept on the disk beside that, in bytes: what peers may still ask for and the memory has no room for. Never
    /// more than a tenth of what is free there, and nothing without ``usesPeers``.
    public var diskByteCount = 0
    /// Where that file without a name is made; `nil` for the user's cache folder.
    public var diskFolder: String?
    /// Where peers are accepted; port 0 lets the system choose.
    public var listenAddress = NetworkAddress(ipv4: 0, port: 0)
    /// Links to peers at most.
    public var maximumPeerCount = 25
    /// How the viewer behaves in a test swarm.
    public var conduct = Conduct.honest
    /// How far ahead of the playhead media is handed to the player.
    public var feedAhead: Duration = .seconds(15)
    /// The scheduler's constants.
    public var scheduling = SchedulerConfiguration()
    /// A file of certificates to trust in place of the system's.
    public var certificateFile: String?
    /// Whether decisions are kept for ``ViewerSession/decisions``.
    public var keepsDecisions = false

    /// What limits automatic choices.
    var limits: BitrateLimits {
        BitrateLimits(bitsPerSecond: maximumBitsPerSecond, viewport: isLimitedToDisplay ? viewport : nil)
    }

    /// Plays `url` from the CDN alone.
    public init(url: String) { self.url = url }
}
