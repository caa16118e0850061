import Testing

@testable import Manifest

@Suite struct BaseURLTests {
    /// A reference of RFC 3986, section 5.4, and its target.
    struct Vector: CustomTestStringConvertible {
        var reference: String
        var target: String
        var testDescription: String { reference }
    }

    static let normal: [Vector] = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
    ].map { Vector(reference: $0.0, target: $0.1) }

    static let abnormal: [Vector] = [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ].map { Vector(reference: $0.0, target: $0.1) }

    @Test("RFC 3986, section 5.4.1: normal examples", arguments: normal)
    func normalExample(_ vector: Vector) {
        #expect(BaseURL("http://a/b/c/d;p?q").resolve(vector.reference) == vector.target)
    }

    @Test("RFC 3986, section 5.4.2: abnormal examples, strict form", arguments: abnormal)
    func abnormalExample(_ vector: Vector) {
        #expect(BaseURL("http://a/b/c/d;p?q").resolve(vector.reference) == vector.target)
    }

    @Test("A base without a path gets a slash")
    func emptyBasePath() {
        #expect(BaseURL("http://host?token=1").resolve("a.ts") == "http://host/a.ts")
    }

    @Test("A slash in the base's query is no directory")
    func slashInQuery() {
        #expect(BaseURL("http://h/a/b.m3u8?path=/x/y").resolve("c.ts") == "http://h/a/c.ts")
    }

    @Test("A reference with a colon in its first segment is a scheme, behind a slash it is none")
    func colon() {
        #expect(BaseURL("http://h/a/").resolve("data:text/plain,x") == "data:text/plain,x")
        #expect(BaseURL("http://h/a/").resolve("x/b:c") == "http://h/a/x/b:c")
    }

    @Test("Nothing is percent-encoded or decoded")
    func noEncoding() {
        #expect(BaseURL("http://h/a%20b/").resolve("c d%2F{x}.ts") == "http://h/a%20b/c d%2F{x}.ts")
    }

    @Test("Query parameters are percent-decoded; the first of a name counts")
    func queryParameter() {
        let url = BaseURL("http://h/x?a=1&b=%41%2fc&a=2&empty")
        #expect(url.queryParameter("a") == "1")
        #expect(url.queryParameter("b") == "A/c")
        #expect(url.queryParameter("empty") == "")
        #expect(url.queryParameter("c") == nil)
    }
}
