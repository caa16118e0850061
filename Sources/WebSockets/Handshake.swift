internal import Cryptography
internal import Foundation

/// What both sides of the opening handshake share (RFC 6455, section 4).
enum Handshake {
    /// The subprotocol (section 1.9) that clients ask for. Servers speak it also when none is asked for.
    static let subprotocol = "pdn-control-1"
    /// The version of the protocol (section 4.1).
    static let version = "13"
    /// The most bytes of a handshake's head, the request's and the answer's.
    static let maximumHeadByteCount = 8 * 1024

    /// What a server answers to a key, to show that it means the protocol (section 4.2.2).
    static func accept(_ key: String) -> String {
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        return Data(SHA1.digest(Array(text.utf8))).base64EncodedString()
    }

    /// A fresh key: sixteen random bytes (section 4.1).
    static func makeKey() -> String { Data(SystemRandom.bytes(16)).base64EncodedString() }

    /// Whether a text is a key.
    static func isKey(_ text: String) -> Bool { Data(base64Encoded: text)?.count == 16 }

    /// The tokens of a list field's value (RFC 9110, section 5.6.1), in lower case.
    static func tokens(_ value: String?) -> [String] {
        guard let value else { return [] }
        return value.split(separator: ",").map { token in
            String(token.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
                .lowercased()
        }
    }
}
