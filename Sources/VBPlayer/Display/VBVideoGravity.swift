import Foundation

/// How a picture fills a layer whose sides have another ratio.
public enum VBVideoGravity: String, Sendable {
    /// The whole picture, with bars beside it.
    case resizeAspect
    /// The whole layer, with part of the picture outside of it.
    case resizeAspectFill
    /// The whole picture on the whole layer, distorted.
    case resize

    /// Where a picture lies in `bounds`.
    ///
    /// - Parameter picture: The size it should be shown at, samples made square; empty gives an empty rectangle.
    func displayRect(of picture: CGSize, in bounds: CGRect) -> CGRect {
        guard picture.width > 0, picture.height > 0 else { return CGRect(origin: bounds.origin, size: .zero) }
        let ratios = (bounds.width / picture.width, bounds.height / picture.height)
        let scale: (CGFloat, CGFloat) =
            switch self {
            case .resizeAspect: (min(ratios.0, ratios.1), min(ratios.0, ratios.1))
            case .resizeAspectFill: (max(ratios.0, ratios.1), max(ratios.0, ratios.1))
            case .resize: ratios
            }
        let size = CGSize(width: picture.width * scale.0, height: picture.height * scale.1)
        return CGRect(
            x: bounds.midX - size.width / 2, y: bounds.midY - size.height / 2, width: size.width, height: size.height)
    }
}
