/// An address as it may be shown and logged: without credentials, query and fragment, which may hold secrets.
public func redactedURL(_ url: String) -> String {
    let plain = url.prefix { $0 != "?" && $0 != "#" }
    guard let scheme = plain.firstRange(of: "://") else { return String(plain) }
    let authority = plain[scheme.upperBound...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return String(plain) }
    return String(plain[..<scheme.upperBound] + plain[plain.index(after: at)...])
}
