internal import Synchronization

/// Where pictures go: keeps the newest one for whoever draws, and may tell that it came.
///
/// Thread-safe. Holding one picture bounds its memory whatever the drawer's pace; a drawer that needs each picture at
/// once gives an `onFrame` closure, which runs on an engine thread with no lock held and must return soon.
public final class FrameSink: Sendable {
    private let newest = Mutex<VideoFrame?>(nil)
    private let onFrame: (@Sendable (VideoFrame) -> Void)?

    /// Makes an empty sink.
    public init(onFrame: (@Sendable (VideoFrame) -> Void)? = nil) {
        self.onFrame = onFrame
    }

    /// The picture to show now; nil before the first.
    public var frame: VideoFrame? { newest.withLock { $0 } }

    /// Shows a picture in place of the one before.
    public func present(_ frame: VideoFrame) {
        newest.withLock { $0 = frame }
        onFrame?(frame)
    }

    /// Forgets the picture.
    public func clear() {
        newest.withLock { $0 = nil }
    }
}
