/// The viewers that fetch from the CDN for everybody, in order, as the tracker names them or a claim does.
///
/// Which member fetches which stripe follows from the order, the segment and the number of stripes alone, so that each
/// viewer knows it without a message: with at least as many stripes as members each gets one contiguous run (one CDN
/// request), otherwise the stripes go to members in turn, beginning at another member for each segment.
public struct Front: Sendable, Equatable, Codable {
    /// The members in order; not empty.
    public var members: [MemberID]
    /// Where the leading viewer of the cohort was at ``asOf``, from the presentation's start.
    public var leadPosition: Duration

    /// Makes a front.
    public init(members: [MemberID], leadPosition: Duration = .zero) {
        self.members = members
        self.leadPosition = leadPosition
    }

    /// A run of stripes and the member that fetches it.
    public struct Share: Sendable, Equatable {
        /// The member's place in ``Front/members``.
        public var owner: Int
        /// The stripes.
        public var stripes: Range<Int>
    }

    /// The shares of a segment.
    ///
    /// - Parameters:
    ///   - stripeCount: The segment's stripes.
    ///   - key: A number drawn from the segment, equal for every viewer; it rotates the members.
    /// - Complexity: O(min(members, stripes)).
    public func shares(ofStripes stripeCount: Int, key: UInt64) -> [Share] {
        let count = members.count
        guard count > 0, stripeCount > 0 else { return [] }
        let shift = Int(key % UInt64(count))
        let parts = min(count, stripeCount)
        return (0..<parts).map { share($0, of: parts, stripeCount, shift) }
    }

    /// One of the shares of a segment whose members are rotated by `shift`.
    func share(_ part: Int, of parts: Int, _ stripeCount: Int, _ shift: Int) -> Share {
        Share(
            owner: (part + shift) % members.count,
            stripes: part * stripeCount / parts..<(part + 1) * stripeCount / parts)
    }

    /// How many members stand between the owner of a share and `member`; 0 for the owner, `nil` for who is no member.
    public func rank(of member: MemberID, for share: Share) -> Int? {
        guard let place = members.firstIndex(of: member) else { return nil }
        return (place - share.owner + members.count) % members.count
    }
}
