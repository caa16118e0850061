/// Why no population can be drawn from a scenario.
package enum PopulationError: Error, Equatable, CustomStringConvertible {
    /// `uploads.meanUsable` is more than caps and viewers without uploads let through; `greatest` can be reached.
    case unreachableMeanUsable(wanted: Double, greatest: Double)
    /// Nobody comes before the run ends.
    case nobodyComes
    /// All segments of the stream, in all renditions that are played, have more chunks of 16 KiB.
    case tooLongStream(chunks: Double, limit: Int)
    /// Viewers times segments.
    case tooManySegments(viewers: Int, segments: Int, limit: Int)
    /// Seeks and pauses are more than a run holds.
    case tooManyEvents(limit: Int)

    package var description: String {
        switch self {
        case .unreachableMeanUsable(let wanted, let greatest):
            "uploads.meanUsable: \(wanted) can't be reached with these caps and viewers who don't upload; at most \(greatest)"
        case .tooLongStream(let chunks, let limit):
            "stream: it has \(Int(min(chunks, 1e18))) chunks of 16 KiB, more than \(limit); let it be shorter, or its rates lower"
        case .tooManySegments(let viewers, let segments, let limit):
            "population.viewers: \(viewers) viewers of \(segments) segments each are more than \(limit) together; let the "
                + "viewers be fewer, the stream shorter or its segments longer"
        case .nobodyComes: "population.arrivals: nobody comes before the run ends; give a longer \"duration\""
        case .tooManyEvents(let limit):
            "population: more than \(limit) seeks and pauses; let \"every\" be longer or viewers fewer"
        }
    }
}
