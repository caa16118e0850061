package import Delivery
import Foundation

/// Which lines of a session's log are written: those of the domains and levels that the settings name.
package struct SessionLog: Sendable {
    private let levels: [VBLogDomain: VBLogLevel]

    /// Makes a log; a domain without a level is silent.
    package init(levels: [VBLogDomain: VBLogLevel]) { self.levels = levels }

    /// Writes a line to standard error; nil when no line would be.
    var handler: (@Sendable (SessionLogLevel, String, String) -> Void)? {
        guard levels.values.contains(where: { $0 > .off }) else { return nil }
        return { level, name, sentence in
            guard includes(level, name) else { return }
            FileHandle.standardError.write(Data("VBPlayer \(name): \(sentence)\n".utf8))
        }
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
