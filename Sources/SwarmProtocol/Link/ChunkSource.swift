public import CoreModel

/// What a link asks the segment store when it has something to upload.
public protocol ChunkSource {
    /// A verified chunk's bytes, or whether it is worth waiting for.
    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability

    /// The verified leaf hashes of a stripe; `nil` when they are not known.
    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]?

    /// Where a segment starts in the stream, when that is known: who is further on goes first.
    func start(ofSegment root: Digest) -> Duration?
}

extension ChunkSource {
    public func start(ofSegment root: Digest) -> Duration? { nil }
}

/// Whether a chunk can be uploaded.
public enum ChunkAvailability: Sendable {
    /// It has been verified; these are its bytes.
    case available(ArraySlice<UInt8>)
    /// It is being fetched, or was claimed: the request stands until ``PeerLink/chunksAvailable(root:chunks:)``.
    case expected
    /// It is not here and not expected.
    case unavailable
}
