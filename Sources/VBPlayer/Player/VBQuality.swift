/// One of the qualities that a stream can be shown in.
public struct VBQuality: Sendable, Hashable, Identifiable {
    /// Its name in the stream: the rendition as `pdn inspect` lists it, and a value for ``VBRenditionKey``.
    public let id: String
    /// The bit rate that the manifest declares, in bits per second; 0 when unknown.
    public let bandwidth: Int
    /// The picture's width in pixels; 0 when unknown.
    public let width: Int
    /// The picture's height in pixels; 0 when unknown.
    public let height: Int
}
