public import CoreModel

/// What the driver tells the scheduler.
public enum SchedulerInput: Sendable, Equatable, Codable {
    /// More segments at the end of a track's timeline.
    case segments(track: Int, [SegmentDescription])
    /// A segment is wanted in another rendition: what is there of it, what is known of it and what is under way is void.
    case rendition(SegmentID, SegmentDescription)
    /// A segment's record is valid: it can be shared. `key` is drawn from the root and equal for every viewer; `draw` is
    /// this viewer's place in the segment's election, in [0, 1).
    case record(SegmentID, key: UInt64, byteCount: Int, draw: Double)
    /// A segment has no record, or an invalid one: it comes from the CDN.
    case noRecord(SegmentID)
    /// The CDN told a segment's size.
    case size(SegmentID, byteCount: Int)
    /// The playhead, from the presentation's start.
    case playback(position: Duration, isPlaying: Bool)
    /// The viewer jumped: everything outside the new window is dropped.
    case seek(position: Duration)
    /// What is known of the swarm.
    case swarm(SwarmState)
    /// The tracker named a front; `nil` when its validity ended.
    case front(Front?)
    /// A link to a peer is up.
    case peerJoined(PeerKey, member: MemberID, uploads: Bool)
    /// A link went down or the peer was banned: everything asked of it is void.
    case peerLeft(PeerKey)
    /// A peer said what it has of a segment; replaces what it said before.
    case peerHolds(PeerKey, SegmentID, Holding)
    /// A peer asks for patience, or takes that back.
    case peerChoked(PeerKey, until: MonotonicInstant?)
    /// A peer claimed a segment after its wait in the election, which its `draw` gives: `owners` fetch the stripes, in
    /// the order of a front.
    case claim(SegmentID, claimer: MemberID, draw: Double, waited: Duration, owners: [MemberID])
    /// Chunks are there, checked, from a peer.
    case chunkArrived(RequestID, chunk: Int, byteCount: Int)
    /// Bytes came in from the CDN, whole chunks or not: what its throughput is measured by.
    case cdnReceived(TransferID, byteCount: Int)
    /// Chunks are there from the CDN.
    case cdnArrived(TransferID, chunks: Range<Int>)
    /// The CDN answered.
    case cdnResponded(TransferID, after: Duration)
    /// The CDN, which has answered, ignores that a range was asked for: the whole resource comes, whose first byte is this
    /// one of the segment, negative where the segment is a part of it.
    case cdnIgnoredRange(TransferID, from: Int)
    /// The CDN sent all of a transfer.
    case cdnFinished(TransferID)
    /// The CDN failed. `isFinal` when asking again is no use (404 and the like).
    case cdnFailed(TransferID, isFinal: Bool)
    /// All bytes of a segment are there, its size being known only now.
    case completed(SegmentID)
    /// A peer refused chunks of a request.
    case rejected(RequestID, chunks: Range<Int>, refusal: Refusal, retryAfter: Duration)
    /// What is there of a segment, in place of what was known.
    case present(SegmentID, ChunkSet)
    /// The segment's record does not count any more; only these chunks are left of it. Its size is `byteCount`, which can
    /// be another than the record's.
    case replaced(SegmentID, present: ChunkSet, byteCount: Int?)
    /// The store dropped a segment. What peers hold of it has to be told again: of a complete segment it is not kept.
    case evicted(SegmentID)
    /// An instant given by ``SchedulerOutput/wait(until:)`` has come.
    case timer
}

/// Why a peer refused chunks.
public enum Refusal: String, Sendable, Codable {
    /// It doesn't have them.
    case absent
    /// It can't send them in the time left.
    case late
    /// It is busy or has used up what it may upload.
    case busy
}

/// What is known of the swarm.
public enum SwarmState: Sendable, Equatable, Codable {
    /// Peer-assisted delivery is off, or ended for this session.
    case off
    /// The tracker or the catalogue has not answered yet; only what is urgent comes from the CDN until `until`.
    case joining(until: MonotonicInstant)
    /// Joined, with this many viewers in all.
    case joined(size: Int)
}
