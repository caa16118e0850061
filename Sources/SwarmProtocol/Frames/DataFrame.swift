/// One chunk.
public struct DataFrame: Hashable, Sendable {
    /// The request that this answers.
    public var id: ChunkRequestID
    /// The chunk.
    public var chunk: Int
    /// Its bytes: 1 to ``SegmentGeometry/chunkByteCount``.
    public var payload: ArraySlice<UInt8>

    /// Makes the frame.
    public init(id: ChunkRequestID, chunk: Int, payload: ArraySlice<UInt8>) {
        self.id = id
        self.chunk = chunk
        self.payload = payload
    }
}
