/// Why there is no picture.
public enum RasterError: Error, Equatable, CustomStringConvertible {
    /// A side is below 1 or above ``RasterCanvas/largestSide``.
    case size(width: Double, height: Double)
    /// The library refused; the text is its own.
    case library(String)

    public var description: String {
        switch self {
        case .size(let width, let height): "no picture is \(width) × \(height) pixels"
        case .library(let text): "the picture can't be drawn: \(text)"
        }
    }
}
