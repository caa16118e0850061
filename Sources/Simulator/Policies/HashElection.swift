internal import Scheduling

/// The election of p2p-media-loader's 5.0 line: who asks the CDN for a segment, from a hash that all can compute.
enum HashElection {
    /// A backup allows this for the owner's announcement to come.
    static let allowance: Duration = .milliseconds(500)

    /// FNV-1a of 32 bits with a final avalanche (the finaliser of MurmurHash3), over "peer|segment".
    static func score(_ member: MemberID, segment: UInt64) -> UInt32 {
        var hash: UInt32 = 0x811C_9DC5
        for byte in "\(member.rawValue)|\(segment)".utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        hash = (hash ^ hash >> 16) &* 0x85EB_CA6B
        hash = (hash ^ hash >> 13) &* 0xC2B2_AE35
        return hash ^ hash >> 16
    }

    /// How many neighbours come before a member: 0 is the owner.
    static func rank(of member: MemberID, among neighbours: some Sequence<MemberID>, segment: UInt64) -> Int {
        let own = (score(member, segment: segment), member)
        return neighbours.count { (score($0, segment: segment), $0) < own }
    }

    /// Whether the one of a rank is to fetch: the owner at once, a backup when what is left until the segment is urgent
    /// falls under (1 + 1/rank) fetches and the allowance.
    static func isDue(rank: Int, untilUrgent: Duration, fetch: Duration) -> Bool {
        guard rank > 0 else { return true }
        return untilUrgent <= fetch + fetch / rank + allowance
    }
}
