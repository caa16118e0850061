import CoreModel
import Foundation
import Testing

@testable import Manifest

/// Patches of an MPD: ISO/IEC 23009-1, annex C; RFC 5261.
@Suite struct MPDPatchTests {
    private static let head =
        "mpdId=\"m\" originalPublishTime=\"2024-01-01T00:00:00Z\" publishTime=\"2024-01-01T00:00:02Z\""

    private func root(_ text: String) throws -> XMLElement { try XMLReader.read(Array(text.utf8)).root }

    private func apply(_ operations: String, to text: String) throws -> XMLElement {
        try MPDPatch.apply(root("<Patch \(Self.head)>\(operations)</Patch>"), to: root(text))
    }

    private static let base = """
        <MPD id="m" publishTime="2024-01-01T00:00:00Z"><Period id="a"/><Period id="b"><X n="1"/><X n="2"/></Period></MPD>
        """

    private func text(_ element: XMLElement) -> String {
        let attributes = element.attributes.sorted { $0.name < $1.name }.map { " \($0.name)=\"\($0.value)\"" }.joined()
        return "<\(element.name)\(attributes)>" + element.text.trimmed + element.children.map(text).joined()
            + "</\(element.name)>"
    }

    @Test("Elements are added, replaced and removed by position, attribute and place; attributes too")
    func operations() throws {
        let cases: [(String, String)] = [
            ("<remove sel=\"/MPD/Period[1]\"/>", "<Period id=\"b\"><X n=\"1\"></X><X n=\"2\"></X></Period>"),
            ("<remove sel=\"/MPD/Period[@id='b']\"/>", "<Period id=\"a\"></Period>"),
            (
                "<replace sel=\"/MPD/Period[2]/X[@n='2']\"><Y/></replace><remove sel=\"/MPD/Period[@id='a']\"/>",
                "<Period id=\"b\"><X n=\"1\"></X><Y></Y></Period>"
            ),
            (
                "<add sel=\"/MPD/Period[2]\" pos=\"prepend\"><Y/></add><add sel=\"/MPD/Period[2]/X[1]\" pos=\"after\"><Z/></add><add sel=\"/MPD/Period[2]/X\" pos=\"before\"><W/></add><add sel=\"/MPD/Period[2]\"><V/></add><remove sel=\"/MPD/Period\"/>",
                "<Period id=\"b\"><Y></Y><W></W><X n=\"1\"></X><Z></Z><X n=\"2\"></X><V></V></Period>"
            ),
            (
                "<add sel=\"/MPD/Period[1]\" type=\"@start\">PT1S</add><replace sel=\"/MPD/Period[1]/@id\">c</replace><remove sel=\"/MPD/Period[2]\"/>",
                "<Period id=\"c\" start=\"PT1S\"></Period>"
            ),
        ]
        for (operations, expected) in cases {
            #expect(text(try apply(operations, to: Self.base)).contains(">\(expected)</MPD>"))
        }
    }

    @Test("A patch for another state or another MPD, and one whose places aren't there, changes nothing")
    func faults() throws {
        #expect(throws: MPDPatch.Fault.otherManifest) {
            try apply("", to: Self.base.replacingOccurrences(of: "00:00:00Z", with: "00:00:01Z"))
        }
        for operation in [
            "<remove sel=\"/MPD/Period[3]\"/>", "<remove sel=\"/MPD/Period[@id='x']\"/>", "<remove sel=\"/MPD\"/>",
            "<remove sel=\"//Period\"/>", "<remove sel=\"/MPD/Period[\"/>", "<remove sel=\"/MPD/Period[@id=\"/>",
            "<remove sel=\"/MPD/Period[@id='a'\"/>", "<remove sel=\"/MPD/Period/@none\"/>", "<remove/>",
            "<move sel=\"/MPD/Period\"/>",
            "<replace sel=\"/MPD/Period[1]\"/>", "<remove sel=\"/MPD/Period[99999999999999999999]\"/>",
        ] {
            #expect(throws: MPDPatch.Fault.self, "\(operation)") { try apply(operation, to: Self.base) }
        }
    }

    @Test("A patch of very many operations on very many elements is refused in time")
    func hostile() throws {
        let many =
            "<MPD id=\"m\" publishTime=\"2024-01-01T00:00:00Z\">" + String(repeating: "<a/>", count: 90_000) + "</MPD>"
        let operations = String(repeating: "<replace sel=\"/MPD/a[90000]\"><a/></replace>", count: 20_000)
        let start = ContinuousClock.now
        #expect(throws: MPDPatch.Fault.tooLarge) { try apply(operations, to: many) }
        let growing = String(repeating: "<add sel=\"/MPD\" pos=\"prepend\"><a/><a/></add>", count: 19_000)
        #expect(throws: MPDPatch.Fault.tooLarge) { try apply(growing, to: many) }
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test("The corpus' patch makes the MPD that it says, element by element", .enabled(if: Corpus.exists))
    func corpus() throws {
        for sequence in try Corpus.sequences() where sequence.text("kind") == "dash-patch" {
            func read(_ name: String) throws -> XMLElement {
                try XMLReader.read(Corpus.bytes(try #require(sequence.text(name)))).root
            }
            #expect(text(try MPDPatch.apply(read("patch"), to: read("base"))) == text(try read("result")))
        }
    }

    @Test("D28: what follows a patch that fails is the whole MPD; 204 is no change")
    func following() throws {
        let start = LiveStage.wallClock - 100
        func mpd(_ publish: Int, ended: Bool = false) -> String {
            LiveDASHTests.mpd(
                start: start, attributes: "publishTime=\"2024-01-01T00:00:0\(publish)Z\"",
                inside: "<PatchLocation ttl=\"60\">p.mpp</PatchLocation>")
        }
        var stage = try LiveStage(mpd(0))
        // The patch for the first state is good, the next one is for a state that isn't known, and then nothing changes.
        stage.run(.seconds(11)) { request, seconds in
            switch (request.purpose, seconds) {
            case (.patch, ..<5):
                return .text(
                    "<Patch \(Self.head)><replace sel=\"/MPD/@publishTime\">2024-01-01T00:00:02Z</replace></Patch>")
            case (.patch, ..<7): return .text("<Patch mpdId=\"m\" originalPublishTime=\"2020-01-01T00:00:00Z\"/>")
            case (.patch, _): return .answer(LiveAnswer(bytes: [], finalURL: request.url, status: 204))
            default: return .text(mpd(seconds < 3 ? 0 : 3))
            }
        }
        let purposes: [LiveRequest.Purpose] = [.manifest, .patch, .patch, .manifest, .patch]
        #expect(Array(stage.loads.map(\.purpose).prefix(5)) == purposes)
        #expect(stage.loads.map(\.seconds).prefix(5) == [2, 4, 6, 6, 8])
        #expect(stage.loads.first { $0.purpose == .patch }?.url == "http://h/live/p.mpp")
        #expect(stage.segments("v").last?.start == MediaTime(seconds: 108))
    }
}
