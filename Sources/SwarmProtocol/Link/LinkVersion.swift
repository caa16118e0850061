/// The versions of the peer protocol that this implementation speaks.
public enum LinkVersion {
    /// The lowest.
    public static let lowest: UInt8 = 1
    /// The highest, which a link is opened with.
    public static let highest: UInt8 = 1
}
