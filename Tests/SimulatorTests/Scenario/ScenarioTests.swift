import CoreModel
import Foundation
import Simulator
import SwarmProtocol
import Testing

@Suite struct ScenarioTests {
    @Test func whatIsLeftOutHasTheProductionDefaults() throws {
        let scenario = try TestScenario.make()
        #expect(scenario.stream.ladder == [5_000_000])
        #expect(scenario.stream.segmentDuration == .seconds(4))
        #expect(scenario.uploads.caps == .init())
        #expect(scenario.uploads.caps.shareOfDownload == 2)
        #expect(scenario.maximumLinkCount == 25)
        #expect(scenario.nat.meanPairSuccess == 1)
        #expect(scenario.population.session == nil)
        #expect(scenario.links.isWithoutSharedLines)
    }

    @Test func roomIsDelayLessSegmentDiscoveryAndRecord() throws {
        let stream =
            #""stream": {"type": "live", "ladder": ["5Mbps"], "segment": "4s", "liveDelay": "12s", "discovery": "1s", "recordLatency": {"kind": "uniform", "from": "0s", "to": "1s"}}"#
        #expect(try TestScenario.make(stream: stream).stream.room == .milliseconds(6500))
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var text: String
        var path: String
        /// What the message must name.
        var mentions: String
        var testDescription: String { path }
    }

