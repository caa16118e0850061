import CoreModel
import HTTPTransfer
import Scheduling

/// A media transfer from the CDN that the scheduler asked for.
struct CDNFetch {
    let segment: SegmentID
    let reason: Reason
    /// Where in the segment the next body byte belongs.
    var offset: Int
    var transfer: HTTPTransfer?
    /// The chunks asked for; all of 4096 for the whole segment.
    let chunks: Range<Int>
    /// Whether the whole segment was asked for.
    let isWhole: Bool
    /// Whether the CDN sends the whole resource, though a range of it was asked for.
    var ignoresRange = false
}

/// A fetch that waits until it is known where its segment's bytes are.
struct WaitingFetch {
    let id: TransferID
    let segment: SegmentID
    let chunks: Range<Int>?
    let reason: Reason
}
