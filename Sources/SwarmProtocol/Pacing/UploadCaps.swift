/// What a viewer lets itself upload. `nil` means no cap of that kind.
public struct UploadCaps: Hashable, Sendable {
    /// Bytes per second, wire bytes; none by default: the delay decides.
    public var bytesPerSecond: Double?
    /// Bytes in any 24 hours.
    public var bytesPerDay: UInt64?
    /// Uploaded bytes for each downloaded one over the last ten minutes. 2 by default: with 1 and a third of the viewers
    /// not uploading, live offload halves.
    public var shareOfDownload: Double? = 2
    /// Whether the link is metered: then nothing is uploaded.
    public var isMetered = false

    /// Makes the defaults.
    public init() {}
}
