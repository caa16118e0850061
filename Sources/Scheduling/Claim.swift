internal import CoreModel

/// Owners that a claim named for a segment, until it proves void.
struct Claim: Sendable {
    let segment: SegmentID
    let claimer: MemberID
    let front: Front
    let expires: MonotonicInstant
}
