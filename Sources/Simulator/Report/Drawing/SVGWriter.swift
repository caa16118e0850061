/// Writes a drawing as an SVG element for a page: its colours are classes, which the page's theme fills, and its texts are
/// texts.
enum SVGWriter {
    static func element(_ drawing: Drawing) -> String {
        let id = "plot-\(drawing.name)"
        var text =
            "<svg viewBox=\"0 0 \(number(drawing.width)) \(number(drawing.height))\" "
            + "role=\"img\" aria-labelledby=\"\(id)-title \(id)-summary\" xmlns=\"http://www.w3.org/2000/svg\">\n"
            + "<title id=\"\(id)-title\">\(Markup.escaped(drawing.title))</title>\n"
            + "<desc id=\"\(id)-summary\">\(Markup.escaped(drawing.summary))</desc>\n"
        for shape in drawing.shapes { text += element(shape) + "\n" }
        return text + "</svg>"
    }

    private static func element(_ shape: Drawing.Shape) -> String {
        switch shape {
        case .line(let points, let ink, let width, let isDashed):
            let dashes = isDashed ? " stroke-dasharray=\"5 4\"" : ""
            return "<polyline class=\"s-\(ink.rawValue)\" fill=\"none\" stroke-width=\"\(number(width))\" "
                + "stroke-linejoin=\"round\"\(dashes) points=\"\(list(points))\"/>"
        case .area(let points, let ink, let opacity):
            let shade = opacity < 1 ? " fill-opacity=\"\(number(opacity))\"" : ""
            return "<polygon class=\"f-\(ink.rawValue)\"\(shade) points=\"\(list(points))\"/>"
        case .circle(let centre, let radius, let ink):
            return "<circle class=\"f-\(ink.rawValue)\" cx=\"\(number(centre.x))\" cy=\"\(number(centre.y))\" "
                + "r=\"\(number(radius))\"/>"
        case .text(let text):
            let weight = text.isBold ? " font-weight=\"600\"" : ""
            return "<text class=\"f-\(text.ink.rawValue)\" x=\"\(number(text.at.x))\" y=\"\(number(text.at.y))\" "
                + "font-size=\"\(number(text.size))\" text-anchor=\"\(text.anchor.rawValue)\"\(weight)>"
                + "\(Markup.escaped(text.text))</text>"
        }
    }

    private static func list(_ points: [Drawing.Point]) -> String {
        points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
    }

    /// With two digits behind the point at most: a hundredth of a point is not seen.
    private static func number(_ value: Double) -> String {
        let rounded = (value * 100).rounded() / 100
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }
}
