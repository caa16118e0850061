import Foundation

/// Where a session's log lines go: to standard error, for the domains that the settings name.
struct SessionLog: Sendable {
    /// Takes a domain and a sentence; nil when nothing is logged.
    let handler: (@Sendable (String, String) -> Void)?

    init(levels: [VBLogDomain: VBLogLevel]) {
        let domains = Set(levels.filter { $0.value >= .info }.keys)
        guard !domains.isEmpty else {
            handler = nil
            return
        }
        handler = { name, sentence in
            guard domains.contains(Self.domain(name)) else { return }
            FileHandle.standardError.write(Data("VBPlayer \(name): \(sentence)\n".utf8))
        }
    }

    /// The public domain of a name that the session uses.
    static func domain(_ name: String) -> VBLogDomain {
        switch name {
        case "cdn": .network
        default: VBLogDomain(rawValue: name) ?? .delivery
        }
    }
}
