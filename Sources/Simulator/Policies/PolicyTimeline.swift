internal import Scheduling

/// A policy's view of the timeline: what is where, and what is there.
struct PolicyTimeline {
    private var descriptions: [SegmentDescription] = []
    private var isLoaded: [Bool] = []
    /// Where the last search ended, since playheads move on slowly.
    private var cursor = 0

    var count: Int { descriptions.count }

    subscript(index: Int) -> SegmentDescription { descriptions[index] }

    mutating func append(_ more: [SegmentDescription]) {
        descriptions += more
        isLoaded += Array(repeating: false, count: more.count)
    }

    /// Another rendition of a segment: nothing of it is there.
    mutating func change(_ index: Int, to description: SegmentDescription) {
        guard descriptions.indices.contains(index) else { return }
        descriptions[index] = description
        isLoaded[index] = false
    }

    mutating func setLoaded(_ index: Int, _ loaded: Bool) {
        guard isLoaded.indices.contains(index) else { return }
        isLoaded[index] = loaded
    }

    func isLoaded(_ index: Int) -> Bool { isLoaded[index] }

    /// The first segment that ends after a position; `nil` behind the last one.
    mutating func index(at position: Duration) -> Int? {
        if cursor >= descriptions.count || descriptions[cursor].start > position { cursor = 0 }
        while cursor < descriptions.count, descriptions[cursor].end <= position { cursor += 1 }
        return cursor < descriptions.count ? cursor : nil
    }

    /// The first segment from a position on that isn't there.
    mutating func firstOpen(from position: Duration) -> Int? {
        guard let first = index(at: position) else { return nil }
        return isLoaded[first...].firstIndex(of: false)
    }
}
