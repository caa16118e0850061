/// Those of a cohort who play the same rendition, as far as the bit rates that they report tell.
struct RenditionGroup: Sendable {
    /// What most of them report; 0 when nobody has said what it plays.
    let bitsPerSecond: UInt64
    /// The viewers, in the cohort's order.
    fileprivate(set) var members: [Member] = []

    /// A cohort's groups at most. More than a ladder has rungs; a viewer may report any rate, and each group's front
    /// fetches a copy.
    static let maximumCount = 16

    /// Cuts a cohort into groups, the lowest bit rate first; not empty ones.
    ///
    /// The rates that most viewers report make a group each, up to ``maximumCount`` and where none of them is about the same;
    /// the others go with the nearest of them. Those who have not said what they play go with the most.
    ///
    /// - Complexity: O(n log n) in the viewers, whatever they report.
    static func groups(of cohort: [Member]) -> [RenditionGroup] {
        var counts: [UInt64: Int] = [:]
        for member in cohort where member.mediaBitsPerSecond > 0 { counts[member.mediaBitsPerSecond, default: 0] += 1 }
        guard counts.count > 1 else {
            return [RenditionGroup(bitsPerSecond: counts.first?.key ?? 0, members: cohort)]
        }
        let rates = counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }.map(\.key)
        var kept: [UInt64] = []
        for rate in rates where !kept.contains(where: { areSame($0, rate) }) {
            kept.append(rate)
            if kept.count == maximumCount { break }
        }
        var groups = kept.sorted().map { RenditionGroup(bitsPerSecond: $0) }
        let most = nearest(to: rates[0], in: groups)
        for member in cohort {
            let rate = member.mediaBitsPerSecond
            groups[rate > 0 ? nearest(to: rate, in: groups) : most].members.append(member)
        }
        return groups
    }

    /// Whether two rates may be of one rendition: what HLS and DASH manifests say of the same segments differs by a tenth or
    /// so, the rungs of a ladder by more than a quarter.
    static func areSame(_ first: UInt64, _ second: UInt64) -> Bool {
        first * 4 <= second * 5 && second * 4 <= first * 5
    }

    /// The group whose rate has the least ratio to a rate; of two such the lower.
    private static func nearest(to rate: UInt64, in groups: [RenditionGroup]) -> Int {
        let above = groups.firstIndex { $0.bitsPerSecond >= rate } ?? groups.count - 1
        guard above > 0, groups[above].bitsPerSecond > rate else { return above }
        // Reported in 32 bits: the products fit.
        let isBelow = rate * rate <= groups[above - 1].bitsPerSecond * groups[above].bitsPerSecond
        return isBelow ? above - 1 : above
    }
}
