import CoreModel

/// How media time maps onto the presentation, for sections whose manifest does not say it (HLS).
///
/// Each section has offsets (presentation − media). The first timestamp of the section's first segment makes the first;
/// every track of the section and every later segment uses it. Another is made only when a segment's timestamps lie
/// further from its place in the playlist than ``tolerance``: a discontinuity that nobody marked. Bounded: the sections
/// used longest ago are forgotten.
struct SectionTable {
    private struct Section {
        var id: UInt64
        var offsets: [MediaTime]
    }

    private var sections: [Section] = []

    /// What the timestamps of a segment may be off its place in the playlist, where durations are rounded.
    static let tolerance = MediaTime(seconds: 10)
    private static let sectionLimit = 256
    private static let offsetLimit = 16

    /// The offset that brings `mediaTime`, the first of a segment, to within the tolerance of `start`; nil when the
    /// section has none.
    func offset(section id: UInt64, mediaTime: MediaTime, start: MediaTime) -> MediaTime? {
        guard let section = sections.last(where: { $0.id == id }) else { return nil }
        return section.offsets.first { offset in
            let distance = mediaTime + offset - start
            return distance <= Self.tolerance && distance >= -Self.tolerance
        }
    }

    /// The first offset of a section, which tells where in media time to expect a segment.
    func firstOffset(section id: UInt64) -> MediaTime? {
        sections.last { $0.id == id }?.offsets.first
    }

    /// Anchors a section: `mediaTime` lies at `start`. Returns the offset.
    mutating func anchor(section id: UInt64, mediaTime: MediaTime, start: MediaTime) -> MediaTime {
        let offset = start - mediaTime
        if let index = sections.lastIndex(where: { $0.id == id }) {
            sections[index].offsets.append(offset)
            if sections[index].offsets.count > Self.offsetLimit { sections[index].offsets.remove(at: 1) }
        } else {
            sections.append(Section(id: id, offsets: [offset]))
            if sections.count > Self.sectionLimit { sections.removeFirst() }
        }
        return offset
    }
}
