import CoreModel
import Cryptography
import HTTPTransfer
import Integrity
import Manifest
import ViewerCore

/// A track that a session plays: its segments, what is there of them, and how far the player was fed.
struct TrackState {
    /// The first bytes of a rendition that its segments need.
    enum InitializationState {
        case loading
        case ready([UInt8])
        case failed
    }

    /// What became of a segment's other host.
    enum OtherHost {
        case asked
        case failed
    }

    let information: SessionInformation.Track
    let rendition: Rendition
    /// The segments as ``rendition`` has them: an index stands for the same span of time in every rendition.
    /// Live ones are added at the end and leave at the beginning.
    var segments: SegmentList
    /// Which rendition each segment is played in; `nil` where there is one.
    var renditions: TrackRenditions?
    /// Whether no segment will be added.
    var isEnded = true
    /// Segments that are passed over: the CDN doesn't have them.
    var skipped = Set<Int>()
    /// Since when the CDN fails to give a segment of a live presentation.
    var failingSince: [Int: MonotonicInstant] = [:]
    /// Segments of which something is there, or on its way.
    var buffers: [Int: SegmentBuffer] = [:]
    var initializations: [InitializationReference: InitializationState] = [:]
    /// The segment that the player gets next.
    var feedIndex = 0
    /// How many of its bytes the player has.
    var feedOffset = 0
    /// Whether its beginning was told.
    var hasBegun = false
    /// What decrypts the segment that is being handed over, where it is encrypted as a whole.
    var cipher: ResourceCipher?
    /// Segments in a row that could not be decrypted to their end.
    var undecryptableCount = 0
    /// Whether the end was told.
    var hasEnded = false
    /// The initialisation section that the player has.
    var currentInitialization: InitializationReference?
    /// Segments that were handed to the player before.
    var delivered = Set<Int>()
    /// Segments that the store has dropped: what is played of them again comes from elsewhere.
    var lost = Set<Int>()
    /// Segments whose first host failed or differed from a valid record, where the manifest names another.
    var otherHosts: [Int: OtherHost] = [:]
    /// What the CDN answered last for segments that it did not give.
    var lastErrors: [Int: HTTPError] = [:]
    /// Segments whose CDN bytes differed from a valid record.
    var mismatchedSegments = Set<Int>()
    /// Whether records are no longer believed for this rendition.
    var hasGivenUpRecords = false

    /// Whether its segments' first bytes play while the last are missing: not where a fragment may hold all of one track
    /// before the other.
    var playsProgressively: Bool {
        rendition.kind == .audio || rendition.kind == .video || rendition.container == .mpegTS
    }

    /// A segment as it is played; as the track's first rendition has it while none is chosen.
    func segment(_ index: Int) -> SegmentReference { renditions?.segment(index) ?? segments[index] }

    /// Whether it is known in which rendition a segment is played, and where that has it.
    func isKnown(_ index: Int) -> Bool { renditions?.isKnown(index) ?? true }

    /// A segment as a rendition has it, where its timeline is there.
    func segment(_ index: Int, in rendition: Rendition.ID) -> SegmentReference? {
        guard let renditions else { return segments[index] }
        return renditions.rung(of: rendition).flatMap { renditions.segment(index, at: $0) }
    }

    /// The rendition that a segment is played in; the track's first while none is chosen.
    func rendition(_ index: Int) -> Rendition.ID {
        guard let renditions, index < renditions.plan.count else { return information.rendition }
        return renditions.id(renditions.plan.rung(index))
    }

    /// The renditions whose timelines are there.
    var loadedRenditions: [Rendition.ID] {
        guard let renditions else { return [information.rendition] }
        return (0..<renditions.count).filter(renditions.isReady).map(renditions.id)
    }

    /// Forgets what is there of a segment and what happened to it: it is wanted in another rendition.
    mutating func forget(_ index: Int) {
        buffers[index] = nil
        otherHosts[index] = nil
        lastErrors[index] = nil
        mismatchedSegments.remove(index)
        delivered.remove(index)
        lost.remove(index)
    }

    /// Forgets what was noted of segments before an index.
    mutating func forget(before index: Int) {
        buffers = buffers.filter { $0.key >= index }
        delivered = delivered.filter { $0 >= index }
        lost = lost.filter { $0 >= index }
        skipped = skipped.filter { $0 >= index }
        otherHosts = otherHosts.filter { $0.key >= index }
        lastErrors = lastErrors.filter { $0.key >= index }
        failingSince = failingSince.filter { $0.key >= index }
        mismatchedSegments = mismatchedSegments.filter { $0 >= index }
    }

    /// Starts again at another segment.
    mutating func rewind(to index: Int) {
        feedIndex = index
        feedOffset = 0
        hasBegun = false
        cipher = nil
        hasEnded = false
        currentInitialization = nil
        // What has come again is in the store.
        lost = lost.filter { buffers[$0]?.isComplete != true }
    }
}
