/// Whether a player can play.
public enum VBPlayerStatus: Int, Sendable {
    /// It is loading.
    case unknown
    /// It can, and its duration is known.
    case readyToPlay
    /// It can't, and never will: make a new player.
    case failed
}
