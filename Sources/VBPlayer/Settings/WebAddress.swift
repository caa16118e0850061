/// The address of a manifest as a caller gives it.
struct WebAddress: Hashable, Sendable {
    /// With a scheme.
    var text: String
    /// Whether the caller gave no scheme, so that https was assumed.
    var assumesScheme: Bool

    /// Reads an address; without a scheme it is taken as https.
    init(_ text: String) throws(PlayerError) {
        let trimmed = text.drop { $0.isWhitespace }
        let end = trimmed.lastIndex { !$0.isWhitespace }
        let address = end.map { String(trimmed[...$0]) } ?? ""
        guard !address.isEmpty else { throw PlayerError(.wrongAddress, "The argument cdn is empty.") }
        let hasScheme = address.contains("://")
        let bare = address.hasPrefix("//") ? String(address.dropFirst(2)) : address
        self.text = hasScheme ? address : "https://\(bare)"
        assumesScheme = !hasScheme
        guard Self.isWellFormed(self.text, schemes: ["http", "https"]) else {
            throw PlayerError(
                .wrongAddress, "The argument cdn is no http or https address: \"\(address.prefix(200))\".")
        }
    }

    /// The address as a session takes it: without a scheme where the caller gave none, so that it may try both.
    var sessionURL: String { assumesScheme ? String(text.dropFirst("https://".count)) : text }

    /// Whether `text` has one of the schemes, a host, and no character that an address can't have.
    static func isWellFormed(_ text: String, schemes: [String]) -> Bool {
        guard text.utf8.count <= 8192, let separator = text.firstRange(of: "://") else { return false }
        guard schemes.contains(text[..<separator.lowerBound].lowercased()) else { return false }
        let rest = text[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let hostAndPort = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard !text.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }) else { return false }
        if hostAndPort.hasPrefix("[") {
            guard let bracket = hostAndPort.firstIndex(of: "]") else { return false }
            return isPort(hostAndPort[hostAndPort.index(after: bracket)...])
        }
        let host = hostAndPort.prefix { $0 != ":" }
        return !host.isEmpty && isPort(hostAndPort[host.endIndex...])
    }

    private static func isPort(_ text: Substring) -> Bool {
        guard !text.isEmpty else { return true }
        guard text.hasPrefix(":") else { return false }
        return UInt16(text.dropFirst()).map { $0 > 0 } ?? false
    }
}
