/// Curves, areas, points or bars over two axes.
struct Plot {
    enum Form {
        case line
        case dashedLine
        /// Between the points and those of `base`, which have the same x.
        case area(base: [Drawing.Point], opacity: Double)
        case points
        /// From the axis up, each as wide as this.
        case bars(width: Double)
    }

    struct Layer {
        var label: String?
        var form: Form
        var ink: Ink
        var points: [Drawing.Point]
    }

    static let width = 420.0
    static let height = 300.0
    private static let left = 50.0
    private static let right = width - 18
    private static let top = 66.0
    private static let bottom = height - 42

    var name: String
    var title: String
    /// What the vertical axis counts, with its unit.
    var yLabel: String
    /// The same of the horizontal one.
    var xLabel: String
    var summary: String
    var layers: [Layer]
    var x: AxisScale
    var y: AxisScale
    /// What stands in the middle of a plot that shows nothing.
    var remark: String?
    /// Labels on the horizontal axis instead of numbers.
    var categories: [String] = []

    func drawing() -> Drawing {
        var drawing = Drawing(name: name, title: title, summary: summary, width: Self.width, height: Self.height)
        drawing.addText(title, at: .init(12, 20), size: 14, isBold: true)
        drawing.addText(yLabel, at: .init(12, 37), ink: .quiet)
        addLegend(to: &drawing)
        addAxes(to: &drawing)
        for layer in layers where !layer.points.isEmpty { add(layer, to: &drawing) }
        if let remark {
            let middle = Drawing.Point((Self.left + Self.right) / 2, (Self.top + Self.bottom) / 2)
            drawing.addRectangle(x: middle.x - 70, y: middle.y - 14, width: 140, height: 20, ink: .paper)
            drawing.addText(remark, at: middle, size: 12, anchor: .middle, ink: .quiet)
        }
        return drawing
    }

    private func place(_ point: Drawing.Point) -> Drawing.Point {
        Drawing.Point(
            Self.left + (Self.right - Self.left) * min(1, max(0, x.place(point.x))),
            Self.bottom - (Self.bottom - Self.top) * min(1, max(0, y.place(point.y))))
    }

    private func addAxes(to drawing: inout Drawing) {
        for tick in y.ticks {
            let level = place(.init(x.low, tick)).y
            drawing.shapes.append(.line([.init(Self.left, level), .init(Self.right, level)], ink: .grid, width: 1))
            drawing.addText(y.label(tick), at: .init(Self.left - 6, level + 4), anchor: .end, ink: .quiet)
        }
        let level = Self.bottom + 16
        if categories.isEmpty {
            for tick in x.ticks {
                drawing.addText(x.label(tick), at: .init(place(.init(tick, 0)).x, level), anchor: .middle, ink: .quiet)
            }
        } else {
            for (index, category) in categories.enumerated() {
                let centre = place(.init(Double(index), 0)).x
                drawing.addText(category, at: .init(centre, level), size: 10, anchor: .middle, ink: .quiet)
            }
        }
        drawing.addText(
            xLabel, at: .init((Self.left + Self.right) / 2, Self.bottom + 33), anchor: .middle, ink: .quiet)
        drawing.shapes.append(
            .line([.init(Self.left, Self.bottom), .init(Self.right, Self.bottom)], ink: .quiet, width: 1))
    }

    private func addLegend(to drawing: inout Drawing) {
        var x = 12.0
        for layer in layers {
            guard let label = layer.label else { continue }
            switch layer.form {
            case .line, .dashedLine:
                let dashed = if case .dashedLine = layer.form { true } else { false }
                drawing.shapes.append(
                    .line([.init(x, 50), .init(x + 16, 50)], ink: layer.ink, width: 2, isDashed: dashed))
            case .area(_, let opacity):
                drawing.addRectangle(x: x, y: 45, width: 16, height: 10, ink: layer.ink, opacity: opacity)
            case .bars: drawing.addRectangle(x: x, y: 45, width: 16, height: 10, ink: layer.ink)
            case .points: drawing.shapes.append(.circle(.init(x + 8, 50), radius: 3, ink: layer.ink))
            }
            drawing.addText(label, at: .init(x + 21, 54))
            x += 21 + Drawing.width(of: label, size: 11) + 14
        }
    }

    private func add(_ layer: Layer, to drawing: inout Drawing) {
        let points = layer.points.map(place)
        switch layer.form {
        case .line: drawing.shapes.append(.line(points, ink: layer.ink, width: 1.8))
        case .dashedLine: drawing.shapes.append(.line(points, ink: layer.ink, width: 1.8, isDashed: true))
        case .area(let base, let opacity):
            drawing.shapes.append(.area(points + base.map(place).reversed(), ink: layer.ink, opacity: opacity))
        case .points:
            for point in points { drawing.shapes.append(.circle(point, radius: 2, ink: layer.ink)) }
        case .bars(let width):
            for point in layer.points where point.y > 0 {
                let upper = place(.init(point.x - width / 2, point.y))
                let lower = place(.init(point.x + width / 2, 0))
                drawing.addRectangle(
                    x: upper.x, y: upper.y, width: lower.x - upper.x, height: lower.y - upper.y, ink: layer.ink)
            }
        }
    }
}
