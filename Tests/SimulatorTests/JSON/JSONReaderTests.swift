import CommandLineSupport
import Foundation
import Simulator
import Testing

@Suite struct JSONReaderTests {
    private func read(_ text: String) throws(JSONError) -> JSONValue { try JSONReader.read([UInt8](text.utf8)) }

    @Test func valuesOfEachKindAreRead() throws {
        let value = try read(#" {"b": [1, -2.5e1, true, false, null, "é\u00e9\ud83d\ude00\n"], "a": {}} "#)
        #expect(
            value
                == .object([
                    (
                        "b",
                        .array([.integer(1), .number(-25), .boolean(true), .boolean(false), .null, .string("éé😀\n")])
                    ),
                    ("a", .object([])),
                ]))
    }

    @Test(arguments: [
        "", "{", "[1,]", "{\"a\":1,}", "01", "1.", "-", "tru", "\"\\x\"", "\"\\ud800\"", "[1] 2", "\"a\nb\"", "1e999",
        "{a: 1}", "\u{feff}1", "'a'", "NaN", "\"\\u+123\"",
    ])
    func whatIsNoJSONIsRefusedAsFoundationDoes(text: String) {
        #expect(throws: JSONError.self) { try read(text) }
    }

    @Test func errorsNameLineAndColumn() {
        #expect(throws: JSONError(line: 3, column: 3, reason: .duplicateMember("a"))) {
            try read("{\n  \"a\": 1,\n  \"a\": 2\n}")
        }
        #expect(throws: JSONError(line: 2, column: 1, reason: .expected("a value"))) { try read("[1,\n?]") }
        #expect(throws: JSONError.self) { try read(String(repeating: "[", count: 100_000)) }
        #expect(throws: JSONError(line: 1, column: 1, reason: .tooLong(limit: JSONReader.byteLimit))) {
            try JSONReader.read([UInt8](repeating: 0x20, count: JSONReader.byteLimit + 1))
        }
    }

    @Test(.enabled(if: SharedFiles.arePresent, "../shared/traces is not there"))
    func aDocumentIsReadAsFoundationReadsIt() throws {
        let bytes = try SharedFiles.bytes("traces/distributions.json")
        func sorted(_ value: JSONValue) -> JSONValue {
            switch value {
            case .object(let members):
                .object(members.map { ($0.name, sorted($0.value)) }.sorted { $0.0 < $1.0 })
            case .array(let items): .array(items.map(sorted))
            // Foundation doesn't tell 1.0 from 1.
            case .number(let value): Int(exactly: value).map { .integer($0) } ?? .number(value)
            case .null, .boolean, .integer, .unsigned, .string: value
            }
        }
        #expect(
            try sorted(JSONReader.read(bytes)) == sorted(JSONDecoder().decode(JSONValue.self, from: Data(bytes))))
    }
}
