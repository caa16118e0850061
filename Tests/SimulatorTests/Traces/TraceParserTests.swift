import Foundation
import Simulator
import Testing

@Suite struct TraceParserTests {
    /// What the collection of traces says of a file of Sabre's, computed there without this code.
    struct Expected: Decodable {
        struct Trace: Decodable {
            let periods: Int
            let durationSeconds: Double
            let meanKbps: Double

            enum CodingKeys: String, CodingKey {
                case periods
                case durationSeconds = "duration_s"
                case meanKbps = "mean_kbps"
            }
        }
        let traces: [String: Trace]
    }

    @Test(.enabled(if: SharedFiles.arePresent, "../shared/traces is not there"))
    func everySabreTraceHasItsPublishedLengthAndMean() throws {
        let expected = try JSONDecoder().decode(
            Expected.self, from: Data(SharedFiles.bytes("traces/sabre-expected.json")))
        #expect(expected.traces.count >= 20)
        for (path, figures) in expected.traces {
            let trace = try NetworkTrace(SharedFiles.bytes("traces/\(path)"), format: .sabre)
            #expect(trace.steps.count == figures.periods, "\(path)")
            #expect(abs(trace.duration / .seconds(1) - figures.durationSeconds) < 0.06, "\(path)")
            #expect(abs(trace.meanBitsPerSecond / 1000 - figures.meanKbps) < 0.06, "\(path)")
        }
    }

    @Test(
        .enabled(if: SharedFiles.arePresent, "../shared/traces is not there"),
        arguments: [
            // att_lte_driving_2016 and verizon_lte_short of distributions.json: lines × 12,000 bits over the last line.
            ("ATT-LTE-driving-2016.down", 4560.0, 120.002), ("ATT-LTE-driving-2016.up", 1910.0, 120.002),
            ("Verizon-LTE-short.down", 5030.0, 140.0), ("Verizon-LTE-short.up", 5950.0, 140.0),
        ])
    func mahimahiTracesHaveTheirPublishedMean(name: String, kbps: Double, seconds: Double) throws {
        let trace = try NetworkTrace(SharedFiles.bytes("traces/mahimahi/\(name)"), format: .mahimahi)
        #expect(abs(trace.meanBitsPerSecond / 1000 - kbps) < 5)
        #expect(abs(trace.duration / .seconds(1) - seconds) < 1e-9)
    }

    @Test(.enabled(if: SharedFiles.arePresent, "../shared/traces is not there"))
    func starlinkHasItsPublishedMeansWithItsGapsCutOut() throws {
        let bytes = try SharedFiles.bytes("traces/starlink/autobahn-throughput-updown.csv")
        let down = try NetworkTrace(bytes, format: .csv, direction: .down)
        let up = try NetworkTrace(bytes, format: .csv, direction: .up)
        #expect(abs(down.meanBitsPerSecond / 1000 - 224_000) < 100)
        #expect(abs(up.meanBitsPerSecond / 1000 - 16_400) < 50)
        #expect(down.duration == .seconds(1500))
        let dead = Double(up.steps.count { $0.bitsPerSecond == 0 }) / Double(up.steps.count)
        #expect(abs(dead - 0.0507) < 0.001)
    }

    @Test func mahimahiOpportunitiesFallIntoTheirSpan() throws {
        let trace = try NetworkTrace(
            mahimahi: [UInt8]("0\n50\n100\r\n101\n250\n".utf8), step: .milliseconds(100))
        #expect(trace.steps.map(\.duration) == [.milliseconds(100), .milliseconds(100), .milliseconds(50)])
        #expect(trace.steps.map(\.bitsPerSecond) == [360_000, 120_000, 240_000])
    }

    @Test func tablesTakeUnitsFromTheHeader() throws {
        let text = "time_ms, up_kbps, rtt_ms, note\n0, 100, 20, 1\n500, 300, 40, 1\n9000, 0, 20, 2\n"
        let trace = try NetworkTrace(csv: [UInt8](text.utf8), direction: .up)
        #expect(
            trace.steps.first == .init(duration: .milliseconds(500), bitsPerSecond: 100_000, latency: .milliseconds(20))
        )
        #expect(trace.steps.count == 3)
    }

    @Test(arguments: [
        ("t_s,up_mbps\n1,2\n", TraceError.missingColumn(expected: "down_kbps, down_mbps or down_bps")),
        ("down_mbps\n1\n", .missingColumn(expected: "t_s or t_ms")),
        ("t_s,down_mbps\n1,2\n1,2\n", .line(3, expected: "a time after that of the line above")),
        ("t_s,down_mbps\n1,2,3\n", .line(2, expected: "2 values")),
        ("t_s,down_mbps\n1,fast\n", .line(2, expected: "numbers between the commas")),
        ("t_s,down_mbps\n1,nan\n", .line(2, expected: "numbers between the commas")),
        ("t_s,down_mbps\n1,-1\n", .line(2, expected: "a rate from 0 to 1e15 bits a second")),
        ("t_s,down_mbps\n1,0\n", .carriesNothing), ("t_s,down_mbps\n", .carriesNothing),
    ])
    func brokenTablesNameTheLine(text: String, error: TraceError) {
        #expect(throws: error) { try NetworkTrace(csv: [UInt8](text.utf8)) }
    }

    @Test(arguments: [
        ("[]", TraceError.carriesNothing), ("{}", .element(0, expected: "a list of periods")),
        ("[{\"duration_ms\": 0, \"bandwidth_kbps\": 1}]", .element(0, expected: "a duration_ms above 0")),
        ("[{\"duration_ms\": 5}]", .element(0, expected: "bandwidth_kbps, from 0 to 1e12")),
        ("[{\"duration_ms\": 5, \"bandwidth_kbps\": -4}]", .element(0, expected: "bandwidth_kbps, from 0 to 1e12")),
    ])
    func brokenSabreTracesNameTheElement(text: String, error: TraceError) {
        #expect(throws: error) { try NetworkTrace(sabre: [UInt8](text.utf8)) }
    }

    @Test func brokenMahimahiTracesNameTheLine() {
        #expect(throws: TraceError.line(2, expected: "a millisecond that is not before the line above")) {
            try NetworkTrace(mahimahi: [UInt8]("5\n4\n".utf8))
        }
        #expect(throws: TraceError.carriesNothing) { try NetworkTrace(mahimahi: []) }
        #expect(throws: TraceError.tooManySteps(limit: NetworkTrace.stepLimit)) {
            try NetworkTrace(mahimahi: [UInt8]("9000000000000\n".utf8))
        }
    }

    @Test func aTableOfTooManyColumnsIsRefused() {
        let wide = [UInt8](String(repeating: "t_s,", count: 100_000).utf8)
        #expect(throws: TraceError.line(1, expected: "at most 1000 values")) { try NetworkTrace(csv: wide) }
    }
}
