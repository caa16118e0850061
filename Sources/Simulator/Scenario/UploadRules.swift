package import SwarmProtocol

/// What viewers let themselves upload.
package struct UploadRules: Sendable, Equatable {
    /// The caps of each viewer who uploads; the production defaults unless the scenario says otherwise.
    package var caps: UploadCaps
    /// The share of an uplink that uploads may take at most, beside what delay-based pacing leaves to other traffic.
    package var usableShare: Double
    /// Whether viewers on metered connections upload all the same.
    package var uploadsOnMetered: Bool
    /// When set, all uplinks are scaled by one factor so that the mean usable uplink over all viewers is this many times
    /// the ladder's highest rate.
    package var meanUsable: Double?
}

extension UploadRules {
    static let keys = ["shareOfDownload", "perSecond", "perDay", "unlimited", "usable", "onMetered", "meanUsable"]

    init(_ object: ScenarioObject?) throws(ScenarioError) {
        caps = UploadCaps()
        usableShare = 1
        uploadsOnMetered = false
        guard let object else { return }
        if try object.boolean("unlimited", default: false) {
            for key in ["shareOfDownload", "perSecond", "perDay"] where object.has(key) {
                throw .contradiction(object.path(of: key), reason: "there is no cap with \"unlimited\": true")
            }
            caps.shareOfDownload = nil
        }
        caps.shareOfDownload = try object.quantity("shareOfDownload", .number, in: 0...100) ?? caps.shareOfDownload
        caps.bytesPerSecond = try object.quantity("perSecond", .rate, in: 0...1e12).map { $0 / 8 }
        caps.bytesPerDay = try object.quantity("perDay", .size, in: 0...1e15).map { UInt64($0) }
        usableShare = try object.quantity("usable", .share, in: 0...1) ?? 1
        uploadsOnMetered = try object.boolean("onMetered", default: false)
        meanUsable = try object.quantity("meanUsable", .number, in: 0.01...1000)
    }
}
