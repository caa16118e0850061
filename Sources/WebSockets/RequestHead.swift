internal import CMicroHTTPD
internal import CMicroHTTPDShims
internal import CoreModel
internal import EventLoop

/// What a request asks for, from libmicrohttpd's connection.
struct RequestHead {
    /// Why a handshake is refused.
    struct Refusal: Error {
        var page: HTTPPage
        var fields: [(String, String)] = []
    }

    let method: String
    let path: String
    let version: String
    /// Values by name in lower case; those of one name are joined with commas (RFC 9110, section 5.3).
    private(set) var fields: [String: String] = [:]

    init(_ connection: OpaquePointer, method: String, path: String, version: String) {
        self.method = method
        self.path = path
        self.version = version
        unsafe withUnsafeMutablePointer(to: &fields) { fields in
            unsafe _ = MHD_get_connection_values(
                connection, MHD_ValueKind.HEADER_KIND,
                { context, _, name, value in
                    guard let name = unsafe name, let context = unsafe context else { return .YES }
                    let fields = unsafe context.assumingMemoryBound(to: [String: String].self)
                    let key = unsafe String(cString: name).lowercased()
                    let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
                    unsafe fields.pointee[key] = fields.pointee[key].map { $0 + ", " + text } ?? text
                    return .YES
                }, fields)
        }
    }

    /// Whether something follows the head.
    var hasBody: Bool { fields["transfer-encoding"] != nil || (fields["content-length"] ?? "0") != "0" }

    /// Whether the request means to open a WebSocket.
    var asksForWebSocket: Bool { method == "GET" && Handshake.tokens(fields["upgrade"]).contains("websocket") }

    /// The last hop of `X-Forwarded-For`, which is the one that the next proxy saw itself; port 0. `nil` when it is
    /// missing or no numeric address.
    var forwardedAddress: NetworkAddress? {
        // An empty hop counts: a proxy that adds nothing must not let the viewer's own word through.
        let hops = fields["x-forwarded-for", default: ""].split(separator: ",", omittingEmptySubsequences: false)
        guard let hop = hops.last?.drop(while: { $0 == " " || $0 == "\t" }), !hop.isEmpty,
            hop.allSatisfy({ $0.isHexDigit || $0 == "." || $0 == ":" })
        else { return nil }
        return NetworkAddress(numericHost: String(hop), port: 0)
    }

    /// Checks an opening handshake (RFC 6455, section 4.2.1); gives the answer's fields.
    var webSocketHandshake: Result<[(String, String)], Refusal> {
        func refuse(_ text: String) -> Result<[(String, String)], Refusal> {
            .failure(Refusal(page: .text(400, text + "\n")))
        }
        // HTTP/1.0 knows no upgrade.
        guard version == "HTTP/1.1" else { return refuse("a WebSocket needs HTTP/1.1") }
        guard !hasBody, Handshake.tokens(fields["connection"]).contains("upgrade") else {
            return refuse("a WebSocket needs \"Connection: Upgrade\" and no body")
        }
        guard fields["sec-websocket-version"] == Handshake.version else {
            let page = HTTPPage.text(426, "the version of WebSockets here is \(Handshake.version)\n")
            return .failure(Refusal(page: page, fields: [("Sec-WebSocket-Version", Handshake.version)]))
        }
        guard let key = fields["sec-websocket-key"], Handshake.isKey(key) else {
            return refuse("Sec-WebSocket-Key is not sixteen bytes in base64")
        }
        var answer = [("Upgrade", "websocket"), ("Sec-WebSocket-Accept", Handshake.accept(key))]
        // A server must not name a subprotocol that was not asked for (section 4.2.2).
        if let asked = fields["sec-websocket-protocol"] {
            guard Handshake.tokens(asked).contains(Handshake.subprotocol) else {
                return refuse("the subprotocol here is \(Handshake.subprotocol)")
            }
            answer.append(("Sec-WebSocket-Protocol", Handshake.subprotocol))
        }
        return .success(answer)
    }
}
