/// How media are encrypted, as far as a manifest tells.
public struct Encryption: Hashable, Sendable, CustomStringConvertible {
    /// HLS METHOD, or the value of DASH's mp4protection descriptor (`cenc`, `cbcs`).
    public var method: String
    /// HLS KEYFORMATs, or the schemes of DASH ContentProtection descriptors.
    public var systems: [String]
    /// Where the key is, for methods whose key is a plain resource.
    public var keyURL: String?
    /// The initialization vector of the segment, 16 bytes, where the manifest determines it.
    public var initializationVector: [UInt8]?

    public var description: String { ([method] + systems.filter { $0 != "identity" }).joined(separator: ", ") }
}
