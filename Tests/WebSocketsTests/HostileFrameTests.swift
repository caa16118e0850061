import EventLoop
import Testing
import WebSockets

/// What a server does with frames of a client that breaks the rules, and with the rarer ones that it must know.
@Suite(.timeLimit(.minutes(5))) struct HostileFrameTests {
    struct Fault: CustomTestStringConvertible {
        let testDescription: String
        let frames: [UInt8]
        let code: Int

        init(_ name: String, _ code: Int, _ frames: [UInt8]) {
            testDescription = name
            self.frames = frames
            self.code = code
        }

        static let limit = 1000
        static let all = [
            Fault("an unmasked frame", 1002, [0x82, 3, 1, 2, 3]),
            Fault("a reserved bit", 1002, frame(0xC2, [1])),
            Fault("all reserved bits", 1002, frame(0xF2, [1])),
            Fault("an unknown data opcode", 1002, frame(0x83, [1])),
            Fault("an unknown control opcode", 1002, frame(0x8B)),
            Fault("a text message", 1003, frame(0x81, [0x48, 0x69])),
            Fault("a text message's first fragment", 1003, frame(0x01, [0x48])),
            Fault("a text message that is no UTF-8", 1007, frame(0x81, [0xFF, 0xFE])),
            Fault("a message over the limit", 1009, frame(0x82, [UInt8](repeating: 1, count: limit + 1))),
            // Refused by what they declare, with their first byte.
            Fault("a declared length of 65,535", 1009, frameHead(0x82, 65535) + [1, 2, 3, 4, 5]),
            Fault("a declared length of 2^40", 1009, frameHead(0x82, 1 << 40) + [1, 2, 3, 4, 5]),
            Fault("a declared length of 2^63 - 1", 1009, frameHead(0x82, .max) + [1, 2, 3, 4, 5]),
            Fault(
                "fragments over the limit", 1009,
                frame(0x02, [UInt8](repeating: 1, count: limit)) + frame(0x00) + frame(0x80, [1])),
            Fault("a continuation of nothing", 1002, frame(0x80, [1])),
            Fault("a message within a message", 1002, frame(0x02, [1]) + frame(0x82, [2])),
            Fault("a close code that must not be sent", 1002, frame(0x88, [0x03, 0xED])),
            Fault("a close reason that is no UTF-8", 1007, frame(0x88, [0x03, 0xE8, 0xFF])),
        ]
    }

    @Test(arguments: Fault.all) func aFaultEndsTheConnectionWithItsCode(fault: Fault) async throws {
        let server = try await EchoServer(maximumIncomingByteCount: Fault.limit)
        defer { server.stop() }
        let client = try await RawClient.webSocket(server)
        client.send(fault.frames)
        let answer = try #require(await client.readFrame())
        #expect(answer.head == 0x88)
        #expect(answer.payload.prefix(2).reduce(0) { $0 << 8 | Int($1) } == fault.code)
        #expect(await client.readToEnd() == [])
        #expect(await server.end()?.isEmpty == false)
    }

    /// Faults in the frame's head for which libwslay ends the connection without a code.
    @Test(arguments: [
        frameHead(0x89, 126) + [1, 2, 3, 4], frame(0x09, [1]), [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4],
        [0x82, 0xFE, 0, 5, 1, 2, 3, 4],
    ]) func aMalformedHeadEndsTheConnection(bytes: [UInt8]) async throws {
        let server = try await EchoServer()
        defer { server.stop() }
        let client = try await RawClient.webSocket(server)
        client.send(bytes)
        _ = await client.readToEnd()
        #expect(await server.end()?.isEmpty == false)
    }

    /// RFC 6455, section 5.7, for binary messages.
    @Test func fragmentsMakeAMessageAndControlFramesComeBetween() async throws {
        let server = try await EchoServer()
        defer { server.stop() }
        let client = try await RawClient.webSocket(server)
        let hello = Array("Hello".utf8)
        // The example's masked ping and its pong.
        client.send(frame(0x02, Array("Hel".utf8)))
        client.send([0x89, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(await client.read(7) == [0x8A, 5] + hello)
        client.send(frame(0x80, Array("lo".utf8)))
        #expect(await client.read(7) == [0x82, 5] + hello)
        // An unasked pong is no fault.
        client.send(frame(0x8A, hello) + frame(0x82))
        #expect(await client.read(2) == [0x82, 0])
        client.send(frame(0x82, [UInt8](repeating: 9, count: 65536)))
        #expect(await client.readFrame()?.payload.count == 65536)
        // Byte by byte.
        for byte in frame(0x82, hello) { client.send([byte]) }
        #expect(await client.read(7) == [0x82, 5] + hello)
        client.send(frame(0x88, [0x03, 0xE8] + hello))
        #expect(await client.readToEnd() == [0x88, 7, 0x03, 0xE8] + hello)
        #expect(await server.end() == "the other side closed the connection")
    }

    @Test func aFloodOfPingsFromOneWhoDoesNotReadIsBounded() async throws {
        let server = try await EchoServer()
        defer { server.stop() }
        let client = try await RawClient.webSocket(server)
        client.pauseReading()
        let pings = [[UInt8]](repeating: frame(0x89, [UInt8](repeating: 1, count: 125)), count: 4000).flatMap { $0 }
        for _ in 0..<30 { client.send(pings) }
        #expect(await server.end() == "the other side does not read")
        client.close()
    }

    @Test func oneWhoDoesNotReadIsGivenUp() async throws {
        let server = try await EchoServer { socket in
            socket.onMessage = { [unowned socket] _ in
                for _ in 0..<400 { socket.send([UInt8](repeating: 1, count: 60_000)) }
            }
        }
        defer { server.stop() }
        let client = try await RawClient.webSocket(server)
        client.send(frame(0x82, [1]))
        #expect(await server.end() == "the other side does not read")
        _ = await client.readToEnd()
    }

    @Test func aCloseSendsWhatWaitsFirst() async throws {
        let server = try await EchoServer { socket in
            for _ in 0..<10 { socket.send([UInt8](repeating: 1, count: 100_000)) }
            socket.close()
        }
        defer { server.stop() }
        let client = try await RawClient.webSocket(server)
        for _ in 0..<10 { #expect(await client.readFrame()?.payload.count == 100_000) }
        #expect(await client.readFrame()?.payload == [0x03, 0xE8])
        client.send(frame(0x82, [1]) + frame(0x88, [0x03, 0xE8]))
        #expect(await client.readToEnd() == [])
    }
}
