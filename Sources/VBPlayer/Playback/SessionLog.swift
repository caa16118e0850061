package import Delivery
import Foundation

/// Which lines of a session's log are written: those of the domains and levels that the settings name.
package struct SessionLog: Sendable {
    private let levels: [VBLogDomain: VBLogLevel]
    private let write: @Sendable (String) -> Void

    /// Makes a log; a domain without a level is silent.
    ///
    /// - Parameter write: Takes a line, from any thread; to standard error by default.
    package init(
        levels: [VBLogDomain: VBLogLevel],
        write: @escaping @Sendable (String) -> Void = {
            try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8))
        }
    ) {
        self.levels = levels
        self.write = write
    }

    /// Writes a line of the session; nil when no line would be.
    var handler: (@Sendable (SessionLogLevel, String, String) -> Void)? {
        guard levels.values.contains(where: { $0 > .off }) else { return nil }
        return { level, name, sentence in
            if includes(level, name) { write("VBPlayer \(name): \(sentence)") }
        }
    }

    /// Writes a line when the domain's level includes it.
    func note(_ level: VBLogLevel, _ domain: VBLogDomain, _ sentence: @autoclosure () -> String) {
        if levels[domain, default: .off] >= level { write("VBPlayer \(domain.rawValue): \(sentence())") }
    }

    /// Whether a line that a session gives is written.
    package func includes(_ level: SessionLogLevel, _ name: String) -> Bool {
        let least: VBLogLevel =
            switch level {
            case .error: .error
            case .warning: .warning
            case .info: .info
            case .debug: .debug
            }
        return levels[Self.domain(name), default: .off] >= least
    }

    /// The public domain of a name that the session uses.
    static func domain(_ name: String) -> VBLogDomain {
        switch name {
        case "cdn": .network
        default: VBLogDomain(rawValue: name) ?? .delivery
        }
    }
}
