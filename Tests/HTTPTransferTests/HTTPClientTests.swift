import CoreModel
import EventLoop
import HTTPTransfer
import Testing

/// What a transfer told, in the end.
private struct Outcome: Sendable {
    var status: Int?
    var body = ""
    var total: UInt64?
    var error: HTTPError?
    var requests: [String] = []
}

/// Runs one transfer against a scripted server.
private func run(
    _ answers: [[ScriptedServer.Step]], _ change: @escaping @Sendable (inout HTTPRequest) -> Void = { _ in }
) async throws -> Outcome {
    let loop = try EventLoop.startThread(named: "http")
    defer { loop.stop() }
    return await withCheckedContinuation { continuation in
        loop.execute {
            guard let server = try? ScriptedServer(loop: loop, answers: answers) else { return }
            let client = HTTPClient(loop: loop)
            var request = HTTPRequest(url: server.url)
            change(&request)
            var outcome = Outcome()
            func end() {
                outcome.requests = server.requests
                client.close()
                continuation.resume(returning: outcome)
            }
            client.start(request) { event in
                switch event {
                case .response(let response, _):
                    outcome.status = response.status
                    outcome.total = response.contentRange?.total
                case .body(let bytes): outcome.body += String(decoding: bytes, as: UTF8.self)
                case .finished: end()
                case .failed(let error):
                    outcome.error = error
                    end()
                }
            }
        }
    }
}

private let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

@Suite(.timeLimit(.minutes(5))) struct HTTPClientTests {
    @Test func aBodyArrivesWhole() async throws {
        let outcome = try await run([[.send(hello)]])
        #expect(outcome.status == 200)
        #expect(outcome.body == "hello")
        #expect(outcome.error == nil)
    }

    @Test func aRangeIsAskedForAndItsTotalRead() async throws {
        let answer = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 2-4/77\r\nContent-Length: 3\r\n\r\nllo"
        let outcome = try await run([[.send(answer)]]) {
            $0.bytes = .range(2..<5)
            $0.ifRange = "\"tag\""
        }
        #expect(outcome.total == 77)
        #expect(outcome.body == "llo")
        #expect(outcome.requests.first?.contains("Range: bytes=2-4") == true)
        #expect(outcome.requests.first?.contains("If-Range: \"tag\"") == true)
    }

    @Test func aTruncatedBodyIsToldFromAWholeOne() async throws {
        let outcome = try await run([[.send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"), .close]])
        #expect(outcome.error == .truncated(received: 5))
        #expect(outcome.body == "hello")
    }

    @Test func aStatusThatIsNoSuccessBringsNoBody() async throws {
        let outcome = try await run([[.send("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone")]])
        #expect(outcome.error == .status(404))
        #expect(outcome.body.isEmpty)
        let empty = try await run([[.send("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")]])
        #expect(empty.error == .status(500))
    }

    @Test func aFailureThatMayPassIsTriedAgain() async throws {
        let outcome = try await run([
            [.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")], [.close], [.send(hello)],
        ]) { $0.retry = HTTPRequest.Retry(attempts: 3, baseDelay: .milliseconds(1)) }
        #expect(outcome.body == "hello")
        #expect(outcome.requests.count == 3)
    }

    @Test func aStalledBodyEndsTheTransfer() async throws {
        let outcome = try await run([
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"), .wait(.seconds(30))]
        ]) {
            $0.stallTimeout = .milliseconds(300)
        }
        #expect(outcome.error == .stalled(received: 5))
    }

    @Test func aServerThatSaysNothingEndsTheTransfer() async throws {
        let outcome = try await run([[.wait(.seconds(30))]]) { $0.firstByteTimeout = .milliseconds(300) }
        #expect(outcome.error == .firstByteTimeout)
    }

    @Test func aWrongLengthIsRefused() async throws {
        let outcome = try await run([[.send(hello)]]) { $0.expectedByteCount = 6 }
        #expect(outcome.error == .wrongLength(expected: 6, received: 5))
        let large = try await run([[.send(hello)]]) { $0.maximumByteCount = 4 }
        #expect(large.error == .tooLarge(limit: 4))
    }

    @Test(arguments: ["ftp://127.0.0.1/x", "file:///etc/passwd", "", "http://"])
    func otherAddressesAreRefused(url: String) async throws {
        let outcome = try await run([[.send(hello)]]) { $0.url = url }
        #expect(outcome.error == .invalidURL(url))
    }

    @Test func garbageIsAnErrorAndNoBody() async throws {
        let outcome = try await run([[.send("\u{1}\u{2}garbage\r\n\r\nmore"), .close]])
        #expect(outcome.error != nil)
        #expect(outcome.body.isEmpty)
    }

    @Test func aTransferCancelledInItsOwnCallbackSaysNothingMore() async throws {
        let loop = try EventLoop.startThread(named: "http")
        defer { loop.stop() }
        let events: Int = await withCheckedContinuation { continuation in
            loop.execute {
                guard let server = try? ScriptedServer(loop: loop, answers: [[.send(hello)]]) else { return }
                let client = HTTPClient(loop: loop)
                final class Holder { var transfer: HTTPTransfer?; var count = 0; var timer: LoopTimer? }
                let holder = Holder()
                holder.timer = LoopTimer(loop: loop) {
                    _ = server
                    client.close()
                    holder.timer = nil
                    continuation.resume(returning: holder.count)
                }
                holder.transfer = client.start(HTTPRequest(url: server.url)) { _ in
                    holder.count += 1
                    holder.transfer?.cancel()
                    holder.timer?.arm(after: .milliseconds(50))
                }
            }
        }
        #expect(events == 1)
    }
}
