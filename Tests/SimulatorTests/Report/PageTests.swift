import Foundation
import Simulator
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The page, as libxml2 reads it, and the drawings in it.
@Suite struct PageTests {
    /// What a page has of elements, attributes and text.
    private final class Reader: NSObject, XMLParserDelegate {
        var elements: [String: Int] = [:]
        var attributes: [(name: String, value: String)] = []
        var text = ""
        var style = ""
        private var isInStyle = false

        func parser(
            _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String] = [:]
        ) {
            elements[element, default: 0] += 1
            isInStyle = element == "style"
            self.attributes += attributes.map { (name: $0.key, value: $0.value) }
        }

        func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
            isInStyle = false
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) {
            if isInStyle { style += string } else { text += string }
        }
    }

    private static func read(_ page: String) throws -> Reader {
        let reader = Reader()
        let parser = XMLParser(data: Data(page.utf8))
        parser.delegate = reader
        try #require(parser.parse(), "\(String(describing: parser.parserError)) in line \(parser.lineNumber)")
        return reader
    }

    private static let prices = #", "cdn": {"prices": {"currency": "EUR", "perGB": 20, "perMillionRequests": 1}}"#

    @Test func thePageIsWellFormedAndFetchesNothing() async throws {
        let report = try await SmallRun.report(SmallRun.scenario(more: Self.prices), seeds: 2)
        let reader = try Self.read(report.page)
        #expect(reader.elements["svg"] == report.plots.count && report.plots.count == 8)
        for element in ["script", "link", "img", "iframe", "object", "image", "use", "base", "form", "a"] {
            #expect(reader.elements[element] == nil, "\(element)")
        }
        // The names of namespaces are no addresses; nothing else may look like one.
        let spaces = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"]
        for attribute in reader.attributes where !spaces.contains(attribute.value) {
            #expect(!["href", "src", "xlink:href", "style"].contains(attribute.name))
            #expect(!attribute.value.contains("//"), "\(attribute)")
        }
        #expect(!reader.style.contains("url(") && !reader.style.contains("@import"))
    }

    @Test func thePageFitsTelephonesAndBothThemes() async throws {
        let reader = try Self.read(try await SmallRun.report(SmallRun.scenario()).page)
        #expect(reader.attributes.contains { $0 == ("content", "width=device-width, initial-scale=1") })
        #expect(reader.style.contains("prefers-color-scheme: dark"))
        // Every colour that a shape names is there in both themes.
        for ink in Ink.allCases { #expect(reader.style.components(separatedBy: "--\(ink.rawValue): #").count == 3) }
    }

    @Test func thePageSaysWhatItMust() async throws {
        let report = try await SmallRun.report(SmallRun.scenario(more: Self.prices), seeds: 2)
        let text = try Self.read(report.page).text
        for assumption in SimulationResult.assumptions { #expect(text.contains(assumption)) }
        for limit in report.limitSummaries { #expect(text.contains(limit.sentence)) }
        for word in [
            "50 to 80 %", "80 to 90 %", "hard, the least", "soft", "95 % confidence interval", "too optimistic", "EUR",
            "--seed 1 --seeds 2", "means of one second",
        ] {
            #expect(text.contains(word), "\(word)")
        }
        let shared = try await SmallRun.report(SmallRun.scenario(line: SmallRun.shared))
        #expect(!(try Self.read(shared.page).text.contains("too optimistic")))
    }

    @Test func policiesAreComparedOnThePage() async throws {
        let scenario = try SmallRun.scenario()
        var comparison = PolicyComparison()
        for policy in DeliveryPolicy.allCases {
            comparison.add([try Simulation(scenario: scenario, policy: policy).run()], of: policy)
        }
        let report = SimulationReport(scenario, comparison)
        let reader = try Self.read(report.page)
        #expect(reader.elements["svg"] == 9 && report.plots.last?.name == "policies")
        for policy in DeliveryPolicy.allCases { #expect(reader.text.contains(policy.summary)) }
        #expect(reader.text.contains("Ours against the CDN alone") && reader.text.contains("--compare"))
    }

    @Test func aComparisonOfSomePoliciesNamesThem() async throws {
        let scenario = try SmallRun.scenario()
        var comparison = PolicyComparison()
        for policy in [DeliveryPolicy.cdnOnly, .hashElection] {
            comparison.add([try Simulation(scenario: scenario, policy: policy).run()], of: policy)
        }
        let report = SimulationReport(scenario, comparison)
        #expect(report.policy == .cdnOnly)
        let text = try Self.read(report.page).text
        #expect(
            text.contains("--policy cdn-only --policy hash-election") && !text.contains("Ours against the CDN alone"))
    }

    @Test func aReportNamesItsPolicy() async throws {
        let scenario = try SmallRun.scenario(viewers: 2)
        let runs = [try Simulation(scenario: scenario, policy: .cdnOnly).run()]
        let report = SimulationReport(scenario, runs: runs, policy: .cdnOnly)
        #expect(report.lines[0].hasSuffix("policy \(DeliveryPolicy.cdnOnly.rawValue)"))
        #expect(report.page.contains("--policy \(DeliveryPolicy.cdnOnly.rawValue)"))
    }

    /// A name is text, whatever is in it.
    @Test func whatTheScenarioSaysIsEscaped() async throws {
        var scenario = try SmallRun.scenario(viewers: 1)
        scenario.name = "<script>alert(1)</script> & \"more\""
        let report = try await SmallRun.report(scenario)
        let reader = try Self.read(report.page)
        #expect(reader.elements["script"] == nil && reader.text.contains("<script>alert(1)</script> & \"more\""))
    }

    @Test func nobodyWhoStartsIsNoObstacle() async throws {
        let scenario = try SmallRun.scenario(
            viewers: 2, more: #", "cdn": {"failures": 1}"#)
        let report = try await SmallRun.report(scenario)
        #expect(report.runs[0].startups.count == 0)
        let reader = try Self.read(report.page)
        #expect(reader.text.contains("2 of 2 viewers left before playback began"))
    }

    @Test func plotsStayInTheirFrames() async throws {
        let report = try await SmallRun.report(SmallRun.scenario(), seeds: 2)
        for plot in report.plots {
            for shape in plot.shapes {
                let points =
                    switch shape {
                    case .line(let points, _, _, _), .area(let points, _, _): points
                    case .circle(let centre, _, _): [centre]
                    case .text(let text): [text.at]
                    }
                for point in points {
                    #expect((0...plot.width).contains(point.x) && (0...plot.height).contains(point.y), "\(plot.name)")
                }
            }
        }
    }

    struct Axis: Sendable, CustomTestStringConvertible {
        var low: Double
        var high: Double
        var isExact = false
        var labels: [String]
        var testDescription: String { "\(low) to \(high)" }
    }

    @Test(arguments: [
        Axis(low: 0, high: 97, labels: ["0", "20", "40", "60", "80", "100"]),
        Axis(low: 0, high: 100, labels: ["0", "20", "40", "60", "80", "100"]),
        Axis(low: 0, high: 1, labels: ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        Axis(low: 0, high: 0.31, labels: ["0.0", "0.1", "0.2", "0.3", "0.4"]),
        Axis(low: 0, high: 12_000, labels: ["0", "5,000", "10,000", "15,000"]),
        Axis(low: 12, high: 88, isExact: true, labels: ["20", "40", "60", "80"]),
    ])
    func axesHaveRoundNumbers(axis: Axis) {
        let scale = AxisScale(from: axis.low, to: axis.high, isExact: axis.isExact)
        #expect(scale.ticks.map(scale.label) == axis.labels)
        #expect(scale.low <= axis.low && scale.high >= axis.high)
    }
}
