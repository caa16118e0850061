import CoreModel
import EventLoop
import HTTPTransfer
import Testing

private let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

/// What a test keeps while its client works. On the loop only.
private final class Scene {
    let loop: EventLoop
    let server: ScriptedServer
    var client: HTTPClient?
    var transfer: HTTPTransfer?
    var timer: LoopTimer?
    var events: [String] = []

    init?(loop: EventLoop, answers: [[ScriptedServer.Step]]) {
        self.loop = loop
        guard let server = try? ScriptedServer(loop: loop, answers: answers) else { return nil }
        self.server = server
        client = HTTPClient(loop: loop)
    }

    /// Starts a request and notes its events, then does `action`.
    func start(_ change: (inout HTTPRequest) -> Void = { _ in }, action: @escaping (Scene, HTTPEvent) -> Void) {
        var request = HTTPRequest(url: server.url)
        change(&request)
        transfer = client?.start(request) { [self] event in
            switch event {
            case .response(let response, _): events.append("response \(response.status)")
            case .body(let bytes): events.append("body \(bytes.count)")
            case .finished(let count, _): events.append("finished \(count)")
            case .failed(let error): events.append("failed: \(error)")
            }
            action(self, event)
        }
    }

    /// Calls `completion` with the events after a while in which nothing more may come.
    func end(after span: Duration = .milliseconds(60), _ completion: @escaping ([String]) -> Void) {
        timer = LoopTimer(loop: loop) { [self] in
            client?.close()
            client = nil
            transfer?.cancel()
            timer = nil
            completion(events)
        }
        timer?.arm(after: span)
    }
}

/// Runs a scene on a loop of its own and returns its events.
private func play(
    _ answers: [[ScriptedServer.Step]], _ body: @escaping @Sendable (Scene, @escaping ([String]) -> Void) -> Void
) async throws -> [String] {
    let loop = try EventLoop.startThread(named: "http")
    let events: [String] = await withCheckedContinuation { continuation in
        loop.execute {
            guard let scene = Scene(loop: loop, answers: answers) else { return continuation.resume(returning: []) }
            body(scene) { events in continuation.resume(returning: events) }
        }
    }
    loop.stopAndWait()
    return events
}

@Suite(.timeLimit(.minutes(5))) struct HTTPLifetimeTests {
    @Test func aClientClosedInsideABodyCallbackSaysNothingMore() async throws {
        let events = try await play([[.send(hello)]]) { scene, done in
            scene.start { scene, event in
                guard case .body = event else { return }
                scene.client?.close()
                scene.end(done)
            }
            // Others under way end with it.
            for _ in 0..<3 { scene.client?.start(HTTPRequest(url: scene.server.url)) { _ in } }
        }
        #expect(events == ["response 200", "body 5"])
    }

    @Test func aClientClosedInsideAResponseCallbackSaysNothingMore() async throws {
        let events = try await play([[.send(hello)]]) { scene, done in
            scene.start { scene, event in
                guard case .response = event else { return }
                scene.client?.close()
                scene.client = nil
                scene.end(done)
            }
        }
        #expect(events == ["response 200"])
    }

    @Test func aClientClosedAtTheEndOfATransferIsReleased() async throws {
        let events = try await play([[.send(hello)]]) { scene, done in
            scene.start { scene, event in
                guard case .finished = event else { return }
                scene.client?.close()
                scene.client = nil
                scene.end(done)
            }
        }
        #expect(events == ["response 200", "body 5", "finished 5"])
    }

    @Test func transfersStartedInsideCallbacksRun() async throws {
        let events = try await play([[.send(hello)]]) { scene, done in
            scene.start { scene, event in
                guard case .body = event else { return }
                scene.client?.start(HTTPRequest(url: scene.server.url)) { event in
                    guard case .finished = event else { return }
                    scene.events.append("second finished")
                    scene.end(done)
                }
            }
        }
        #expect(events.sorted() == ["body 5", "finished 5", "response 200", "second finished"])
    }

    @Test(arguments: [0, 1, 3, 8, 20])
    func cancellingAtAnyMomentIsQuiet(milliseconds: Int) async throws {
        let slow: [ScriptedServer.Step] = [
            .wait(.milliseconds(2)), .send("HTTP/1.1 200 OK\r\n"), .wait(.milliseconds(3)),
            .send("Content-Length: 9\r\n\r\nhell"), .wait(.milliseconds(5)), .send("o"), .wait(.seconds(20)),
        ]
        let events = try await play([slow]) { scene, done in
            scene.start { _, _ in }
            let timer = LoopTimer(loop: scene.loop) {
                scene.transfer?.cancel()
                scene.transfer?.cancel()
                scene.events.append("cancelled")
                scene.end(done)
            }
            timer.arm(after: .milliseconds(milliseconds))
            scene.timer = timer
        }
        #expect(events.last == "cancelled")
    }

    @Test func aBodyAnnouncedAsTooLargeIsNotFetched() async throws {
        let large = "HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\nhello"
        let events = try await play([[.send(large), .wait(.seconds(20))]]) { scene, done in
            scene.start({ $0.maximumByteCount = 1000 }) { scene, event in
                guard case .failed = event else { return }
                scene.end(done)
            }
        }
        #expect(events == ["failed: \(HTTPError.tooLarge(limit: 1000))"])
    }

    @Test func aLoopThatStopsEndsTransfersAndNothingIsLeft() async throws {
        let loop = try EventLoop.startThread(named: "http")
        await withCheckedContinuation { continuation in
            loop.execute {
                let steps: [ScriptedServer.Step] = [
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"), .wait(.seconds(20)),
                ]
                guard let scene = Scene(loop: loop, answers: [steps]) else { return continuation.resume() }
                scene.start { scene, event in
                    guard case .body = event else { return }
                    loop.stop()
                    scene.client = nil
                    continuation.resume()
                }
            }
        }
        loop.stopAndWait()
    }

    @Test func timeoutsComeOnTime() async throws {
        let events = try await play([[.wait(.seconds(20))]]) { scene, done in
            let start = scene.loop.now
            scene.start({ $0.firstByteTimeout = .milliseconds(100) }) { scene, _ in
                let elapsed = start.duration(to: scene.loop.now)
                // A busy machine may be late, but not as late as the server's own patience.
                #expect(elapsed >= .milliseconds(100) && elapsed < .seconds(10))
                scene.end(after: .zero, done)
            }
        }
        #expect(events == ["failed: \(HTTPError.firstByteTimeout)"])
    }
}
