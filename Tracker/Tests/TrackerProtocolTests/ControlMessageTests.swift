import CoreModel
import Testing
import TrackerProtocol

struct ControlMessageTests {
    @Test func `Every message of a viewer survives the wire`() throws {
        for message in Samples.viewerMessages {
            #expect(try ViewerMessage(decoding: message.encoded()[...]) == message)
        }
    }

    @Test func `Every message of a tracker survives the wire`() throws {
        for message in Samples.trackerMessages {
            #expect(try TrackerMessage.decode(message.encoded()[...]) == message)
        }
    }

    @Test func `A message that is cut anywhere is refused, and so is one with a byte more`() {
        for bytes in Samples.viewerMessages.map({ $0.encoded() }) {
            for count in 0..<bytes.count {
                #expect(throws: WireError.self) { try ViewerMessage(decoding: bytes[..<count]) }
            }
            #expect(throws: WireError.trailing(byteCount: 1)) { try ViewerMessage(decoding: (bytes + [0])[...]) }
        }
        for bytes in Samples.trackerMessages.map({ $0.encoded() }) {
            for count in 0..<bytes.count {
                #expect(throws: WireError.self) { try TrackerMessage.decode(bytes[..<count]) }
            }
            #expect(throws: WireError.trailing(byteCount: 1)) { try TrackerMessage.decode((bytes + [0])[...]) }
        }
    }

    /// The layouts of the ControlProtocol page, by hand.
    @Test func `The bytes are those of the protocol page`() {
        #expect(ViewerMessage.leave.encoded() == [5])
        #expect(ViewerMessage.wantPeers(count: 20).encoded() == [3, 20])
        #expect(ViewerMessage.report(Samples.report).encoded().count == 1 + 53)
        #expect(
            Hexadecimal.encode(ViewerMessage.report(Samples.report).encoded())
                == "02" + "01" + "0000000000016184" + "00002ee0" + "002625a0" + "004c4b40" + "0000000000000001"
                + "0000000000000002" + "0000000000000003" + "00000004" + "0005" + "0006")
        #expect(
            Hexadecimal.encode(TrackerMessage.front(Samples.front).encoded())
                == "43" + "0000000000000005" + "0000ea60" + "0000000000017318" + "02"
                + String(repeating: "03", count: 32) + String(repeating: "01", count: 32))
        #expect(TrackerMessage.swarm(size: 40_000).encoded() == [0x44, 0, 0, 0x9C, 0x40])
        #expect(
            TrackerMessage.error(ControlError(code: .full, retryAfterMilliseconds: 1000, text: "x")).encoded()
                == [0x46, 0, 11, 0, 0, 3, 0xE8, 0, 1, 0x78])
        #expect(
            Hexadecimal.encode(TrackerMessage.welcome(Samples.welcome()).encoded())
                == "41" + String(repeating: "09", count: 20) + "00020606"
                + Hexadecimal.encode(Samples.membershipKey.value.bytes) + "00000708" + "0001ce" + "000001a3185c507b"
                + "00000011" + "00002710" + "00000000000000000000ffffc0000201" + "0fa1" + "02" + "0200000064"
                + "0500000001")
    }

    /// The offsets of the ControlProtocol page, by hand.
    @Test func `A join is laid out as on the protocol page`() {
        let join = Samples.viewerMessages[0].encoded()
        #expect(join.count == 165 + 3 + 2)
        #expect(
            Hexadecimal.encode(join.prefix(106))
                == "01" + "0001" + "00000000000000010000000000000002" + String(repeating: "03", count: 32)
                + Hexadecimal.encode(Samples.request.claimKey.value.bytes) + "0fa1" + "00000002"
                + "0000000000015f90" + "0003010203" + "00020405")
    }

    @Test func `Challenge, peers and certificate are laid out as on the protocol page`() {
        let messages = Samples.trackerMessages.map { Hexadecimal.encode($0.encoded()) }
        #expect(messages[0] == "4000010001" + String(repeating: "aa", count: 32))
        #expect(
            messages[2] == "4201" + String(repeating: "01", count: 32) + "00000000000000000000ffff7f000001" + "0005"
                + "0000000000000001")
        #expect(messages[3] == "4200")
        #expect(messages[6] == "450000003c0003010203")
    }

    @Test func `A join's signature covers challenge, stream, key and port`() {
        let statement = ControlProtocol.joinStatement(challenge: Samples.key(0xAA), request: Samples.request)
        #expect(
            Hexadecimal.encode(statement)
                == Hexadecimal.encode("pdn/1 join".utf8) + "00" + String(repeating: "aa", count: 32)
                + "00000000000000010000000000000002" + String(repeating: "03", count: 32) + "0fa1")
    }

    @Test func `A viewer ignores types it does not know, a tracker refuses them`() throws {
        #expect(try TrackerMessage.decode([0x7F, 1, 2]) == nil)
        #expect(throws: WireError.invalid(field: "type")) { try ViewerMessage(decoding: [0x7F]) }
    }

    @Test func `Another version is told from a broken message`() {
        var bytes = Samples.viewerMessages[0].encoded()
        bytes[2] = 9
        #expect(throws: WireError.invalid(field: "version")) { try ViewerMessage(decoding: bytes[...]) }
    }

    @Test func `Lengths over their limits are refused before they are read`() {
        #expect(throws: WireError.tooLarge(field: "peers", value: 65, limit: 64)) {
            try TrackerMessage.decode([0x42, 65])
        }
        #expect(throws: WireError.tooLarge(field: "front", value: 33, limit: 32)) {
            try TrackerMessage.decode([0x43] + [UInt8](repeating: 0, count: 20) + [33])
        }
        #expect(throws: WireError.tooLarge(field: "message", value: 8193, limit: 8192)) {
            try ViewerMessage(decoding: [UInt8](repeating: 2, count: 8193)[...])
        }
    }

    @Test func `A front names nobody twice`() {
        var front = Samples.front
        front.members = [PeerID(Samples.key(1)), PeerID(Samples.key(1))]
        #expect(throws: WireError.invalid(field: "front")) {
            try TrackerMessage.decode(TrackerMessage.front(front).encoded()[...])
        }
    }

    @Test func `Settings that are unknown mean nothing`() throws {
        var bytes = TrackerMessage.welcome(Samples.welcome()).encoded()
        bytes[bytes.count - 5] = 200
        guard case .welcome(let welcome) = try TrackerMessage.decode(bytes[...]) else {
            Issue.record("no welcome")
            return
        }
        #expect(welcome.settings.maximumUploadPercent == 100)
        #expect(!welcome.settings.disablesPeers)
    }

    @Test func `An error's text shows no control characters`() throws {
        let error = ControlError(code: .full, text: "a\u{1B}[31mb\n")
        #expect(
            try TrackerMessage.decode(TrackerMessage.error(error).encoded()[...])
                == .error(ControlError(code: .full, text: "a [31mb ")))
    }

    @Test func `Random bytes are refused or read, never a trap`() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if !bytes.isEmpty, Bool.random(using: &generator) {
                bytes[0] = UInt8([1, 2, 3, 0x40, 0x41, 0x42, 0x43, 0x46].randomElement(using: &generator) ?? 1)
            }
            _ = try? ViewerMessage(decoding: bytes[...])
            _ = try? TrackerMessage.decode(bytes[...])
        }
    }
}
