/// What a viewer is doing now, with totals since its session began; the reports carry what the totals grew by.
public struct ViewerSnapshot: Hashable, Sendable {
    /// Whether the viewer means to play (also while it stalls): false when paused or at the end.
    public var isPlaying = true
    /// The play position, in milliseconds of the presentation.
    public var positionMilliseconds: UInt64 = 0
    /// Media buffered ahead of the position, in milliseconds.
    public var bufferedMilliseconds: UInt32 = 0
    /// The bit rate of the renditions in play together, in bits a second; 0 when unknown.
    public var mediaBitsPerSecond: UInt32 = 0
    /// The estimate of the uplink, in bits a second; 0 when unknown.
    public var uplinkBitsPerSecond: UInt32 = 0
    /// Media bytes from the CDN.
    public var bytesFromCDN: UInt64 = 0
    /// Verified media bytes from peers.
    public var bytesFromPeers: UInt64 = 0
    /// Media bytes uploaded to peers.
    public var bytesUploaded: UInt64 = 0
    /// Chunks that failed verification.
    public var chunksRejected: UInt64 = 0
    /// Links to peers that are up now.
    public var peersConnected = 0
    /// Stalls so far.
    public var stalls: UInt64 = 0

    /// A viewer at the start that has moved nothing.
    public init() {}

    /// The report that takes a tracker from `earlier` to this.
    func report(since earlier: ViewerSnapshot) -> ViewerReport {
        func growth(_ total: KeyPath<ViewerSnapshot, UInt64>) -> UInt64 {
            self[keyPath: total] >= earlier[keyPath: total] ? self[keyPath: total] - earlier[keyPath: total] : 0
        }
        return ViewerReport(
            isPlaying: isPlaying, positionMilliseconds: positionMilliseconds,
            bufferedMilliseconds: bufferedMilliseconds, mediaBitsPerSecond: mediaBitsPerSecond,
            uplinkBitsPerSecond: uplinkBitsPerSecond, bytesFromCDN: growth(\.bytesFromCDN),
            bytesFromPeers: growth(\.bytesFromPeers), bytesUploaded: growth(\.bytesUploaded),
            chunksRejected: UInt32(clamping: growth(\.chunksRejected)),
            peersConnected: UInt16(clamping: peersConnected),
            stalls: UInt16(clamping: growth(\.stalls)))
    }
}
