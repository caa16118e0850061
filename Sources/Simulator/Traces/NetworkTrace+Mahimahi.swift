internal import CoreModel

extension NetworkTrace {
    /// Bits of the packet that may leave at each line's millisecond.
    private static let opportunityBits = 1500 * 8

    /// Reads a trace of mahimahi: each line is a millisecond at which 1,500 bytes may leave; the last one is the length,
    /// after which it starts again.
    ///
    /// - Parameter step: The span over which opportunities are averaged to a rate, in whole milliseconds.
    package init(mahimahi bytes: [UInt8], step: Duration = .milliseconds(100)) throws(TraceError) {
        try Self.checkLength(bytes)
        let width = max(1, Int(step.inMilliseconds))
        var counts: [Int] = []
        var last = 0
        var lines = TextLines(bytes)
        while let line = lines.next() {
            guard !line.isEmpty else { continue }
            guard let milliseconds = Int(String(decoding: line, as: UTF8.self)), milliseconds >= last else {
                throw .line(lines.number, expected: "a millisecond that is not before the line above")
            }
            // An opportunity at a border belongs to the span before it, so that the last one is inside the trace.
            let index = max(0, milliseconds - 1) / width
            guard index < Self.stepLimit else { throw .tooManySteps(limit: Self.stepLimit) }
            while counts.count <= index { counts.append(0) }
            counts[index] += 1
            last = milliseconds
        }
        let steps = counts.enumerated().map { index, count in
            let span = min(width, max(1, last) - index * width)
            return Step(duration: .milliseconds(span), bitsPerSecond: count * Self.opportunityBits * 1000 / span)
        }
        guard let trace = NetworkTrace(steps: steps) else { throw .carriesNothing }
        self = trace
    }
}
