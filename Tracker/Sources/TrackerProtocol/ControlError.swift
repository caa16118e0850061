import CoreModel

/// Why the tracker refuses something, and when to try again.
public struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons, with their numbers on the wire.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: UInt16

        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The message can't be read. The tracker closes the connection.
        public static let malformed = Code(rawValue: 1)
        /// The tracker doesn't speak the viewer's version. It closes the connection.
        public static let unsupportedVersion = Code(rawValue: 2)
        /// This tracker admits with a token only.
        public static let tokenRequired = Code(rawValue: 3)
        /// The token isn't signed by a key of this tracker, or is for another stream.
        public static let tokenInvalid = Code(rawValue: 4)
        /// The token's time is over (or has not begun).
        public static let tokenExpired = Code(rawValue: 5)
        /// As many sessions as the token allows are active.
        public static let tooManySessions = Code(rawValue: 6)
        /// The tracker doesn't serve this stream.
        public static let streamNotServed = Code(rawValue: 7)
        /// The signature of the join doesn't verify.
        public static let signatureInvalid = Code(rawValue: 8)
        /// A message that needs admission came before it, or a second join after it.
        public static let outOfOrder = Code(rawValue: 9)
        /// Too many requests from this address or credential.
        public static let rateLimited = Code(rawValue: 10)
        /// The tracker holds as many viewers, or swarms, as it can.
        public static let full = Code(rawValue: 11)
        /// An active viewer with another claim key uses this peer key.
        public static let keyInUse = Code(rawValue: 12)
        /// The same viewer has joined over another connection; this one ends.
        public static let replaced = Code(rawValue: 13)
        /// The tracker is about to stop.
        public static let shuttingDown = Code(rawValue: 14)
        /// The tracker has not heard from the viewer for too long.
        public static let silent = Code(rawValue: 15)

        public var description: String {
            switch self {
            case .malformed: "malformed message"
            case .unsupportedVersion: "unsupported version"
            case .tokenRequired: "token required"
            case .tokenInvalid: "token invalid"
            case .tokenExpired: "token expired"
            case .tooManySessions: "too many sessions"
            case .streamNotServed: "stream not served"
            case .signatureInvalid: "join signature invalid"
            case .outOfOrder: "message out of order"
            case .rateLimited: "rate limited"
            case .full: "tracker full"
            case .keyInUse: "peer key in use"
            case .replaced: "replaced by another connection"
            case .shuttingDown: "tracker shutting down"
            case .silent: "no report for too long"
            default: "error \(rawValue)"
            }
        }
    }

    /// The reason.
    public var code: Code
    /// Don't ask this tracker again before this many milliseconds; ``never`` when asking again can't help.
    public var retryAfterMilliseconds: UInt32
    /// An explanation for a log, in English; may be empty.
    public var text: String

    /// The value of ``retryAfterMilliseconds`` that means: not again with the same request.
    public static let never: UInt32 = .max

    /// Makes an error.
    public init(code: Code, retryAfterMilliseconds: UInt32 = 0, text: String = "") {
        self.code = code
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.text = text
    }

    public var description: String { text.isEmpty ? code.description : "\(code): \(text)" }

    init(from reader: inout WireReader) throws(WireError) {
        code = Code(rawValue: try reader.integer())
        retryAfterMilliseconds = try reader.integer()
        let bytes = try reader.prefixed16("error text", limit: ControlProtocol.maximumErrorTextByteCount)
        // Shown to people, so control characters don't get through.
        text = String(decoding: bytes.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
    }

    func write(to writer: inout WireWriter) {
        writer.integer(code.rawValue)
        writer.integer(retryAfterMilliseconds)
        writer.prefixed16(Array(text.utf8.prefix(ControlProtocol.maximumErrorTextByteCount)))
    }
}
