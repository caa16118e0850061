import CoreModel
import EventLoop
import Foundation
import HTTPTransfer
import Testing

/// How one request of a row ended.
private struct Answer: Sendable {
    var status: Int?
    var body: [UInt8] = []
    var total: UInt64?
    var entityTag: String?
    var finalURL = ""
    var error: HTTPError?
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// Makes requests one after the other with one client.
private final class Row {
    private let client: HTTPClient
    private var requests: [HTTPRequest]
    private var answers: [Answer] = []
    private let completion: ([Answer]) -> Void

    init(_ requests: [HTTPRequest], client: HTTPClient, completion: @escaping ([Answer]) -> Void) {
        self.client = client
        self.requests = requests
        self.completion = completion
    }

    func next() {
        guard !requests.isEmpty else {
            client.close()
            return completion(answers)
        }
        var answer = Answer()
        client.start(requests.removeFirst()) { [self] event in
            switch event {
            case .response(let response, _):
                answer.status = response.status
                answer.total = response.contentRange?.total
                answer.entityTag = response.entityTag
                answer.finalURL = response.finalURL
            case .body(let bytes): answer.body += bytes
            case .failed(let error):
                answer.error = error
                fallthrough
            case .finished:
                answers.append(answer)
                next()
            }
        }
    }
}

private func fetch(_ requests: [HTTPRequest], trusting file: String? = nil) async throws -> [Answer] {
    let loop = try EventLoop.startThread(named: "http")
    let answers: [Answer] = await withCheckedContinuation { continuation in
        loop.execute {
            var configuration = HTTPClient.Configuration()
            configuration.certificateFile = file
            configuration.userAgent = "tester/1"
            let client = HTTPClient(loop: loop, configuration: configuration)
            Row(requests, client: client) { continuation.resume(returning: $0) }.next()
        }
    }
    loop.stopAndWait()
    return answers
}

private let large: [UInt8] = {
    var generator = SeededGenerator(seed: 7)
    return (0..<6_000_000 / 8).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
}()
private let playlist = Array(String(repeating: "#EXTINF:4,\nsegment.m4s\n", count: 200).utf8)

/// One server for all tests of the suite.
private let running = Task { try await Nginx(files: ["large.bin": large, "list.m3u8": playlist]) }

@Suite(.enabled(if: Nginx.executable != nil, "nginx is not installed"), .timeLimit(.minutes(5)))
struct NginxTests {
    @Test func bodiesComeWholeOverTLSWithHTTP2() async throws {
        let server = try await running.value
        let answers = try await fetch(
            [HTTPRequest(url: server.secure("large.bin")), HTTPRequest(url: server.secure("protocol"))],
            trusting: server.certificateFile)
        #expect(answers[0].status == 200)
        #expect(answers[0].body == large)
        #expect(answers[1].text == "HTTP/2.0")
    }

    @Test func anUnknownAuthorityIsATLSError() async throws {
        let server = try await running.value
        let answers = try await fetch([HTTPRequest(url: server.secure("protocol"))])
        guard case .tls = answers[0].error else {
            Issue.record("\(String(describing: answers[0].error))")
            return
        }
        #expect(answers[0].body.isEmpty)
    }

    @Test func aNameThatTheCertificateDoesNotHaveIsATLSError() async throws {
        let server = try await running.value
        let url = server.secure("protocol").replacing("127.0.0.1", with: "localhost")
        let answers = try await fetch([HTTPRequest(url: url)], trusting: server.certificateFile)
        guard case .tls = answers[0].error else {
            Issue.record("\(String(describing: answers[0].error))")
            return
        }
    }

    @Test func rangesAndIfRange() async throws {
        let server = try await running.value
        let head = try await fetch([HTTPRequest(url: server.plain("large.bin"))])[0]
        var range = HTTPRequest(url: server.plain("large.bin"))
        range.bytes = .range(1_000_000..<1_300_000)
        range.ifRange = head.entityTag
        var rest = range
        rest.bytes = .from(5_999_990)
        var changed = range
        changed.ifRange = "\"other\""
        var outside = range
        outside.bytes = .range(7_000_000..<7_000_001)
        outside.ifRange = nil
        let answers = try await fetch([range, rest, changed, outside])
        #expect(answers[0].status == 206)
        #expect(answers[0].body == Array(large[1_000_000..<1_300_000]))
        #expect(answers[0].total == 6_000_000)
        #expect(answers[1].body == Array(large[5_999_990...]))
        #expect(answers[2].status == 200)
        #expect(answers[2].body.count == large.count)
        #expect(answers[3].error == .status(416))
    }

