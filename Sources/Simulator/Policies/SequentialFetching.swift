internal import CoreModel
internal import Scheduling

/// A player without peers: whole segments from the CDN over one connection, one after another in the order of playback,
/// up to a buffer goal.
///
/// It is what "never worse than the CDN" is held against, so it does what the production scheduler does without a swarm,
/// with the same constants (``SchedulerConfiguration``): the goal is `aloneWindow` (30 s, the default of hls.js's
/// `maxBufferLength`), a failed request is tried again after 250 ms times 2ⁿ. Two things are kinder than production: it
/// never gives a segment up, and bytes reach the player as they come, which not all players do.
struct SequentialFetching: FetchPolicy {
    private let configuration = SchedulerConfiguration()
    private var timeline = PolicyTimeline()
    private var position = Duration.zero
    private var transfer: (id: TransferID, index: Int)?
    private var failures = 0
    private var retryAt = MonotonicInstant.origin
    private var nextTransfer: UInt32 = 1
    /// What a seek or another rendition made useless.
    private var abandoned: TransferID?

    /// The longest wait before a request is tried again: eight seconds.
    private static let maximumBackOffExponent = 5

    mutating func handle(_ input: SchedulerInput, now: MonotonicInstant) {
        switch input {
        case .segments(_, let descriptions): timeline.append(descriptions)
        case .rendition(let id, let description):
            timeline.change(id.index, to: description)
            guard let open = transfer, open.index == id.index else { return }
            abandoned = open.id
            transfer = nil
        case .playback(let position, _): self.position = position
        case .seek(let position):
            self.position = position
            guard let open = transfer, open.index != timeline.firstOpen(from: position) else { return }
            abandoned = open.id
            transfer = nil
        case .cdnFinished(let id):
            guard let open = transfer, open.id == id else { return }
            timeline.setLoaded(open.index, true)
            transfer = nil
            failures = 0
        case .cdnFailed(let id, _):
            guard let open = transfer, open.id == id else { return }
            transfer = nil
            failures += 1
            retryAt = now.advanced(by: .milliseconds(250) * (1 << min(failures, Self.maximumBackOffExponent)))
        case .evicted(let id): timeline.setLoaded(id.index, false)
        case .record, .noRecord, .size, .swarm, .front, .peerJoined, .peerLeft, .peerHolds, .peerChoked, .claim,
            .chunkArrived, .cdnReceived, .cdnArrived, .cdnResponded, .cdnIgnoredRange, .completed, .rejected, .present,
            .replaced, .timer:
            break
        }
    }

    mutating func poll(now: MonotonicInstant) -> SchedulerOutput {
        if let abandoned {
            self.abandoned = nil
            return .cancelFetch(abandoned, .unwanted)
        }
        // The driver reports the playhead often enough to see the next segment enter the window.
        guard transfer == nil, let index = timeline.firstOpen(from: position),
            timeline[index].start < position + configuration.aloneWindow
        else { return .wait(until: nil) }
        guard retryAt <= now else { return .wait(until: retryAt) }
        let id = TransferID(rawValue: nextTransfer)
        nextTransfer += 1
        transfer = (id, index)
        return .fetch(id, SegmentID(track: 0, index: index), chunks: nil, .alone)
    }
}
