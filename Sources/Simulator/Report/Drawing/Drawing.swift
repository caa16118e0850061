/// A plot as shapes: what the page shows as SVG and the images as PNG, from one description.
///
/// Coordinates are in points, from the upper left corner; shapes lie over those before them.
package struct Drawing: Sendable, Equatable {
    package struct Point: Sendable, Equatable {
        package var x: Double
        package var y: Double

        package init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }

    package enum Anchor: String, Sendable {
        case start, middle, end
    }

    package struct Text: Sendable, Equatable {
        package var text: String
        /// On the base line.
        package var at: Point
        package var size = 11.0
        package var anchor = Anchor.start
        package var ink = Ink.text
        package var isBold = false
    }

    package enum Shape: Sendable, Equatable {
        case line([Point], ink: Ink, width: Double = 1.5, isDashed: Bool = false)
        /// A closed area.
        case area([Point], ink: Ink, opacity: Double = 1)
        case circle(Point, radius: Double, ink: Ink)
        case text(Text)
    }

    /// The name of its file, without extension.
    package var name: String
    package var title: String
    /// What it shows, for who can't see it.
    package var summary: String
    package var width: Double
    package var height: Double
    package var shapes: [Shape] = []

    mutating func addText(
        _ text: String, at point: Point, size: Double = 11, anchor: Anchor = .start, ink: Ink = .text,
        isBold: Bool = false
    ) {
        shapes.append(
            .text(Text(text: text, at: point, size: size, anchor: anchor, ink: ink, isBold: isBold)))
    }

    mutating func addRectangle(x: Double, y: Double, width: Double, height: Double, ink: Ink, opacity: Double = 1) {
        let corners = [
            Point(x, y), Point(x + width, y), Point(x + width, y + height), Point(x, y + height),
        ]
        shapes.append(.area(corners, ink: ink, opacity: opacity))
    }

    /// What a text takes about, in the widest of the usual fonts.
    static func width(of text: String, size: Double) -> Double { Double(text.count) * size * 0.6 }
}