    @Test func connectionsAreReused() async throws {
        let server = try await running.value
        for url in [server.plain("connection"), server.secure("connection")] {
            let request = HTTPRequest(url: url)
            let answers = try await fetch([request, request, request], trusting: server.certificateFile)
            #expect(answers[0].error == nil)
            #expect(Set(answers.map(\.text)).count == 1)
        }
    }

    @Test func redirectsAreFollowedWithinTheRules() async throws {
        let server = try await running.value
        var down = HTTPRequest(url: server.secure("down"))
        let refusedDown = down
        down.allowsDowngrade = true
        let answers = try await fetch(
            [
                HTTPRequest(url: server.plain("once")), HTTPRequest(url: server.plain("loop")),
                HTTPRequest(url: server.plain("up")), refusedDown, down,
                HTTPRequest(url: server.plain("file-url")),
            ], trusting: server.certificateFile)
        #expect(answers[0].text == "HTTP/1.1")
        #expect(answers[0].finalURL == server.plain("protocol"))
        #expect(answers[1].error == .redirectRefused)
        #expect(answers[2].text == "HTTP/2.0")
        #expect(answers[3].error == .redirectRefused)
        #expect(answers[4].text == "HTTP/1.1")
        #expect(answers[5].error == .redirectRefused)
    }

    @Test func compressionOnlyWhereItIsWelcome() async throws {
        let server = try await running.value
        let plain = HTTPRequest(url: server.secure("list.m3u8"))
        var compressed = plain
        compressed.allowsCompression = true
        // The limit is one of the text, not of what came over the wire.
        compressed.maximumByteCount = playlist.count
        let answers = try await fetch([plain, compressed], trusting: server.certificateFile)
        #expect(answers[0].body == playlist)
        #expect(answers[1].body == playlist)
        var tooSmall = compressed
        tooSmall.maximumByteCount = 1000
        #expect(try await fetch([tooSmall], trusting: server.certificateFile)[0].error == .tooLarge(limit: 1000))
    }

    @Test func cookiesStayInTheClient() async throws {
        let server = try await running.value
        let request = HTTPRequest(url: server.plain("cookie"))
        #expect(try await fetch([request, request]).map(\.text) == ["", "42"])
        #expect(try await fetch([request])[0].text == "")
    }

    @Test func anEmptyBodyIsAnAnswer() async throws {
        let server = try await running.value
        let answers = try await fetch([
            HTTPRequest(url: server.plain("empty")), HTTPRequest(url: server.plain("user-agent")),
            HTTPRequest(url: server.plain("missing")),
        ])
        #expect(answers[0].status == 200 && answers[0].error == nil && answers[0].body.isEmpty)
        #expect(answers[1].text == "tester/1")
        #expect(answers[2].error == .status(404))
    }

    @Test func manyAtOnceKeepToTheConnectionLimit() async throws {
        let server = try await running.value
        let loop = try EventLoop.startThread(named: "http")
        let connections: Set<String> = await withCheckedContinuation { continuation in
            loop.execute {
                var configuration = HTTPClient.Configuration()
                configuration.connectionsPerHost = 3
                let client = HTTPClient(loop: loop, configuration: configuration)
                var seen: Set<String> = []
                var left = 60
                for _ in 0..<60 {
                    client.start(HTTPRequest(url: server.plain("connection"))) { event in
                        switch event {
                        case .body(let bytes): seen.insert(String(decoding: bytes, as: UTF8.self))
                        case .response: break
                        case .failed(let error): Issue.record("\(error)"); fallthrough
                        case .finished:
                            left -= 1
                            guard left == 0 else { return }
                            client.close()
                            continuation.resume(returning: seen)
                        }
                    }
                }
            }
        }
        loop.stopAndWait()
        #expect(!connections.isEmpty && connections.count <= 3)
    }
}
