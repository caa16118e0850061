import CoreModel

/// A viewer's periodic report: where it is, and what moved since its last one.
public struct ViewerReport: Hashable, Sendable {
    /// Whether the viewer means to play (also while it stalls): false when paused or at the end.
    public var isPlaying: Bool
    /// The play position, in milliseconds of the presentation.
    public var positionMilliseconds: UInt64
    /// Media buffered ahead of the position, in milliseconds.
    public var bufferedMilliseconds: UInt32
    /// The bit rate of the renditions in play together, in bits a second; 0 when unknown.
    public var mediaBitsPerSecond: UInt32
    /// The viewer's estimate of its uplink, in bits a second; 0 when unknown.
    public var uplinkBitsPerSecond: UInt32
    /// Media bytes from the CDN since the last report.
    public var bytesFromCDN: UInt64
    /// Verified media bytes from peers since the last report.
    public var bytesFromPeers: UInt64
    /// Media bytes uploaded to peers since the last report.
    public var bytesUploaded: UInt64
    /// Chunks that failed verification since the last report.
    public var chunksRejected: UInt32
    /// Links to peers that are up now.
    public var peersConnected: UInt16
    /// Stalls that began since the last report.
    public var stalls: UInt16

    /// Makes a report.
    public init(
        isPlaying: Bool, positionMilliseconds: UInt64, bufferedMilliseconds: UInt32 = 0, mediaBitsPerSecond: UInt32 = 0,
        uplinkBitsPerSecond: UInt32 = 0, bytesFromCDN: UInt64 = 0, bytesFromPeers: UInt64 = 0,
        bytesUploaded: UInt64 = 0, chunksRejected: UInt32 = 0, peersConnected: UInt16 = 0, stalls: UInt16 = 0
    ) {
        self.isPlaying = isPlaying
        self.positionMilliseconds = positionMilliseconds
        self.bufferedMilliseconds = bufferedMilliseconds
        self.mediaBitsPerSecond = mediaBitsPerSecond
        self.uplinkBitsPerSecond = uplinkBitsPerSecond
        self.bytesFromCDN = bytesFromCDN
        self.bytesFromPeers = bytesFromPeers
        self.bytesUploaded = bytesUploaded
        self.chunksRejected = chunksRejected
        self.peersConnected = peersConnected
        self.stalls = stalls
    }

    init(from reader: inout WireReader) throws(WireError) {
        let flags: UInt8 = try reader.integer()
        isPlaying = flags & 1 != 0
        positionMilliseconds = try reader.integer()
        bufferedMilliseconds = try reader.integer()
        mediaBitsPerSecond = try reader.integer()
        uplinkBitsPerSecond = try reader.integer()
        bytesFromCDN = try reader.integer()
        bytesFromPeers = try reader.integer()
        bytesUploaded = try reader.integer()
        chunksRejected = try reader.integer()
        peersConnected = try reader.integer()
        stalls = try reader.integer()
    }

    func write(to writer: inout WireWriter) {
        writer.integer(UInt8(isPlaying ? 1 : 0))
        writer.integer(positionMilliseconds)
        writer.integer(bufferedMilliseconds)
        writer.integer(mediaBitsPerSecond)
        writer.integer(uplinkBitsPerSecond)
        writer.integer(bytesFromCDN)
        writer.integer(bytesFromPeers)
        writer.integer(bytesUploaded)
        writer.integer(chunksRejected)
        writer.integer(peersConnected)
        writer.integer(stalls)
    }
}
