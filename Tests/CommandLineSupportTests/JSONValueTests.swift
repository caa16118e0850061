import CommandLineSupport
import Foundation
import Testing

struct JSONValueTests {
    @Test func `Members keep their order and text is escaped`() {
        let document: JSONValue = [
            "b": 1, "a": [true, nil, 0.5], "s": "\"\\\n\u{1}é", "e": [], "n": .number(.nan), "o": [:],
        ]
        #expect(
            document.text(isIndented: false)
                == #"{"b":1,"a":[true,null,0.5],"s":"\"\\\n\u0001é","e":[],"n":null,"o":{}}"#)
    }

    @Test func `What is printed reads back`() throws {
        let document: JSONValue = ["a": [1, 2.5, "x", false, nil], "b": ["c": []]]
        for isIndented in [true, false] {
            let text = document.text(isIndented: isIndented)
            #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == document)
        }
        #expect(document["b"]?["c"] == .array([]))
    }

    @Test func wholeNumbersOfAnySizeAreWritten() {
        #expect(JSONValue(UInt64.max).text() == "18446744073709551615")
        #expect(JSONValue(UInt64(Int.max)) == .integer(.max))
    }
}
