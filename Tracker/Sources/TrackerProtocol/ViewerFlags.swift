/// What a viewer offers to the swarm. Unknown bits are kept and mean nothing.
public struct ViewerFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The viewer never uploads: it is in no front and nobody is sent to it.
    public static let leechOnly = ViewerFlags(rawValue: 1 << 0)
    /// The viewer's link is metered; implies that it never uploads.
    public static let metered = ViewerFlags(rawValue: 1 << 1)

    /// Whether the viewer may be asked for bytes.
    public var allowsUpload: Bool { isDisjoint(with: [.leechOnly, .metered]) }
}
