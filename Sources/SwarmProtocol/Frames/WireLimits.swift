internal import CoreModel

/// Sizes and counts that the wire format fixes. What exceeds one of them closes the link.
public enum WireLimits {
    /// Bytes of a transport message's ciphertext, tag included.
    public static let messageByteCount = 65_535
    /// Bytes of a transport message's plaintext.
    public static let plaintextByteCount = messageByteCount - NoiseTransport.tagByteCount
    /// Bytes of a frame's type and length.
    public static let frameHeaderByteCount = 3
    /// Bytes of a frame's body.
    public static let bodyByteCount = plaintextByteCount - frameHeaderByteCount
    /// Bytes of a handshake message.
    public static let handshakeMessageByteCount = 512
    /// Bytes of a membership certificate.
    public static let certificateByteCount = 300
    /// Bytes of a claim.
    public static let claimByteCount = 1024
    /// Hops that a claim makes at most.
    public static let claimHopCount = 8
    /// Entries of a have frame.
    public static let haveEntryCount = 512
    /// Runs of chunks in one list of a have entry.
    public static let haveRangeCount = 64
    /// Chunks that one request names at most: a bit each in 64.
    public static let requestChunkCount = 64
    /// Chunks of a segment.
    public static let chunkCount = SegmentGeometry.maximumByteCount / SegmentGeometry.chunkByteCount
    /// Stripes of a segment.
    public static let stripeCount = SegmentGeometry.maximumByteCount / SegmentGeometry.stripeByteCount
    /// The longest time left that a request can name; more counts as this.
    public static let timeLeft: Duration = .seconds(60)
    /// The longest pause that a reject or choke can ask for; more counts as this.
    public static let retryAfter: Duration = .seconds(600)
    /// Entries of a peers frame.
    public static let peerCount = 32
    /// Bytes of a data frame around its chunk, of the message around that included.
    public static let dataOverhead = 2 + frameHeaderByteCount + 6 + NoiseTransport.tagByteCount
}
