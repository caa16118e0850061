import Scheduling

/// The segments that are fetched and not played, and the figures of what has been played.
struct PlayoutBuffer {
    private let ladder: BitrateLadder
    private let segment: Double
    /// The rungs of all segments so far; those before `head` are played.
    private var rungs: [Int] = []
    private var head = 0
    /// What is played of the first segment in the buffer.
    private var played = 0.0
    private(set) var figures: PlaybackFigures

    init(_ movie: TraceMovie) {
        ladder = movie.ladder
        segment = movie.segmentMilliseconds
        figures = PlaybackFigures(segmentMilliseconds: segment)
        rungs.reserveCapacity(movie.segmentBits.count)
    }

    /// How much is buffered.
    var milliseconds: Double { segment * Double(rungs.count - head) - played }

    mutating func append(rung: Int) { rungs.append(rung) }

    /// Lets the time pass in which the first segment is fetched.
    mutating func startUp(milliseconds: Double) { figures.totalMilliseconds += milliseconds }

    mutating func countAbandoned() { figures.abandoned += 1 }

    /// Plays for a time; what the buffer doesn't hold is a stall.
    mutating func play(milliseconds: Double) {
        figures.totalMilliseconds += milliseconds
        guard head < rungs.count else {
            figures.stallMilliseconds += milliseconds
            return
        }
        var left = milliseconds
        if played > 0 {
            guard left + played >= segment else {
                played += left
                return
            }
            left -= segment - played
            head += 1
            played = 0
        }
        while left > 0, head < rungs.count {
            show(rungs[head], after: head > 0 ? rungs[head - 1] : nil)
            if left >= segment {
                head += 1
                left -= segment
            } else {
                played = left
                left = 0
            }
        }
        if left > 0 {
            figures.stallMilliseconds += left
            figures.stalls += 1
        }
    }

    private mutating func show(_ rung: Int, after last: Int?) {
        figures.utility += ladder.utilities[rung]
        figures.kilobitsPerSecond += ladder.kilobitsPerSecond[rung]
        guard let last, last != rung else { return }
        figures.rateChange += abs(ladder.kilobitsPerSecond[rung] - ladder.kilobitsPerSecond[last])
        figures.switches += 1
    }
}
