internal import CoreModel

/// The bits that a trace carries between two of its instants, found by halving.
struct TraceVolume {
    /// Seconds and bits at the end of each step.
    private let ends: [(seconds: Double, bits: Double)]
    /// The greatest rate of a step, in bits a second.
    let peakBitsPerSecond: Double

    init(_ trace: NetworkTrace) {
        var seconds = 0.0
        var bits = 0.0
        ends = trace.steps.map { step in
            seconds += step.duration.inSeconds
            bits += step.duration.inSeconds * Double(step.bitsPerSecond)
            return (seconds, bits)
        }
        peakBitsPerSecond = trace.steps.reduce(0) { max($0, Double($1.bitsPerSecond)) }
    }

    /// The bits carried in `seconds` from the place `start` on; the trace starts again at its end.
    func bits(from start: Double, for seconds: Double) -> Double { bits(until: start + seconds) - bits(until: start) }

    private func bits(until seconds: Double) -> Double {
        let round = ends[ends.count - 1]
        let rounds = (seconds / round.seconds).rounded(.down)
        let rest = seconds - rounds * round.seconds
        var low = 0
        var high = ends.count - 1
        while low < high {
            let middle = (low + high) / 2
            if ends[middle].seconds < rest { low = middle + 1 } else { high = middle }
        }
        let before = low == 0 ? (seconds: 0, bits: 0) : ends[low - 1]
        let span = ends[low].seconds - before.seconds
        let share = span > 0 ? min(1, max(0, (rest - before.seconds) / span)) : 0
        return rounds * round.bits + before.bits + share * (ends[low].bits - before.bits)
    }
}
