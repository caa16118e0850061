internal import CoreModel

/// The pace of one link's uploads: the pacer's window, and when a frame has left the line.
///
/// On a slow line the window is a single frame. Waiting until that is acknowledged leaves the line idle for a round trip
/// after each. So what the line takes for a frame is measured, and one more goes out when of the one before a packet is
/// left in the line's queue: a control frame then waits for a frame and a packet at most.
struct LinkPacing: Sendable {
    /// A frame that was handed to the transport.
    private struct Frame: Sendable {
        /// Bytes that the transport had taken when it was next looked at; `nil` until then.
        var end: Int?
        var sentAt: MonotonicInstant = .origin
    }

    var pacer = DelayPacer()
    private var nextSample: MonotonicInstant = .origin
    private var acknowledgedAtSample = 0
    /// Those that are not acknowledged, in order, the first ``frameCount`` of these places.
    private var frames: InlineArray<4, Frame> = .init(repeating: Frame())
    private var frameCount: UInt8 = 0
    /// When the frame before the first of them had left the line.
    private var lineFree: MonotonicInstant = .origin
    /// How long the line takes for a frame, smoothed; `nil` before the first was measured.
    private var frameTime: Duration?

    /// What may be left of the frame before, in bytes: a packet, 6 ms at 2 Mbps. The other side may also be in no hurry to
    /// acknowledge a last packet alone.
    private static let rest = 1448
    /// Frames that are remembered at once; of more than these the window is wide enough.
    private static let frameLimit = 4

    private mutating func removeFirstFrame() {
        frameCount -= 1
        for place in 0..<Int(frameCount) { frames[place] = frames[place + 1] }
    }

    /// Whether the round trip should be looked at: once in each.
    func isSampleDue(now: MonotonicInstant) -> Bool { now >= nextSample }

    /// Whether one more frame may be on its way beside so many bytes.
    func hasRoom(inFlight: Int, now: MonotonicInstant) -> Bool {
        inFlight + DelayPacer.minimumWindow <= pacer.window
            || inFlight <= Self.rest
            || inFlight <= DelayPacer.minimumWindow + Self.rest && nextFrame <= now
    }

    /// When the last packet of the only frame on its way leaves the line's queue, as far as can be told.
    var nextFrame: MonotonicInstant {
        guard frameCount == 1, let frameTime else { return .distantFuture }
        let rest = frameTime * Self.rest / DelayPacer.minimumWindow
        return max(frames[0].sentAt, lineFree).advanced(by: frameTime - rest)
    }

    /// Notes that a frame was handed to the transport.
    mutating func didSend(now: MonotonicInstant) {
        // Of one that is forgotten it isn't known when the line was through with it.
        if frameCount == Self.frameLimit {
            removeFirstFrame()
            lineFree = .origin
        }
        frames[Int(frameCount)] = Frame(sentAt: now)
        frameCount += 1
    }

    /// Notes what the transport has taken and how much of it is not acknowledged, and so what the line took for the frames
    /// that are through.
    mutating func note(sent: Int, inFlight: Int, now: MonotonicInstant) {
        for place in 0..<Int(frameCount) where frames[place].end == nil { frames[place].end = sent }
        while frameCount > 0, let end = frames[0].end, end - Self.rest <= sent - inFlight {
            let frame = frames[0]
            removeFirstFrame()
            // An acknowledgement comes a round trip after the packet has left the line.
            let left = now.advanced(by: .zero - (pacer.base ?? .zero))
            if frame.sentAt <= lineFree {
                // It waited for the one before: the line went on without a pause.
                let span = lineFree.duration(to: left)
                frameTime = frameTime.map { $0 + (span - $0) / 4 } ?? span
            } else {
                // The time that the acknowledgement took is in it.
                frameTime = min(frameTime ?? .seconds(60), frame.sentAt.duration(to: now))
            }
            lineFree = left
        }
    }

    /// Shows the pacer a round trip.
    mutating func sample(_ roundTrip: Duration, acknowledged: Int, now: MonotonicInstant) {
        pacer.sample(roundTrip, acknowledged: max(0, acknowledged - acknowledgedAtSample), now: now)
        acknowledgedAtSample = acknowledged
        nextSample = now.advanced(by: max(roundTrip, .milliseconds(1)))
    }
}
