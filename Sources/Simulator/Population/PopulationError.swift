/// Why no population can be drawn from a scenario.
package enum PopulationError: Error, Equatable, CustomStringConvertible {
    /// `uploads.meanUsable` is more than caps and viewers without uploads let through; `greatest` can be reached.
    case unreachableMeanUsable(wanted: Double, greatest: Double)
    /// Nobody comes before the run ends.
    case nobodyComes
    /// Seeks and pauses are more than a run holds.
    case tooManyEvents(limit: Int)

    package var description: String {
        switch self {
        case .unreachableMeanUsable(let wanted, let greatest):
            "uploads.meanUsable: \(wanted) can't be reached with these caps and viewers who don't upload; at most \(greatest)"
        case .nobodyComes: "population.arrivals: nobody comes before the run ends; give a longer \"duration\""
        case .tooManyEvents(let limit):
            "population: more than \(limit) seeks and pauses; let \"every\" be longer or viewers fewer"
        }
    }
}
