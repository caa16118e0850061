public import CoreModel

/// SegmentBase, SegmentList or SegmentTemplate: ISO/IEC 23009-1, section 5.3.9.
public struct DASHSegmentInformation: Hashable, Sendable {
    /// Which of the three elements.
    public enum Kind: Hashable, Sendable { case base, list, template }

    public var kind: Kind
    /// The line of the element.
    public var line: Int
    public var timescale: UInt64?
    public var presentationTimeOffset: UInt64?
    public var presentationDuration: UInt64?
    public var earliestPresentationTimeDelta: Int64?
    public var presentationDurationDelta: Int64?
    public var indexRange: Range<UInt64>?
    public var indexRangeExact: String?
    /// Seconds as written; `INF` is possible.
    public var availabilityTimeOffset: String?
    public var availabilityTimeComplete: Bool?
    public var timeShiftBufferDepth: MediaTime?
    /// The Initialization element.
    public var initialization: DASHURL?
    public var representationIndex: DASHURL?
    public var bitstreamSwitching: DASHURL?
    /// Segment duration in ticks.
    public var duration: UInt64?
    public var startNumber: UInt64?
    public var endNumber: UInt64?
    /// SegmentTimeline.
    public var timeline: [DASHTimelineEntry]?
    /// SegmentURL elements.
    public var segmentURLs: [DASHSegmentURL]?
    /// @media of a template.
    public var mediaTemplate: String?
    /// @index of a template.
    public var indexTemplate: String?
    /// @initialization of a template.
    public var initializationTemplate: String?
    /// @bitstreamSwitching of a template.
    public var bitstreamSwitchingTemplate: String?

    init(_ element: XMLElement, kind: Kind, _ parsing: inout DASHParsing) throws(ManifestError) {
        self.kind = kind
        line = element.line
        timescale = parsing.number(element, "timescale")
        if let timescale, timescale == 0 || timescale > UInt64(Int64.max) {
            throw parsing.fault(element, "@timescale is \(timescale)", section: "5.3.9.2.2")
        }
        presentationTimeOffset = parsing.number(element, "presentationTimeOffset")
        presentationDuration = parsing.number(element, "presentationDuration")
        earliestPresentationTimeDelta = parsing.signedNumber(element, "eptDelta")
        presentationDurationDelta = parsing.signedNumber(element, "pdDelta")
        indexRange = parsing.range(element, "indexRange")
        indexRangeExact = element["indexRangeExact"]
        availabilityTimeOffset = element["availabilityTimeOffset"]
        availabilityTimeComplete = element["availabilityTimeComplete"].map { $0 == "true" || $0 == "1" }
        timeShiftBufferDepth = parsing.duration(element, "timeShiftBufferDepth")
        initialization = element.first("Initialization").map { Self.url($0, &parsing) }
        representationIndex = element.first("RepresentationIndex").map { Self.url($0, &parsing) }
        bitstreamSwitching = element.first("BitstreamSwitching").map { Self.url($0, &parsing) }
        duration = parsing.number(element, "duration")
        if duration == 0 { throw parsing.fault(element, "@duration is 0", section: "5.3.9.2.2") }
        startNumber = parsing.number(element, "startNumber")
        endNumber = parsing.number(element, "endNumber")
        if let element = element.first("SegmentTimeline") {
            timeline = try DASHTimelineEntry.entries(element, &parsing)
        }
        if kind == .list {
            var urls: [DASHSegmentURL] = []
            for child in element.children("SegmentURL") {
                urls.append(
                    DASHSegmentURL(
                        media: child["media"], mediaRange: parsing.range(child, "mediaRange"), index: child["index"],
                        indexRange: parsing.range(child, "indexRange")))
            }
            segmentURLs = urls.isEmpty ? nil : urls
        }
        if kind == .template {
            mediaTemplate = element["media"]
            indexTemplate = element["index"]
            initializationTemplate = element["initialization"]
            bitstreamSwitchingTemplate = element["bitstreamSwitching"]
        }
    }

    private static func url(_ element: XMLElement, _ parsing: inout DASHParsing) -> DASHURL {
        DASHURL(sourceURL: element["sourceURL"], range: parsing.range(element, "range"))
    }

    /// This element, with what is missing taken from the one of the same name at the level above.
    func inheriting(_ outer: DASHSegmentInformation?) -> DASHSegmentInformation {
        guard let outer else { return self }
        var inner = self
        inner.timescale = timescale ?? outer.timescale
        inner.presentationTimeOffset = presentationTimeOffset ?? outer.presentationTimeOffset
        inner.presentationDuration = presentationDuration ?? outer.presentationDuration
        inner.earliestPresentationTimeDelta = earliestPresentationTimeDelta ?? outer.earliestPresentationTimeDelta
        inner.presentationDurationDelta = presentationDurationDelta ?? outer.presentationDurationDelta
        inner.indexRange = indexRange ?? outer.indexRange
        inner.indexRangeExact = indexRangeExact ?? outer.indexRangeExact
        inner.availabilityTimeOffset = availabilityTimeOffset ?? outer.availabilityTimeOffset
        inner.availabilityTimeComplete = availabilityTimeComplete ?? outer.availabilityTimeComplete
        inner.timeShiftBufferDepth = timeShiftBufferDepth ?? outer.timeShiftBufferDepth
        inner.initialization = initialization ?? outer.initialization
        inner.representationIndex = representationIndex ?? outer.representationIndex
        inner.bitstreamSwitching = bitstreamSwitching ?? outer.bitstreamSwitching
        inner.duration = duration ?? outer.duration
        inner.startNumber = startNumber ?? outer.startNumber
        inner.endNumber = endNumber ?? outer.endNumber
        inner.timeline = timeline ?? outer.timeline
        inner.segmentURLs = segmentURLs ?? outer.segmentURLs
        inner.mediaTemplate = mediaTemplate ?? outer.mediaTemplate
        inner.indexTemplate = indexTemplate ?? outer.indexTemplate
        inner.initializationTemplate = initializationTemplate ?? outer.initializationTemplate
        inner.bitstreamSwitchingTemplate = bitstreamSwitchingTemplate ?? outer.bitstreamSwitchingTemplate
        return inner
    }
}

/// SegmentURL: ISO/IEC 23009-1, section 5.3.9.3.2.
public struct DASHSegmentURL: Hashable, Sendable {
    /// @media as written; `nil` means the base URL.
    public var media: String?
    public var mediaRange: Range<UInt64>?
    public var index: String?
    public var indexRange: Range<UInt64>?
}
