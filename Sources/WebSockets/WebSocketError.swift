internal import HTTPTransfer

/// Why a WebSocket could not be opened or listened for.
public enum WebSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address is not ws, wss, http or https.
    case invalidURL(String)
    /// The library could not start; most often the port is taken.
    case cannotListen(String)

    /// What happened.
    public var description: String {
        switch self {
        case .invalidURL(let url): "\"\(redactedURL(url))\" is not a ws, wss, http or https address"
        case .cannotListen(let address): "nothing can listen at \(address); is the port taken?"
        }
    }
}
