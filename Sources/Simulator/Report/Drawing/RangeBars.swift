/// Values and ranges from 0 to 1, a labelled bar each, one below the other.
struct RangeBars {
    struct Row {
        var label: String
        /// From 0 on, or a range of its own.
        var range: ClosedRange<Double>
        var ink: Ink
        /// An interval in which the end lies.
        var interval: ClosedRange<Double>?
        var text: String
    }

    private static let top = 48.0
    private static let rowHeight = 32.0
    private static let left = 12.0
    private static let right = Plot.width - 18

    var name: String
    var title: String
    var note: String
    var summary: String
    var rows: [Row]

    func drawing() -> Drawing {
        let height = Self.top + Self.rowHeight * Double(rows.count) + 28
        var drawing = Drawing(name: name, title: title, summary: summary, width: Plot.width, height: height)
        drawing.addText(title, at: .init(12, 20), size: 14, isBold: true)
        drawing.addText(note, at: .init(12, 37), ink: .quiet)
        let bottom = height - 24
        for tick in 0...5 {
            let x = place(Double(tick) / 5)
            drawing.shapes.append(.line([.init(x, Self.top), .init(x, bottom)], ink: .grid, width: 1))
            drawing.addText(
                "\(tick * 20) %", at: .init(x, bottom + 15), anchor: tick == 0 ? .start : tick == 5 ? .end : .middle,
                ink: .quiet)
        }
        for (index, row) in rows.enumerated() { add(row, at: Self.top + Self.rowHeight * Double(index), to: &drawing) }
        return drawing
    }

    private func place(_ value: Double) -> Double { Self.left + (Self.right - Self.left) * min(1, max(0, value)) }

    private func add(_ row: Row, at y: Double, to drawing: inout Drawing) {
        // The text lies on the grid: a ground of paper keeps it readable.
        let width = Drawing.width(of: row.label, size: 11)
        drawing.addRectangle(x: Self.left, y: y + 3, width: min(width, 300), height: 13, ink: .paper)
        drawing.addText(row.label, at: .init(Self.left, y + 13))
        let textWidth = Drawing.width(of: row.text, size: 11)
        drawing.addRectangle(x: Self.right - textWidth, y: y + 3, width: textWidth, height: 13, ink: .paper)
        drawing.addText(row.text, at: .init(Self.right, y + 13), anchor: .end, isBold: true)
        let (start, end) = (place(row.range.lowerBound), place(row.range.upperBound))
        drawing.addRectangle(x: start, y: y + 18, width: max(1, end - start), height: 9, ink: row.ink)
        guard let interval = row.interval else { return }
        let (low, high) = (place(interval.lowerBound), place(interval.upperBound))
        drawing.shapes.append(.line([.init(low, y + 22.5), .init(high, y + 22.5)], ink: .text, width: 1.5))
        for x in [low, high] {
            drawing.shapes.append(.line([.init(x, y + 18), .init(x, y + 27)], ink: .text, width: 1.5))
        }
    }
}
