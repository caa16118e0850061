/// What a server answers to a request that is no WebSocket.
public struct HTTPPage: Sendable {
    /// The status code.
    public var status: Int
    /// The media type.
    public var contentType: String
    /// The body.
    public var body: [UInt8]

    /// Makes an answer.
    public init(status: Int = 200, contentType: String = "application/json", body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    static func text(_ status: Int, _ body: String) -> HTTPPage {
        HTTPPage(status: status, contentType: "text/plain; charset=utf-8", body: Array(body.utf8))
    }
}
