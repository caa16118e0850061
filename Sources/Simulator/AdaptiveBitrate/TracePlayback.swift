package import Scheduling

/// One viewer without peers who plays a title over a network trace: the set-up in which published rules are compared.
///
/// Does what Sabre does with its default options (UMass-LIDS/sabre, `src/sabre.py`): the first segment at the lowest rung,
/// one request at a time, playback from the first segment on, a fetch when there is room for its segment, and a look at each
/// fetch when the larger of 12,000 bits and 50 ms of transfer has arrived.
package struct TracePlayback {
    /// What can differ between playbacks of one title over one trace.
    package struct Options: Sendable {
        package var algorithm = BitrateAlgorithm.outlook
        /// Size of the buffer.
        package var capacityMilliseconds = 25_000.0
        package var minimisesOscillation = false
        /// Whether the rule is told how large the next segment is, as by a segment index; the published rules don't ask.
        package var knowsSizes = true

        package init() {}
    }

    /// A choice that was made.
    package struct Step: Sendable, Equatable {
        /// The segment, from 0.
        package var segment: Int
        package var decision: BitrateDecision
        /// What was buffered before.
        package var bufferMilliseconds: Double
        /// How long the fetch took, to its end or until it was given up.
        package var fetchMilliseconds: Double
        /// The rung that the fetch was given up for.
        package var abandonedFor: Int?
    }

    private static let leastProgressBits = 12_000.0
    private static let leastProgressMilliseconds = 50.0

    private let movie: TraceMovie
    private let options: Options
    private var link: NetworkTrace.Link
    private var buffer: PlayoutBuffer
    private var bitrate: AdaptiveBitrate
    /// Every choice so far.
    package private(set) var steps: [Step] = []

    /// - Parameter table: To share between playbacks of one title with one size of buffer.
    package init(
        _ movie: TraceMovie, over trace: NetworkTrace, options: Options = Options(), table: OutlookTable? = nil
    ) {
        self.movie = movie
        self.options = options
        link = NetworkTrace.Link(trace)
        buffer = PlayoutBuffer(movie)
        var configuration = BitrateConfiguration()
        configuration.algorithm = options.algorithm
        configuration.capacityMilliseconds = options.capacityMilliseconds
        configuration.segmentMilliseconds = movie.segmentMilliseconds
        configuration.minimisesOscillation = options.minimisesOscillation
        bitrate = AdaptiveBitrate(ladder: movie.ladder, configuration: configuration, table: table)
    }

    /// Plays the whole title.
    package mutating func run() -> PlaybackFigures {
        fetchFirst()
        var next = 1
        while next < movie.segmentBits.count {
            if fetch(next) { next += 1 }
        }
        buffer.play(milliseconds: buffer.milliseconds)
        return buffer.figures
    }

    private mutating func fetchFirst() {
        let bits = movie.segmentBits[0][0]
        let latency = link.awaitFirstByte()
        let time = link.carry(limit: bits, bits: bits, milliseconds: 0).milliseconds
        buffer.startUp(milliseconds: latency + time)
        buffer.append(rung: 0)
        bitrate.measured(
            TransferSample(bits: bits, milliseconds: time, latencyMilliseconds: latency, source: .cdn))
        steps.append(
            Step(
                segment: 0, decision: BitrateDecision(rung: 0, reason: .startup), bufferMilliseconds: 0,
                fetchMilliseconds: latency + time))
    }

    /// Fetches a segment at the rung that the rule chooses.
    ///
    /// - Returns: Whether it arrived; `false` when the fetch was given up.
    private mutating func fetch(_ segment: Int) -> Bool {
        let excess = buffer.milliseconds + movie.segmentMilliseconds - options.capacityMilliseconds
        if excess > 0 {
            buffer.play(milliseconds: excess)
            link.wait(milliseconds: excess)
            bitrate.waited(milliseconds: excess)
        }
        let decision = bitrate.choose(situation(before: segment))
        if decision.delayMilliseconds > 0 {
            buffer.play(milliseconds: decision.delayMilliseconds)
            link.wait(milliseconds: decision.delayMilliseconds)
        }
        let before = buffer.milliseconds
        let (progress, replacement) = transfer(segment, rung: decision.rung)
        steps.append(
            Step(
                segment: segment, decision: decision, bufferMilliseconds: before,
                fetchMilliseconds: progress.milliseconds, abandonedFor: replacement))
        buffer.play(milliseconds: progress.milliseconds)
        bitrate.measured(
            TransferSample(
                bits: progress.receivedBits, milliseconds: progress.milliseconds - progress.latencyMilliseconds,
                latencyMilliseconds: progress.latencyMilliseconds, source: .cdn, isWhole: replacement == nil))
        if let replacement {
            buffer.countAbandoned()
            bitrate.abandoned(progress, for: replacement, buffer: buffer.milliseconds)
            return false
        }
        buffer.append(rung: decision.rung)
        bitrate.fetched(progress, buffer: buffer.milliseconds)
        return true
    }

    private func situation(before segment: Int) -> BitrateSituation {
        BitrateSituation(
            bufferMilliseconds: buffer.milliseconds, capacityMilliseconds: options.capacityMilliseconds,
            segmentMilliseconds: movie.segmentMilliseconds, segmentIndex: segment,
            segmentsLeft: movie.segmentBits.count - segment, highestRung: movie.ladder.top,
            segmentBits: options.knowsSizes ? movie.segmentBits[segment] : [])
    }

    /// Lets the segment arrive, or part of it.
    private mutating func transfer(_ segment: Int, rung: Int) -> (progress: SegmentProgress, replacement: Int?) {
        let latency = link.awaitFirstByte()
        var progress = SegmentProgress(
            rung: rung, bits: movie.segmentBits[segment][rung], receivedBits: 0, milliseconds: latency,
            latencyMilliseconds: latency, segmentMilliseconds: movie.segmentMilliseconds)
        var leastTime = Self.leastProgressMilliseconds - latency
        while progress.receivedBits < progress.bits {
            let carried = link.carry(
                limit: progress.bits - progress.receivedBits, bits: Self.leastProgressBits, milliseconds: leastTime)
            leastTime = Self.leastProgressMilliseconds
            progress.receivedBits += carried.bits
            progress.milliseconds += carried.milliseconds
            guard progress.receivedBits < progress.bits else { break }
            let left = max(0, buffer.milliseconds - progress.milliseconds)
            if let replacement = bitrate.abandon(progress, buffer: left) { return (progress, replacement) }
        }
        return (progress, nil)
    }
}
