import HTTPTransfer
import Testing

@Suite struct RedactionTests {
    @Test(arguments: [
        ("https://cdn.example:99999/s.m4s?token=SECRET", "https://cdn.example:99999/s.m4s"),
        ("https://user:SECRET@cdn.example/a@b#SECRET", "https://cdn.example/a@b"),
        ("ws://SECRET@t.example?x=SECRET", "ws://t.example"), ("no address", "no address"),
    ])
    func secretsAreNotShown(url: String, shown: String) {
        #expect(redactedURL(url) == shown)
        #expect(!"\(HTTPError.invalidURL(url))".contains("SECRET"))
    }
}
