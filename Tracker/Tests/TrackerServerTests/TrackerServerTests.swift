import CoreModel
import EventLoop
import Foundation
import Integrity
import Testing
import TrackerCore
import TrackerProtocol
import WebSockets

/// The tracker over real sockets.
@Suite(.timeLimit(.minutes(5))) struct TrackerServerTests {
    @Test func `Viewers join, are told of each other and of their front`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let first = TestSocket(tracker.loop, url: tracker.url)
        let welcome = try await first.join(1)
        #expect(welcome.membershipKey == membershipKey.verificationKey && welcome.swarmSize == 1)
        #expect(welcome.observedAddress == NetworkAddress(ipv4: 0x7F00_0001, port: 4001))
        let certificate = try MembershipCertificate(decoding: welcome.certificate.bytes[...])
        try certificate.verify(
            trusting: [welcome.membershipKey], swarm: welcome.swarm,
            now: UnixTime(seconds: Int64(Date().timeIntervalSince1970)), suite: suite)

        let second = TestSocket(tracker.loop, url: tracker.url)
        #expect(try await second.join(2).swarmSize == 2)
        guard case .peers(let peers) = try await second.answer() else { throw SetUpError.noAnswer }
        #expect(peers.map(\.address) == [NetworkAddress(ipv4: 0x7F00_0001, port: 4001)])
        // On a slow machine the first viewer's own front may have been named before the second came.
        let front = try #require(try await second.front(ofMembers: 2))
        #expect(try await first.front(ofMembers: 2)?.members == front.members)
        #expect(front.members == [PeerID(key(1)), PeerID(key(2))].sorted())

        first.send(.report(ViewerReport(isPlaying: true, positionMilliseconds: 500, bytesFromPeers: 7)))
        #expect(try await first.answer() == .swarm(size: 2))
        first.send(.renew)
        guard case .certificate = try await first.answer() else { throw SetUpError.noAnswer }
        first.send(.wantPeers(count: 9))
        guard case .peers(let more) = try await first.answer() else { throw SetUpError.noAnswer }
        #expect(more.map(\.peer) == [PeerID(key(2))])
        first.send(.leave)
        #expect(await first.waitForEnd())
    }

    @Test func `So many viewers may come from one IPv6 site, whatever their addresses in it`() async throws {
        let proxy = NetworkAddress(ipv4: 0x7F00_0001, port: 0).host
        let tracker = try await RunningTracker(trustedProxies: [proxy])
        defer { tracker.end() }
        var sockets: [ForwardedSocket] = []
        for number in 1...64 {
            let socket = ForwardedSocket(
                tracker.loop, port: tracker.port, for: "2001:db8:1:\(String(number, radix: 16))::\(number)")
            #expect(await socket.isChallenged())
            sockets.append(socket)
        }
        #expect(await !ForwardedSocket(tracker.loop, port: tracker.port, for: "2001:db8:1::ffff").isChallenged())
        #expect(await ForwardedSocket(tracker.loop, port: tracker.port, for: "2001:db8:2::1").isChallenged())
        #expect(await ForwardedSocket(tracker.loop, port: tracker.port, for: "192.0.2.1").isChallenged())
    }

    @Test func `A refused viewer learns why before the connection ends`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let viewer = TestSocket(tracker.loop, url: tracker.url)
        guard case .challenge = try await viewer.message() else { throw SetUpError.noAnswer }
        viewer.send(.renew)
        #expect(try await viewer.message() == .error(ControlError(code: .outOfOrder, text: "not joined")))
        #expect(await viewer.waitForEnd())
    }

    @Test func `A connection that floods is closed, others stay`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let quiet = TestSocket(tracker.loop, url: tracker.url)
        _ = try await quiet.join(1)
        let flood = TestSocket(tracker.loop, url: tracker.url)
        _ = try await flood.join(2)
        for _ in 0..<200 { flood.send(.report(ViewerReport(isPlaying: true, positionMilliseconds: 0))) }
        #expect(await flood.waitForEnd())
        quiet.send(.report(ViewerReport(isPlaying: true, positionMilliseconds: 0)))
        var size: TrackerMessage?
        while let message = try await quiet.message() {
            size = message
            if case .swarm = message { break }
        }
        #expect(size == .swarm(size: 1))
    }

    @Test func `A message over the limit ends the connection`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let viewer = TestSocket(tracker.loop, url: tracker.url)
        _ = try await viewer.join(1)
        viewer.send([UInt8](repeating: 2, count: ControlProtocol.maximumMessageByteCount + 1))
        #expect(await viewer.waitForEnd())
    }

    @Test func `A viewer that joins again replaces its former connection`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let first = TestSocket(tracker.loop, url: tracker.url)
        _ = try await first.join(1)
        let second = TestSocket(tracker.loop, url: tracker.url)
        #expect(try await second.join(1).swarmSize == 1)
        var last: TrackerMessage?
        while let message = try await first.message() { last = message }
        #expect(last == .error(ControlError(code: .replaced)))
    }

    @Test func `A viewer whose connection breaks is gone at once`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let first = TestSocket(tracker.loop, url: tracker.url)
        _ = try await first.join(1)
        first.close()
        var viewers = 1
        while viewers != 0 { viewers = try await figures(tracker).viewers }
    }

    @Test func `A tracker that stops says so to everybody`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let joined = TestSocket(tracker.loop, url: tracker.url)
        _ = try await joined.join(1)
        let waiting = TestSocket(tracker.loop, url: tracker.url)
        guard case .challenge = try await waiting.message() else { throw SetUpError.noAnswer }
        await tracker.stop()
        for viewer in [joined, waiting] {
            var last: TrackerMessage?
            while let message = try await viewer.message() { last = message }
            #expect(last == .error(ControlError(code: .shuttingDown)))
        }
        let late = TestSocket(tracker.loop, url: tracker.url)
        #expect(await late.waitForEnd())
    }

    // MARK: - Pages

    private func figures(_ tracker: RunningTracker) async throws -> TrackerStatistics {
        let text = String(decoding: await get("/stats", tracker), as: UTF8.self)
        let body = try #require(text.range(of: "\r\n\r\n")).upperBound
        return try JSONDecoder().decode(TrackerStatistics.self, from: Data(text[body...].utf8))
    }

    private func get(_ path: String, _ tracker: RunningTracker, method: String = "GET") async -> [UInt8] {
        let request = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        return await exchange(tracker.loop, port: tracker.port, [Array(request.utf8)])
    }

    @Test func `There are pages for health and figures, and no others`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let health = String(decoding: await get("/healthz", tracker), as: UTF8.self)
        #expect(health.hasPrefix("HTTP/1.1 200") && health.hasSuffix("\r\n\r\nok\n"))
        #expect(String(decoding: await get("/other", tracker), as: UTF8.self).hasPrefix("HTTP/1.1 404"))
        #expect(
            String(decoding: await get("/stats", tracker, method: "POST"), as: UTF8.self).hasPrefix("HTTP/1.1 405"))

        let viewer = TestSocket(tracker.loop, url: tracker.url)
        _ = try await viewer.join(1, stream: 0xAB)
        viewer.send(
            .report(
                ViewerReport(
                    isPlaying: true, positionMilliseconds: 0, bytesFromCDN: 100, bytesFromPeers: 300, stalls: 2)
            ))
        while let message = try await viewer.message() { if case .swarm = message { break } }
        let figures = try await figures(tracker)
        #expect(figures.viewers == 1 && figures.joins == 1 && figures.refusals == 0)
        let stream = try #require(figures.streams.first)
        #expect(stream.stream == String(repeating: "0", count: 30) + "ab")
        #expect(stream.bytesCDN == 100 && stream.bytesPeers == 300 && stream.peerShare == 0.75 && stream.stalls == 2)
    }

    // MARK: - The handshake by hand

    private func upgrade(_ protocols: String?) -> [UInt8] {
        Array(
            ("GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                + (protocols.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? "") + "\r\n").utf8)
    }

    /// A frame of a client; the mask is all zero.
    private func frame(opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0x80 | opcode, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    @Test(arguments: [nil, "pdn-control-1", "other, pdn-control-1"])
    func `The subprotocol is chosen where it is asked for, and not needed`(protocols: String?) async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let answer = await exchange(
            tracker.loop, port: tracker.port, [upgrade(protocols), frame(opcode: 2, [5])])
        let text = String(decoding: answer, as: UTF8.self).lowercased()
        #expect(text.hasPrefix("http/1.1 101"))
        #expect(text.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="))
        #expect(text.contains("sec-websocket-protocol: pdn-control-1") || protocols == nil)
        // Then comes the challenge: an unmasked binary frame of 37 bytes.
        #expect(answer.firstRange(of: [0x82, 37, 0x40, 0, 1, 0, 1]) != nil)
    }

    @Test func `A text message ends the connection`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        let answer = await exchange(tracker.loop, port: tracker.port, [upgrade(nil), frame(opcode: 1, [5])])
        #expect(String(decoding: answer.prefix(12), as: UTF8.self) == "HTTP/1.1 101")
    }

    @Test func `Noise instead of a request ends the connection`() async throws {
        let tracker = try await RunningTracker()
        defer { tracker.end() }
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20 {
            let noise = (0..<3000).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = await exchange(tracker.loop, port: tracker.port, [noise])
            // And behind a good handshake.
            _ = await exchange(tracker.loop, port: tracker.port, [upgrade(nil), noise])
        }
        #expect(try await figures(tracker).viewers == 0)
    }
}
