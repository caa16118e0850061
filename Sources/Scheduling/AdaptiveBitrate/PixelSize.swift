/// Width and height of a picture, or of where it is shown, in pixels.
public struct PixelSize: Sendable, Hashable, Codable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Whether a picture of this size, shown whole in `viewport`, needs no enlargement.
    func fills(_ viewport: PixelSize) -> Bool { width >= viewport.width || height >= viewport.height }
}
