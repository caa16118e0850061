/// Figures for people.
extension MainFigure.Unit {
    func words(_ value: Double, currency: String) -> String {
        switch self {
        case .share: SimulationReport.text(value * 100, "%.2f") + " %"
        case .copies, .index: SimulationReport.text(value)
        case .seconds: SimulationReport.text(value) + " s"
        case .count: AxisScale.grouped(value, decimals: value == value.rounded() ? 0 : 2)
        case .bytes: AxisScale.grouped(value / 1e6, decimals: 1) + " MB"
        case .bitsPerSecond: AxisScale.grouped(value / 1e6, decimals: 1) + " Mbps"
        case .currency: AxisScale.grouped(value, decimals: abs(value) < 10 ? 4 : 2) + " " + currency
        }
    }
}
