internal import Glibc

/// One line on a terminal that shows how far long work has come; nothing where stderr is no terminal.
public struct ProgressBar {
    private let isShown: Bool
    private let allowsColour: Bool
    private var lastShown: ContinuousClock.Instant?
    private var lastText = ""

    /// The shortest time between two drawings: redrawing for each step would cost more than small steps do.
    private static let interval = Duration.milliseconds(100)

    /// Makes a bar; `isShown` is for tests.
    public init(isShown: Bool = Terminal.isInteractive) {
        self.isShown = isShown
        allowsColour = Terminal.allowsColour
    }

    /// Shows the state of the work.
    ///
    /// - Parameters:
    ///   - fraction: From 0 to 1; anything else is clamped.
    ///   - label: What is being counted, such as `120/600 segments, 34.1 MiB`.
    public mutating func show(_ fraction: Double, _ label: String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        if let lastShown, now - lastShown < Self.interval, fraction < 1 { return }
        lastShown = now
        let text = Self.line(fraction, label, columns: Terminal.columns)
        guard text != lastText else { return }
        lastText = text
        _ = Terminal.write("\r\u{1B}[K" + (allowsColour ? "\u{1B}[32m\(text)\u{1B}[0m" : text), to: STDERR_FILENO)
    }

    /// Removes the bar, so that the next line starts on an empty one.
    public mutating func clear() {
        guard isShown, lastShown != nil else { return }
        lastShown = nil
        lastText = ""
        _ = Terminal.write("\r\u{1B}[K", to: STDERR_FILENO)
    }

    /// The bar's text in at most `columns` columns.
    static func line(_ fraction: Double, _ label: String, columns: Int) -> String {
        let fraction = fraction.isFinite ? min(1, max(0, fraction)) : 0
        let head = "\(Int(fraction * 100))%"
        let padded = String(repeating: " ", count: 4 - head.count) + head
        let width = min(30, columns - padded.count - label.count - 6)
        guard width >= 5 else { return String("\(padded) \(label)".prefix(max(0, columns - 1))) }
        let filled = Int((Double(width) * fraction).rounded(.down))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        return "\(padded) \(bar) \(label)"
    }
}
