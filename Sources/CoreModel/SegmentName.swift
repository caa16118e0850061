/// The full name of a segment: what a record's signature binds to the bytes.
///
/// The epoch is bumped when a live encoder resets its numbers, so that an old, validly signed record can't come back.
public struct SegmentName: Hashable, Comparable, Sendable {
    /// The stream.
    public var stream: StreamID
    /// The numbering period of the stream; 0 for video on demand.
    public var epoch: UInt32
    /// The rendition.
    public var rendition: RenditionKey
    /// The segment's place in the rendition.
    public var position: SegmentPosition

    /// Makes a name.
    public init(stream: StreamID, epoch: UInt32 = 0, rendition: RenditionKey, position: SegmentPosition) {
        self.stream = stream
        self.epoch = epoch
        self.rendition = rendition
        self.position = position
    }

    public static func < (left: SegmentName, right: SegmentName) -> Bool {
        (left.stream, left.epoch, left.rendition, left.position)
            < (right.stream, right.epoch, right.rendition, right.position)
    }
}
