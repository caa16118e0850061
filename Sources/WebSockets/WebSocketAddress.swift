/// The parts of a ws or wss address (RFC 6455, section 3).
struct WebSocketAddress {
    var isSecure: Bool
    /// The host, IPv6 in brackets.
    var host: String
    var port: UInt16
    /// The path and query.
    var resource: String

    /// Reads ws, wss, or http and https for the same; `nil` for anything else. A name and password are passed over.
    init?(_ url: String) {
        // Other characters could end the request's line (RFC 3986, section 2).
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://")
        else { return nil }
        switch url[..<colon].lowercased() {
        case "ws", "http": isSecure = false
        case "wss", "https": isSecure = true
        default: return nil
        }
        let rest = url[url.index(colon, offsetBy: 3)...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let resource = rest.dropFirst(authority.count).prefix { $0 != "#" }
        self.resource = resource.hasPrefix("/") ? String(resource) : "/" + resource
        let hostAndPort = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        host = String(hostAndPort)
        port = isSecure ? 443 : 80
        if let mark = hostAndPort.lastIndex(of: ":"), !hostAndPort[mark...].contains("]") {
            guard let number = UInt16(hostAndPort[hostAndPort.index(after: mark)...]) else { return nil }
            port = number
            host = String(hostAndPort[..<mark])
        }
        guard !host.isEmpty, host != "[]" else { return nil }
    }

    /// Where the connection goes, for an HTTP library.
    var connectURL: String { "\(isSecure ? "https" : "http")://\(host):\(port)/" }

    /// The request that opens the WebSocket (RFC 6455, section 4.1).
    func request(key: String) -> String {
        let authority = port == (isSecure ? 443 : 80) ? host : "\(host):\(port)"
        return """
            GET \(resource) HTTP/1.1\r
            Host: \(authority)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: \(key)\r
            Sec-WebSocket-Version: \(Handshake.version)\r
            Sec-WebSocket-Protocol: \(Handshake.subprotocol)\r
            \r

            """
    }
}
