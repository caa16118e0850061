/// Why a transfer failed.
public enum HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address can't be used: no http or https, or malformed.
    case invalidURL(String)
    /// The host's name has no address.
    case resolve(host: String)
    /// The server refused the connection.
    case refused
    /// The connection did not come up or broke before an answer.
    case connect(String)
    /// The server's certificate or the TLS handshake is at fault.
    case tls(String)
    /// No body byte came in time.
    case firstByteTimeout
    /// The body paused for too long.
    case stalled(received: Int)
    /// The answer's status is no success.
    case status(Int)
    /// The body ended before its announced length.
    case truncated(received: Int)
    /// The body's size is not what it must be.
    case wrongLength(expected: Int, received: Int)
    /// The body is larger than allowed.
    case tooLarge(limit: Int)
    /// A redirect leads where it must not, or there are too many.
    case redirectRefused
    /// Another failure, in libcurl's words.
    case other(String)

    /// Whether asking again may help.
    public var isRetryable: Bool {
        switch self {
        case .invalidURL, .tls, .wrongLength, .tooLarge, .redirectRefused: false
        case .status(let status): status >= 500 || status == 408 || status == 429
        case .resolve, .refused, .connect, .firstByteTimeout, .stalled, .truncated, .other: true
        }
    }

    /// What happened, in a sentence.
    public var description: String {
        switch self {
        case .invalidURL(let url): "\"\(redactedURL(url))\" is not an http or https address"
        case .resolve(let host): "the host \(host) was not found"
        case .refused: "the server refuses connections"
        case .connect(let text): "no connection: \(text)"
        case .tls(let text): "the secure connection failed: \(text)"
        case .firstByteTimeout: "the server did not answer in time"
        case .stalled(let received): "the server stopped sending after \(received) bytes"
        case .status(let status): "the server answered \(status)"
        case .truncated(let received): "the body ended early, after \(received) bytes"
        case .wrongLength(let expected, let received): "\(received) bytes came where \(expected) must"
        case .tooLarge(let limit): "more than \(limit) bytes came"
        case .redirectRefused: "a redirect leads where it must not"
        case .other(let text): text
        }
    }
}
