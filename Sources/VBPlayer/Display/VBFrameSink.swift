import Synchronization

/// Where a display layer's pictures come out: whoever draws takes the newest when it draws, or is told of each.
///
/// It holds one picture, so a slow drawer costs pictures and never memory. Pictures come on a thread of the player, not on
/// the main queue.
public final class VBFrameSink: Sendable {
    private struct State {
        var newest: VBVideoFrame?
        var handler: (@Sendable (VBVideoFrame) -> Void)?
        var streams: [Int: AsyncStream<VBVideoFrame>.Continuation] = [:]
        var nextStream = 0
    }

    private let state = Mutex(State())

    init() {}

    deinit { for stream in state.withLock({ $0.streams.values.map { $0 } }) { stream.finish() } }

    /// The picture to show now; `nil` before the first, and when the layer is taken from its player.
    public var newest: VBVideoFrame? { state.withLock { $0.newest } }

    /// Sets a block that is called with each picture, on a thread of the player, which waits for it: return soon.
    public func setHandler(_ handler: (@Sendable (VBVideoFrame) -> Void)?) {
        // What the former handler captured is released outside of the lock.
        _ = state.withLock { state in
            defer { state.handler = handler }
            return state.handler
        }
    }

    /// A new stream of pictures, which drops the oldest beyond `count` and finishes with the layer.
    public func stream(bufferingNewest count: Int = 1) -> AsyncStream<VBVideoFrame> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: VBVideoFrame.self, bufferingPolicy: .bufferingNewest(max(1, count)))
        let id = state.withLock { state in
            state.nextStream += 1
            state.streams[state.nextStream] = continuation
            return state.nextStream
        }
        continuation.onTermination = { [weak self] _ in self?.removeStream(id) }
        return stream
    }

    /// Keeps a picture as the newest and passes it on to the streams. The caller calls the handler that is returned.
    func store(_ frame: VBVideoFrame) -> (@Sendable (VBVideoFrame) -> Void)? {
        let (handler, streams) = state.withLock { state in
            state.newest = frame
            return (state.handler, Array(state.streams.values))
        }
        for stream in streams { stream.yield(frame) }
        return handler
    }

    func clear() { state.withLock { $0.newest = nil } }

    private func removeStream(_ id: Int) {
        // Released outside of the lock.
        _ = state.withLock { $0.streams.removeValue(forKey: id) }
    }
}
