public import CoreModel

/// What a link asks the segment store when it has something to upload.
public protocol ChunkSource {
    /// A verified chunk's bytes, or whether it is worth waiting for.
    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability

    /// Has chunks brought back that are ``ChunkAvailability/stored``. Once they are there, or it is known that they don't
    /// come, ``PeerLink/chunksAvailable(root:chunks:)`` tells so.
    ///
    /// - Returns: false when they can't be had soon.
    func bringBack(_ chunks: Range<Int>, root: Digest) -> Bool

    /// The verified leaf hashes of a stripe; `nil` when they are not known.
    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]?

    /// Where a segment starts in the stream, when that is known: who is further on goes first.
    func start(ofSegment root: Digest) -> Duration?
}

extension ChunkSource {
    public func start(ofSegment root: Digest) -> Duration? { nil }

    /// For a source that stores nothing elsewhere.
    public func bringBack(_ chunks: Range<Int>, root: Digest) -> Bool { false }
}

/// Whether a chunk can be uploaded.
public enum ChunkAvailability: Sendable {
    /// It has been verified; these are its bytes.
    case available(ArraySlice<UInt8>)
    /// It has been verified and lies where to get it takes a while: it is brought back when its turn to be sent comes.
    case stored
    /// It is being fetched, or was claimed: the request stands until ``PeerLink/chunksAvailable(root:chunks:)``.
    case expected
    /// It is not here and not expected.
    case unavailable
}
