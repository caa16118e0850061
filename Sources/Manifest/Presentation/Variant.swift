/// Renditions that make a whole presentation together, and what they need of the network.
public struct Variant: Hashable, Sendable {
    /// The rendition with the video, which holds the audio as well where its kind is `.muxed`; `nil` where there is no
    /// video.
    public var video: Rendition.ID?
    /// The audio rendition to play beside it, unless another of ``audioOptions`` is chosen.
    public var audio: Rendition.ID?
    /// All audio renditions that go with it, in the order of the manifest.
    public var audioOptions: [Rendition.ID]
    /// The text renditions that go with it.
    public var textOptions: [Rendition.ID]
    /// The bit rate of the whole, in bit/s; 0 if the manifest doesn't say.
    public var bandwidth: UInt64
}
