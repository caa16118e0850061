/// S: ISO/IEC 23009-1, section 5.3.9.6.
public struct DASHTimelineEntry: Hashable, Sendable {
    /// @t in ticks; `nil` means the end of the entry before.
    public var time: UInt64?
    /// @n; `nil` means one more than the segment before.
    public var number: UInt64?
    /// @d in ticks; not 0.
    public var duration: UInt64
    /// @r; negative means up to the next entry or the end of the period.
    public var repeatCount: Int64
    /// @k; segments of a sequence.
    public var sequenceLength: UInt64?

    /// The entries of a SegmentTimeline. An entry without a duration is an error, for what follows it would be wrong.
    static func entries(_ element: XMLElement, _ parsing: inout DASHParsing) throws(ManifestError)
        -> [DASHTimelineEntry]
    {
        var entries: [DASHTimelineEntry] = []
        entries.reserveCapacity(element.children.count)
        for child in element.children where child.name == "S" {
            guard let duration = parsing.number(child, "d"), duration > 0 else {
                throw parsing.fault(child, "@d is missing or 0", section: "5.3.9.6.2")
            }
            entries.append(
                DASHTimelineEntry(
                    time: parsing.number(child, "t"), number: parsing.number(child, "n"), duration: duration,
                    repeatCount: parsing.signedNumber(child, "r") ?? 0, sequenceLength: parsing.number(child, "k")))
        }
        return entries
    }
}
