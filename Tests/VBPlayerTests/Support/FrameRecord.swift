import MediaEngine
import Synchronization

/// Writes down what is decoded.
final class FrameRecord: FrameObserver {
    private let lines = Mutex<[String]>([])
    var frames: [String] { lines.withLock { $0 } }
    func videoFrameDecoded(_ frame: VideoFrame) {
        let line = FrameHasher()?.line(for: frame) ?? ""
        lines.withLock { $0.append(line) }
    }
}
