/// One viewer's figures, under the names that the API, `--stats`, metrics and the simulator share. A figure that is not
/// known is `nil`.
public struct ViewerFigures: Sendable, Codable {
    /// Bytes by source.
    public struct Bytes: Sendable, Codable {
        /// Media body bytes received from the CDN, used or not.
        public var cdn = 0
        /// Manifest bytes from the CDN.
        public var cdnManifest = 0
        /// Catalogue bytes from the CDN.
        public var cdnCatalogue = 0
        /// Verified media bytes from peers.
        public var peers = 0
        /// Media bytes played again from the own store.
        public var store = 0
        /// Media bytes moved from the own store's memory to its disk.
        public var diskWritten = 0
        /// Media bytes read back from there, to be played again or sent to peers.
        public var diskRead = 0
        /// Media bytes sent to peers.
        public var uploaded = 0
        /// Media bytes received from any source and not used.
        public var wasted = 0
    }

    /// Requests by kind.
    public struct Requests: Sendable, Codable {
        /// Media requests to the CDN.
        public var cdn = 0
        /// Manifest requests to the CDN.
        public var cdnManifest = 0
        /// Requests to peers.
        public var peers = 0
        /// Requests that peers refused, in whole or in part.
        public var rejected = 0
        /// Requests that peers did not answer in time.
        public var timedOut = 0
        /// Requests that were taken back.
        public var cancelled = 0
    }

    /// Messages of the peer protocol: every frame but those that carry a chunk.
    public struct Messages: Sendable, Codable {
        /// To peers.
        public var sent = 0
        /// From peers.
        public var received = 0
    }

    /// The viewer, as the report numbers it.
    public var id = ""
    /// From the start to the first picture.
    public var startupSeconds: Double?
    /// Stalls after the start.
    public var stalls = 0
    /// The time that they took.
    public var stallSeconds = 0.0
    /// Media time played.
    public var playedSeconds = 0.0
    /// Video frames decoded.
    public var framesDecoded: Int?
    /// Video frames decoded and not shown in time.
    public var framesDropped: Int?
    /// Audio samples decoded, per channel.
    public var audioSamplesDecoded: Int?
    /// The distance from the live edge.
    public var liveLatencySeconds: Double?
    /// Segments handed to the player.
    public var segments = 0
    /// The mean bit rate of what was handed to the player, in bits a second.
    public var meanBitrate: Int?
    /// Rendition switches.
    public var switches = 0
    /// Bytes by source.
    public var bytes = Bytes()
    /// Requests by kind.
    public var requests = Requests()
    /// Messages to and from peers.
    public var messages = Messages()
    /// Chunks from peers that matched their proof.
    public var chunksVerified = 0
    /// Chunks from peers that did not.
    public var chunksRejected = 0
    /// Stripes from the CDN that did not match a valid record.
    public var recordMismatches = 0
    /// Peers banned.
    public var peersBanned = 0
    /// Links to peers, at most at one time.
    public var peersConnected = 0
    /// Segments that came after they were due.
    public var deadlineMisses = 0
    /// Why the viewer failed.
    public var error: String?

    /// Media bytes from the CDN in the first ten seconds after the start or a seek.
    var cdnStartup = 0
    /// Media bytes from the CDN after that, fetched for the swarm or ahead of need.
    var cdnElected = 0
    /// Media bytes from the CDN after that, because the time left was what the CDN needs.
    var cdnHandover = 0
    /// Media bytes handed to the player, replays left out.
    var delivered = 0
    /// The segments handed to the player with their sizes, by what names their bytes for every viewer.
    var distinct: [String: Int] = [:]
    /// The length of the media handed to the player.
    var deliveredSeconds = 0.0

    private enum CodingKeys: String, CodingKey {
        case id, startupSeconds, stalls, stallSeconds, playedSeconds, framesDecoded, framesDropped, audioSamplesDecoded
        case liveLatencySeconds, segments, meanBitrate, switches, bytes, requests, messages, chunksVerified
        case chunksRejected, recordMismatches, peersBanned, peersConnected, deadlineMisses, error
    }

    /// Starts at nothing.
    public init() {}

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(startupSeconds, forKey: .startupSeconds)
        try container.encode(stalls, forKey: .stalls)
        try container.encode(stallSeconds, forKey: .stallSeconds)
        try container.encode(playedSeconds, forKey: .playedSeconds)
        try container.encode(framesDecoded, forKey: .framesDecoded)
        try container.encode(framesDropped, forKey: .framesDropped)
        try container.encode(audioSamplesDecoded, forKey: .audioSamplesDecoded)
        try container.encode(liveLatencySeconds, forKey: .liveLatencySeconds)
        try container.encode(segments, forKey: .segments)
        try container.encode(meanBitrate, forKey: .meanBitrate)
        try container.encode(switches, forKey: .switches)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(requests, forKey: .requests)
        try container.encode(messages, forKey: .messages)
        try container.encode(chunksVerified, forKey: .chunksVerified)
        try container.encode(chunksRejected, forKey: .chunksRejected)
        try container.encode(recordMismatches, forKey: .recordMismatches)
        try container.encode(peersBanned, forKey: .peersBanned)
        try container.encode(peersConnected, forKey: .peersConnected)
        try container.encode(deadlineMisses, forKey: .deadlineMisses)
        try container.encode(error, forKey: .error)
    }
}
