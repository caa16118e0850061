public import Foundation

/// Is told of a player's turns, on the main queue. Every method has an empty default.
@MainActor public protocol VBPlayerDelegate: AnyObject {
    /// Playback waits for media.
    func playerDidEnterStall(_ player: VBPlayer)
    /// Playback goes on after a stall, or was paused, moved or ended in it.
    func playerDidExitStall(_ player: VBPlayer)
    /// The last frame was shown.
    func playerDidFinishPlaying(_ player: VBPlayer)
}

extension VBPlayerDelegate {
    public func playerDidEnterStall(_ player: VBPlayer) {}
    public func playerDidExitStall(_ player: VBPlayer) {}
    public func playerDidFinishPlaying(_ player: VBPlayer) {}
}

extension Notification.Name {
    /// Playback waits for media. Posted on the main queue; the object is the player.
    public static let VBPlayerDidEnterStall = Notification.Name("VBPlayerDidEnterStallNotification")
    /// Playback goes on after a stall. Posted on the main queue; the object is the player.
    public static let VBPlayerDidExitStall = Notification.Name("VBPlayerDidExitStallNotification")
    /// The last frame was shown. Posted on the main queue; the object is the player.
    public static let VBPlayerDidFinishPlaying = Notification.Name("VBPlayerDidFinishPlayingNotification")
    /// A command was refused and did nothing. Posted on the main queue; the object is the player, and
    /// ``VBPlayerErrorKey`` of the user information says why.
    public static let VBPlayerDidRefuseCommand = Notification.Name("VBPlayerDidRefuseCommandNotification")
}

/// The `NSError` in the user information of ``Foundation/Notification/Name/VBPlayerDidRefuseCommand``.
public let VBPlayerErrorKey = "VBPlayerErrorKey"
