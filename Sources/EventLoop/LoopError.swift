internal import CLibuv

/// What a call into the loop's library reported, as its negative code (`uv_errno_t`).
public struct LoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The library's code; negative.
    public let rawValue: Int32

    /// Wraps a code of the library.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The connection was refused: nothing listens there.
    public static let connectionRefused = LoopError(rawValue: UV_ECONNREFUSED.rawValue)
    /// The address is taken.
    public static let addressInUse = LoopError(rawValue: UV_EADDRINUSE.rawValue)
    /// The peer ended its side.
    public static let endOfStream = LoopError(rawValue: UV_EOF.rawValue)
    /// The operation was stopped by its owner.
    public static let cancelled = LoopError(rawValue: UV_ECANCELED.rawValue)
    /// The operation took too long.
    public static let timedOut = LoopError(rawValue: UV_ETIMEDOUT.rawValue)
    /// The text is no address.
    public static let invalidArgument = LoopError(rawValue: UV_EINVAL.rawValue)

    /// The library's words for the code.
    public var description: String {
        guard let text = unsafe uv_strerror(rawValue) else { return "error \(rawValue)" }
        return unsafe String(cString: text)
    }

    /// Throws when a call reported a failure.
    static func check(_ code: Int32) throws(LoopError) {
        if code < 0 { throw LoopError(rawValue: code) }
    }
}
