import CoreModel
import Cryptography
import Foundation
import SwarmProtocol
import Testing

/// The handshakes of cacophony's vectors, in ../shared/vectors beside the checkout.
struct NoiseVector: Decodable, CustomTestStringConvertible, Sendable {
    struct Message: Decodable, Sendable {
        let payload: String
        let ciphertext: String
    }

    let protocolName: String
    let prologue: String
    let initiatorStatic: String
    let initiatorEphemeral: String
    let responderStatic: String
    let responderEphemeral: String
    let handshakeHash: String
    let messages: [Message]

    enum CodingKeys: String, CodingKey {
        case protocolName = "protocol_name"
        case prologue = "init_prologue"
        case initiatorStatic = "init_static"
        case initiatorEphemeral = "init_ephemeral"
        case responderStatic = "resp_static"
        case responderEphemeral = "resp_ephemeral"
        case handshakeHash = "handshake_hash"
        case messages
    }

    var testDescription: String { protocolName }

    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../shared/vectors/noise.json").standardizedFileURL

    static let isPresent = FileManager.default.fileExists(atPath: file.path)

    /// The vectors of the two patterns that are spoken here.
    static func load() throws -> [NoiseVector] {
        struct File: Decodable { let vectors: [NoiseVector] }
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).vectors.filter {
            ["Noise_IK_25519_ChaChaPoly_BLAKE2b", "Noise_XX_25519_ChaChaPoly_BLAKE2b"].contains($0.protocolName)
        }
    }
}

@Suite struct NoiseVectorTests {
    @Test(.enabled(if: NoiseVector.isPresent, "../shared/vectors/noise.json is not there"))
    func handshakesAndMessagesMatchTheVectors() throws {
        let vectors = try NoiseVector.load()
        #expect(vectors.count == 2)
        for vector in vectors { try check(vector) }
    }

    private func check(_ vector: NoiseVector) throws {
        let suite = SystemCryptoSuite()
        let pattern: NoisePattern = vector.protocolName.contains("_IK_") ? .ik : .xx
        let bytes = { (text: String) in try #require(Hexadecimal.decode(text)) }
        let seed = { (text: String) in try #require(Bytes32(try bytes(text))) }
        let responderKey = suite.agreementKey(seed: try seed(vector.responderStatic))
        var initiator = NoiseHandshake(
            pattern: pattern, role: .initiator, staticKey: suite.agreementKey(seed: try seed(vector.initiatorStatic)),
            remoteKey: pattern == .ik ? PeerID(responderKey.publicKey) : nil, prologue: try bytes(vector.prologue),
            ephemeralSeed: try seed(vector.initiatorEphemeral), suite: suite)
        var responder = NoiseHandshake(
            pattern: pattern, role: .responder, staticKey: responderKey, prologue: try bytes(vector.prologue),
            ephemeralSeed: try seed(vector.responderEphemeral), suite: suite)
        var rest = vector.messages[...]
        while !initiator.isFinished, let message = rest.popFirst() {
            let payload = try bytes(message.payload)
            let isFromInitiator = initiator.isWriting
            let sent =
                isFromInitiator
                ? try initiator.writeMessage(payload: payload) : try responder.writeMessage(payload: payload)
            #expect(Hexadecimal.encode(sent) == message.ciphertext)
            let received =
                isFromInitiator
                ? try responder.readMessage(sent[...]) : try initiator.readMessage(sent[...])
            #expect(received == payload)
        }
        #expect(initiator.isFinished && responder.isFinished)
        #expect(Hexadecimal.encode(initiator.handshakeHash) == vector.handshakeHash)
        #expect(initiator.handshakeHash == responder.handshakeHash)
        var (one, other) = (initiator.transport(), responder.transport())
        // The vectors go on alternating, so who speaks first depends on the length of the handshake.
        var isInitiatorsTurn = (vector.messages.count - rest.count).isMultiple(of: 2)
        for message in rest {
            let payload = try bytes(message.payload)
            var (sent, received): ([UInt8], [UInt8]) = ([], [])
            if isInitiatorsTurn {
                one.seal(payload.span.bytes, [UInt8]().span.bytes, appendingTo: &sent, suite: suite)
                #expect(other.open(sent.span.bytes, appendingTo: &received, suite: suite))
            } else {
                other.seal(payload.span.bytes, [UInt8]().span.bytes, appendingTo: &sent, suite: suite)
                #expect(one.open(sent.span.bytes, appendingTo: &received, suite: suite))
            }
            #expect(Hexadecimal.encode(sent) == message.ciphertext)
            #expect(received == payload)
            isInitiatorsTurn.toggle()
        }
    }
}
