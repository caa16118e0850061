/// The head of a server's answer to a handshake (RFC 9112, sections 4 and 5).
struct AnswerHead {
    var status: Int
    /// Values by name in lower case; those of one name are joined with commas.
    var fields: [String: String] = [:]

    /// Reads a head, with or without the empty line at its end; `nil` when it is no HTTP/1.1.
    init?(_ bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: true)[...]
        let status = lines.popFirst()?.split(separator: " ", maxSplits: 2) ?? []
        guard status.count >= 2, status[0] == "HTTP/1.1", status[1].utf8.count == 3, let number = Int(status[1]) else {
            return nil
        }
        self.status = number
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let name = line[..<colon].lowercased()
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let end = value.lastIndex { $0 != " " && $0 != "\t" }
            let trimmed = end.map { String(value[...$0]) } ?? ""
            fields[name] = fields[name].map { $0 + ", " + trimmed } ?? trimmed
        }
    }

    /// What is wrong with the answer to a handshake with `key` (RFC 6455, section 4.1); `nil` when all is right.
    func fault(forKey key: String) -> String? {
        guard status == 101 else { return "the server answered \(status)" }
        guard Handshake.tokens(fields["upgrade"]) == ["websocket"],
            Handshake.tokens(fields["connection"]).contains("upgrade")
        else { return "the server does not change to WebSockets" }
        guard fields["sec-websocket-accept"] == Handshake.accept(key) else {
            return "the server's answer is not to this handshake"
        }
        guard (fields["sec-websocket-extensions"] ?? "").isEmpty else {
            return "the server uses an extension that was not asked for"
        }
        let subprotocol = fields["sec-websocket-protocol"] ?? Handshake.subprotocol
        return subprotocol == Handshake.subprotocol ? nil : "the server speaks \(subprotocol)"
    }
}
