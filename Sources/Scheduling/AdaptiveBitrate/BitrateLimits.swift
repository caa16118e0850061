/// What the application, the operator and the screen allow.
public struct BitrateLimits: Sendable, Hashable, Codable {
    /// The highest rate, in bits a second; `nil` for any.
    public var bitsPerSecond: Int?
    /// Where the picture is shown, in pixels; `nil` when it isn't known or doesn't matter.
    public var viewport: PixelSize?

    public init(bitsPerSecond: Int? = nil, viewport: PixelSize? = nil) {
        self.bitsPerSecond = bitsPerSecond
        self.viewport = viewport
    }
}
