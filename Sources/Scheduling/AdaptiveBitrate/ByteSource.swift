/// Where bytes of a segment came from.
public enum ByteSource: String, Sendable, Codable, CaseIterable {
    /// The CDN, over the network.
    case cdn
    /// Other viewers.
    case peers
    /// This viewer's own store, or another cache on this machine.
    case store
}
