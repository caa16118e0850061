/// Sees everything that is decoded, for checks against another decoder.
///
/// Called on the track's thread, in presentation order, for each frame that belongs to the presentation: not for those
/// outside a segment's window, nor for those decoded only to reach the target of a seek. Slow observers slow decoding.
public protocol FrameObserver: Sendable {
    /// A picture was decoded.
    func videoFrameDecoded(_ frame: VideoFrame)
    /// Samples were decoded.
    func audioDecoded(_ block: AudioBlock)
}

extension FrameObserver {
    public func videoFrameDecoded(_ frame: VideoFrame) {}
    public func audioDecoded(_ block: AudioBlock) {}
}