    static let faults: [Fault] = [
        .init(text: TestScenario.text(more: #", "streem": 1"#), path: "streem", mentions: "population"),
        .init(
            text: TestScenario.text(stream: #""stream": {"type": "live", "bitrate": 5}"#), path: "stream.bitrate",
            mentions: "ladder"),
        .init(
            text: TestScenario.text(stream: #""stream": {"type": "radio"}"#), path: "stream.type", mentions: "live, vod"
        ),
        .init(
            text: TestScenario.text(
                stream: #""stream": {"type": "vod", "ladder": ["5MBps"], "segment": "4s", "length": "1h"}"#),
            path: "stream.ladder[0]", mentions: "5Mbps"),
        .init(
            text: TestScenario.text(
                stream: #""stream": {"type": "vod", "ladder": ["5Mbps", "1Mbps"], "segment": "4s", "length": "1h"}"#),
            path: "stream.ladder[1]", mentions: "above"),
        .init(
            text: TestScenario.text(stream: #""stream": {"type": "vod", "ladder": ["5Mbps"], "segment": "4s"}"#),
            path: "stream.length", mentions: "duration"),
        .init(
            text: TestScenario.text(
                stream:
                    #""stream": {"type": "vod", "ladder": ["5Mbps"], "segment": "4s", "length": "1h", "liveDelay": "4s"}"#
            ), path: "stream.liveDelay", mentions: "vod"),
        .init(
            text: TestScenario.text(
                stream: #""stream": {"type": "live", "ladder": ["5Mbps"], "segment": "4s", "liveDelay": "2s"}"#),
            path: "stream.liveDelay", mentions: "segment"),
        .init(
            text: TestScenario.text(population: #""population": {"viewers": 0}"#), path: "population.viewers",
            mentions: "from 1 to 4000000"),
        .init(
            text: TestScenario.text(population: #""population": {}"#), path: "population.viewers",
            mentions: "whole number"),
        .init(
            text: TestScenario.text(
                population: #""population": {"viewers": 1, "arrivals": {"kind": "poisson", "at": "1s"}}"#),
            path: "population.arrivals.at", mentions: "perSecond"),
        .init(
            text: TestScenario.text(population: #""population": {"viewers": 1, "arrivals": {"kind": "poisson"}}"#),
            path: "population.arrivals.perSecond", mentions: "over"),
        .init(
            text: TestScenario.text(
                population: #""population": {"viewers": 1, "session": {"kind": "lognormal", "median": "4s"}}"#),
            path: "population.session.sigma", mentions: "number"),
        .init(
            text: TestScenario.text(
                population: #""population": {"viewers": 1, "session": {"kind": "weibul", "mean": "4s"}}"#),
            path: "population.session.kind", mentions: "weibull"),
        .init(
            text: TestScenario.text(population: #""population": {"viewers": 1, "seeks": {"every": "60s"}}"#),
            path: "population.seeks.distance", mentions: "duration"),
        .init(
            text: TestScenario.text(population: #""population": {"viewers": 1, "leechOnly": 1.5}"#),
            path: "population.leechOnly", mentions: "from 0 to 1"),
        .init(text: TestScenario.text(links: #""links": {"classes": []}"#), path: "links.classes", mentions: "name"),
        .init(
            text: TestScenario.text(
                links:
                    #""links": {"classes": [{"name": "a", "down": "5Mbps", "up": "1Mbps"}, {"name": "b", "down": "5Mbps"}]}"#
            ), path: "links.classes[1].up", mentions: "600kbps"),
        .init(
            text: TestScenario.text(
                links:
                    #""links": {"classes": [{"name": "a", "up": "1Mbps", "trace": {"format": "sabre", "down": "x.json"}}]}"#
            ), path: "links.classes[0].trace.down", mentions: "x.json"),
        .init(
            text: TestScenario.text(more: #", "nat": {"mix": "webrtc"}"#), path: "nat.mix", mentions: "webrtc078"),
        .init(
            text: TestScenario.text(more: #", "nat": {"types": {"cone": 1}}"#), path: "nat.types.cone",
            mentions: "fullCone"),
        .init(
            text: TestScenario.text(more: #", "conduct": {"polluters": 0.7, "lying": 0.7}"#), path: "conduct",
            mentions: "more than 1"),
        .init(
            text: TestScenario.text(more: #", "cdn": {"prices": {"perGB": [{"upTo": "1TB", "price": 1}]}}"#),
            path: "cdn.prices.perGB[0].upTo", mentions: "last"),
        .init(
            text: TestScenario.text(
                more: #", "tracker": {"outages": [{"from": "9s", "length": "9s"}, {"from": "10s", "length": "9s"}]}"#),
            path: "tracker.outages[1].from", mentions: "before"),
        .init(text: "[]", path: "the scenario", mentions: "an object"),
        .init(text: "{", path: "", mentions: "line 1, column 2"),
    ]

    @Test(arguments: faults) func errorsNameTheKeyAndWhatIsAllowed(fault: Fault) {
        let error = #expect(throws: ScenarioError.self) { try TestScenario.read(fault.text) }
        #expect(error?.keyPath == fault.path)
        #expect("\(error as Any)".contains(fault.mentions), "\(error as Any)")
    }

    @Test func filesGiveTracesArrivalsAndSamples() throws {
        let contents = [
            "a.csv": "arrival_s,session_s\n5,60\n1,30\n", "b.json": #"[{"duration_ms": 1000, "bandwidth_kbps": 800}]"#,
            "c.csv": "60\n120\n",
        ]
        let files = ScenarioFiles { name throws(ScenarioFiles.Failure) in
            guard let text = contents[name] else { throw .init(reason: "not there") }
            return [UInt8](text.utf8)
        }
        let scenario = try TestScenario.make(
            population:
                #""population": {"arrivals": {"kind": "file", "file": "a.csv", "column": "arrival_s", "sessionColumn": "session_s"}, "session": {"kind": "file", "file": "c.csv"}}"#,
            links:
                #""links": {"classes": [{"name": "a", "up": "1Mbps", "trace": {"format": "sabre", "down": "b.json"}}]}"#,
            files: files)
        #expect(scenario.population.viewerCount == 2)
        #expect(scenario.population.session == Distribution(.samples([60, 120]), limits: 0.1...1e7))
        #expect(scenario.links.classes[0].trace?.down.meanBitsPerSecond == 800_000)
        let population = try Population(scenario, seed: 1)
        #expect(population.viewers.map(\.session) == [.seconds(30), .seconds(60)])
        #expect(population.viewers.map(\.downBitsPerSecond) == [800_000, 800_000])

        #expect(throws: ScenarioError.file("links.classes[0].trace.down", name: "d", reason: "not there")) {
            try TestScenario.make(
                links:
                    #""links": {"classes": [{"name": "a", "up": "1Mbps", "trace": {"format": "sabre", "down": "d"}}]}"#,
                files: files)
        }
    }

    @Test func pricesAreTiered() throws {
        let scenario = try TestScenario.make(
            more:
                #", "cdn": {"prices": {"perGB": [{"upTo": "1TB", "price": 0}, {"upTo": "11TB", "price": 0.085}, {"price": 0.08}]}}"#
        )
        // The first terabyte is free, ten cost 85 each, one more costs 80.
        #expect(abs(scenario.cdn.prices.cost(ofBytes: 12e12) - (850 + 80)) < 1e-6)
        #expect(scenario.cdn.prices.cost(ofBytes: 5e11) == 0)
    }

    /// Pair success of the mixes in distributions.json.
    @Test(arguments: [("webrtc085", 0.856), ("webrtc078", 0.7756), ("libp2p070", 0.7), ("open", 1.0)])
    func mixesOfAddressTranslationConnectAsManyPairsAsPublished(name: String, success: Double) throws {
        let nat = try TestScenario.make(more: #", "nat": {"mix": "\#(name)"}"#).nat
        #expect(abs(nat.meanPairSuccess - success) < 1e-3)
        #expect(nat.pairProbabilities.count == NATKind.allCases.count)
    }

    /// A scenario for each object of the format, with a key in it that isn't allowed: the error lists those that are.
    static let objects: [String] = {
        let wrong = #"{"?": 1}"#
        let sections = ["nat", "uploads", "conduct", "cdn", "tracker", "witness", "peers"].map {
            TestScenario.text(more: #", "\#($0)": \#(wrong)"#)
        }
        let arrivals = ["together", "poisson", "flashCrowd", "times", "file"].map {
            TestScenario.text(population: #""population": {"arrivals": {"kind": "\#($0)", "?": 1}}"#)
        }
        let kinds = [
            "fixed", "uniform", "exponential", "lognormal", "weibull", "pareto", "quantiles", "samples", "choices",
            "file",
        ]
        let distributions = kinds.map {
            TestScenario.text(population: #""population": {"viewers": 1, "session": {"kind": "\#($0)", "?": 1}}"#)
        }
        let classes = ["sharedAccess", "site", "trace"].map {
            TestScenario.text(
                links: #""links": {"classes": [{"name": "a", "down": "9Mbps", "up": "9Mbps", "\#($0)": \#(wrong)}]}"#)
        }
        return sections + arrivals + distributions + classes + [
            TestScenario.text(more: #", "?": 1"#), TestScenario.text(stream: #""stream": \#(wrong)"#),
            TestScenario.text(population: #""population": \#(wrong)"#),
            TestScenario.text(links: #""links": \#(wrong)"#),
            TestScenario.text(links: #""links": {"classes": [\#(wrong)]}"#),
            TestScenario.text(population: #""population": {"viewers": 1, "seeks": \#(wrong)}"#),
            TestScenario.text(population: #""population": {"viewers": 1, "pauses": \#(wrong)}"#),
            TestScenario.text(
                population: #""population": {"viewers": 1, "arrivals": {"kind": "flashCrowd", "waves": [\#(wrong)]}}"#),
            TestScenario.text(more: #", "nat": {"types": \#(wrong)}"#),
            TestScenario.text(more: #", "cdn": {"prices": \#(wrong)}"#),
            TestScenario.text(more: #", "cdn": {"prices": {"perGB": [\#(wrong)]}}"#),
            TestScenario.text(more: #", "cdn": {"outages": [\#(wrong)]}"#),
        ]
    }()

    @Test func theDocumentNamesEveryKey() throws {
        let page = try String(contentsOf: Self.sources.appending(path: "Scenario.md"), encoding: .utf8)
        var names: Set<String> = []
        for text in Self.objects {
            let error = #expect(throws: ScenarioError.self) { try TestScenario.read(text) }
            guard case .unknownKey(_, let allowed)? = error else {
                Issue.record("\(error as Any) for \(text)")
                continue
            }
            names.formUnion(allowed)
        }
        #expect(names.count > 80)
        for name in names.sorted() {
            #expect(page.contains("`\(name)`") || page.contains(".\(name)`") || page.contains("\"\(name)\""), "\(name)")
        }
    }

    /// Bytes of ready scenarios changed at random: an error or a scenario, never a trap.
    @Test func damagedScenariosAreErrors() throws {
        var generator = SeededGenerator(seed: 99)
        for name in ReadyScenarios.names {
            let json = try #require(ReadyScenarios.json(named: name))
            for _ in 0..<40 {
                var damaged = json
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let place = Int.random(in: 0..<damaged.count, using: &generator)
                    // A digit more often than anything else: it changes a value and leaves the document whole.
                    damaged[place] =
                        Bool.random(using: &generator)
                        ? UInt8.random(in: 0x30...0x39, using: &generator)
                        : UInt8.random(in: 0...255, using: &generator)
                }
                if let scenario = try? Scenario(json: damaged) { _ = try? Population(scenario, seed: 1, count: 20) }
            }
        }
    }

    static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources/Simulator").standardizedFileURL

    /// A report's first line is the name, and goes to a terminal.
    @Test(arguments: ["re\u{7f}cord", "re\\u0007cord", "re\\u001b[2Jcord"])
    func controlCharactersInAKeyAreSpelledInTheError(key: String) {
        let text = TestScenario.text().replacing(
            #""name": "test""#, with: "\"name\": \"test\", \"\(key)\": 1")
        let error = #expect(throws: ScenarioError.self) { try TestScenario.read(text) }
        let shown = error.map { "\($0)" } ?? ""
        #expect(!shown.unicodeScalars.contains { $0.properties.generalCategory == .control } && shown.contains("cord"))
    }

    @Test(arguments: ["\\u001b[31mred", "a\\nb", "\\u0085"])
    func controlCharactersAreRefusedAndShownEscaped(name: String) {
        let text = TestScenario.text().replacing(#""name": "test""#, with: "\"name\": \"\(name)\"")
        do throws(ScenarioError) {
            _ = try TestScenario.read(text)
            Issue.record("was read")
        } catch {
            #expect(error.keyPath == "name" && "\(error)".contains("control characters"))
            #expect(!"\(error)".unicodeScalars.contains { $0.value < 0x20 })
        }
    }

    @Test func whatNoMachineHoldsIsRefusedWithTheKey() throws {
        let long = try TestScenario.make(
            stream: #""stream": {"type": "vod", "ladder": ["1Gbps"], "segment": "60s", "length": "100h"}"#)
        #expect(throws: PopulationError.self) { try Simulation(scenario: long) }
        let short = try TestScenario.make(
            stream: #""stream": {"type": "vod", "ladder": ["100kbps"], "segment": "0.2s", "length": "50h"}"#)
        do throws(PopulationError) {
            _ = try Simulation(scenario: short, viewers: 4000)
            Issue.record("was prepared")
        } catch {
            #expect(error == .tooManySegments(viewers: 4000, segments: 900_000, limit: 1 << 31))
            #expect("\(error)".contains("population.viewers"))
        }
    }
}
