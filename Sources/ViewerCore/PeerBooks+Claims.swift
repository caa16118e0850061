public import CoreModel
public import Integrity
public import Scheduling

/// Claims as the wire has them, and as the scheduler does.
extension PeerBooks {
    /// Who fetches which stripes of a segment by the scheduler's word; `nil` when an owner is nobody that is known here.
    ///
    /// - Parameter viewer: This viewer's name.
    public func assignments(
        of segment: VerifiedSegment, to owners: [MemberID], by viewer: PeerID
    ) -> [Claim.Assignment]? {
        let shares = Front(members: owners).shares(
            ofStripes: segment.geometry.stripeCount, key: segment.root.value.words.0)
        var assignments: [Claim.Assignment] = []
        for share in shares {
            let member = owners[share.owner]
            let owner = viewer.memberID == member ? viewer : peerIDs.first { $0.memberID == member }
            guard let owner else { return nil }
            assignments.append(Claim.Assignment(owner: owner, stripes: share.stripes))
        }
        return assignments
    }

    /// What the scheduler has to be told of a claim; nothing of one that is to go no further: made before its time, of a
    /// segment that is not known here, or with more owners than stripes.
    ///
    /// - Parameters:
    ///   - stripeCount: The stripes of the segment.
    ///   - swarmSize: Viewers in the swarm, by which the election's times are reckoned.
    ///   - span: The election's span.
    public func judge(
        _ claim: Claim, stripeCount: Int, swarmSize: Int, span: Duration, suite: some CryptoSuite
    ) -> [SchedulerInput] {
        let draw = ElectionTicket.draw(nonce: claim.certificate.nonce, segment: claim.root, suite: suite)
        let waited = Duration.milliseconds(Int64(claim.waitedMilliseconds))
        guard Election.isDue(waited: waited, draw: draw, size: swarmSize, span: span) else { return [] }
        // The order of a front follows from the assignments: its rotation is known.
        let owners = claim.assignments.map(\.owner.memberID)
        guard !owners.isEmpty, owners.count <= stripeCount else { return [] }
        let shift = Int(claim.root.value.words.0 % UInt64(owners.count))
        var members = owners
        for (place, owner) in owners.enumerated() { members[(place + shift) % owners.count] = owner }
        return segments(of: claim.root).map {
            .claim($0, claimer: claim.claimer.memberID, draw: draw, waited: waited, owners: members)
        }
    }
}
