import Scheduling
import Simulator
import Testing

@Suite struct TracePlaybackTests {
    /// Ten segments of 2 s at 1 and 2 Mbit/s.
    private static let movie = TraceMovie(
        ladder: BitrateLadder(bitsPerSecond: [1_000_000, 2_000_000])!, segmentMilliseconds: 2000,
        segmentBits: Array(repeating: [2e6, 4e6], count: 10))!

    private func trace(_ bitsPerSecond: Int...) throws -> NetworkTrace {
        try #require(
            NetworkTrace(
                steps: bitsPerSecond.map {
                    NetworkTrace.Step(duration: .seconds(4), bitsPerSecond: $0, latency: .milliseconds(100))
                }))
    }

    private func play(_ algorithm: BitrateAlgorithm, _ trace: NetworkTrace) -> (PlaybackFigures, [TracePlayback.Step]) {
        var options = TracePlayback.Options()
        options.algorithm = algorithm
        var playback = TracePlayback(Self.movie, over: trace, options: options)
        let figures = playback.run()
        return (figures, playback.steps)
    }

    /// 500 kbit/s: each segment of 2 Mbit takes 4 s and 100 ms of latency, of which 2 s play.
    @Test(arguments: BitrateAlgorithm.allCases)
    func `A link of half the lowest rate stalls half of the time`(algorithm: BitrateAlgorithm) throws {
        let (figures, steps) = play(algorithm, try trace(500_000))
        #expect(steps.count == 10)
        #expect(abs(figures.totalMilliseconds - (10 * 4100 + 2000)) < 1e-6)
        #expect(abs(figures.stallMilliseconds - 9 * 2100) < 1e-6)
        #expect(figures.stalls == 9)
        #expect(abs(figures.score + 5 * 18_900 / 43_000) < 1e-9)
    }

    @Test func `On a fast link the best rung comes at once and nothing stalls`() throws {
        let (figures, steps) = play(.outlook, try trace(50_000_000))
        #expect(steps.map(\.decision.rung) == [0] + Array(repeating: 1, count: 9))
        #expect(figures.stallMilliseconds == 0 && figures.switches == 1)
        // The first segment's 140 ms, then twenty seconds of play: one segment at 1 Mbit/s and nine at 2.
        #expect(abs(figures.totalMilliseconds - 20_140) < 1e-6)
        #expect(abs(figures.meanKilobitsPerSecond - 19_000 * 2000 / 20_140) < 1e-6)
    }

    @Test func `The same playback gives the same log`() throws {
        let trace = try trace(3_000_000, 400_000, 1_500_000, 0)
        let (one, other) = (play(.outlook, trace), play(.outlook, trace))
        #expect(one.0 == other.0 && one.1 == other.1)
    }

    @Test func `The comparison prints a line per rule and trace, and the means`() throws {
        var comparison = TraceComparison([.outlook, .throughput])
        comparison.play(Self.movie, over: try trace(500_000), named: "slow")
        let lines = comparison.text.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[1].hasPrefix("slow") && lines[1].contains("outlook") && lines[1].contains("-2.1977"))
        #expect(lines[4].hasPrefix("mean") && lines[4].contains("throughput"))
    }

    @Test(arguments: [
        ("{", "line 1"), ("{}", "segment_duration_ms"),
        (#"{"segment_duration_ms": 3000, "bitrates_kbps": [2, 1], "segment_sizes_bits": [[1, 1]]}"#, "bitrates_kbps"),
        (#"{"segment_duration_ms": 3000, "bitrates_kbps": [1, 2], "segment_sizes_bits": [[1]]}"#, "segment_sizes_bits"),
        (#"{"segment_duration_ms": 3000, "bitrates_kbps": [1], "segment_sizes_bits": []}"#, "segment_sizes_bits"),
        (#"{"segment_duration_ms": 3000, "bitrates_kbps": [1], "segment_sizes_bits": [["x"]]}"#, "segment_sizes_bits"),
    ])
    func `A file that is no movie is refused with the place`(text: String, place: String) {
        do throws(TraceMovieError) {
            _ = try TraceMovie(sabre: Array(text.utf8))
            Issue.record("was read")
        } catch {
            #expect("\(error)".contains(place))
        }
    }
}
