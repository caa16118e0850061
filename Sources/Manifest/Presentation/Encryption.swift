public import CoreModel

/// How media are encrypted, as far as a manifest tells.
public struct Encryption: Hashable, Sendable, CustomStringConvertible {
    /// What a content protection system needs to get a key: a `pssh` box.
    public struct ProtectionData: Hashable, Sendable {
        /// The scheme of the DASH descriptor that holds it.
        public var system: String
        /// The box in Base64, as written.
        public var text: String
    }

    /// HLS METHOD, or the value of DASH's mp4protection descriptor (`cenc`, `cbcs`).
    public var method: String
    /// HLS KEYFORMATs, or the schemes of DASH ContentProtection descriptors.
    public var systems: [String]
    /// Where the key is, where it is a plain resource (KEYFORMAT `identity`).
    public var keyURL: String?
    /// The initialization vector of the segment, 16 bytes, where the manifest determines it.
    public var initializationVector: [UInt8]?
    /// The keys that are needed, by the identifiers of common encryption (cenc:default_KID, KEYID); none where the manifest
    /// doesn't say.
    public var keyIDs: [Bytes16] = []
    /// The `pssh` boxes of the manifest.
    public var protectionData: [ProtectionData] = []

    public var description: String { ([method] + systems.filter { $0 != "identity" }).joined(separator: ", ") }

    /// HLS methods that encrypt resources as a whole.
    public static let resourceMethods: Set<String> = ["AES-128", "AES-256", "AES-256-CTR", "AES-256-GCM"]
    /// HLS methods and DASH schemes that encrypt samples.
    public static let sampleMethods: Set<String> = [
        "SAMPLE-AES", "SAMPLE-AES-CTR", "cenc", "cens", "cbc1", "cbcs", Self.unnamedMethod,
    ]
    /// What stands for the method where no descriptor names it; the media do.
    static let unnamedMethod = "encrypted"

    /// Whether resources are encrypted as a whole.
    public var isOfResources: Bool { Self.resourceMethods.contains(method) }

    /// Why it can't be decrypted, as the end of a sentence; `nil` if nothing speaks against it.
    ///
    /// - Parameter known: The identifiers of the keys that the viewer was given.
    public func obstacle(knowing known: Set<Bytes16>) -> String? {
        guard isOfResources || Self.sampleMethods.contains(method) else { return "which this player can't play" }
        if keyURL != nil { return nil }
        guard !isOfResources else { return "and its key is not a plain resource" }
        if let missing = keyIDs.first(where: { !known.contains($0) }) {
            return "and no key was given for \(Hexadecimal.encode(missing.bytes))"
        }
        return keyIDs.isEmpty && known.isEmpty ? "and no key was given" : nil
    }
}
