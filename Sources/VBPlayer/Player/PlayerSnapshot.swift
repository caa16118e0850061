import Foundation

#if canImport(CoreMedia)
    import CoreMedia
#endif

/// The observable properties of a player.
struct PlayerSnapshot: Sendable {
    var status = VBPlayerStatus.unknown
    var error: NSError?
    var rate: Float = 0
    var duration = CMTime.indefinite
    /// The lowest bit rate first.
    var qualities: [VBQuality] = []
    /// Which of them is on screen.
    var quality: VBQuality?
    var isQualityAutomatic = true
}
