public import CoreModel

/// Where the segments of a representation are within one period: inheritance done, references resolved, templates ready:
/// ISO/IEC 23009-1, section 5.3.9.
///
/// Segments have an index from 0 here. They are worked out when asked for.
public struct DASHAddressing: Sendable {
    /// How segments are named.
    public enum Method: String, Sendable {
        /// SegmentTemplate with @duration.
        case templateNumber = "template-number"
        /// SegmentTemplate with SegmentTimeline.
        case templateTimeline = "template-timeline"
        /// SegmentTemplate with neither: one segment.
        case template
        /// SegmentList.
        case list
        /// SegmentBase: a segment index tells.
        case base
        /// A BaseURL and nothing else.
        case single
        /// Nothing at all.
        case none
    }

    /// A resource or a part of it.
    public struct Resource: Hashable, Sendable {
        public var url: String
        public var range: Range<UInt64>?
    }

    /// A segment in the words of the MPD.
    public struct Segment: Hashable, Sendable {
        public var number: UInt64
        /// The media time that $Time$ stands for, in ticks.
        public var time: UInt64
        /// In ticks; `nil` if the MPD doesn't tell.
        public var duration: UInt64?
        public var resource: Resource
        public var indexRange: Range<UInt64>?
    }

    /// Segments of equal duration, one behind the other.
    struct Run: Hashable, Sendable {
        var firstIndex: Int
        var number: UInt64
        var time: UInt64
        var duration: UInt64
        var count: Int
    }

    public let method: Method
    /// The URL that references of segments are resolved against, first choice of several.
    public let baseURL: BaseURL
    /// The second choice, where the MPD gives one.
    public let otherBaseURL: BaseURL?
    /// How many base URLs there are to choose from, over all levels.
    public let baseURLChoiceCount: Int
    /// The merged element; `nil` for `.single` and `.none`.
    public let information: DASHSegmentInformation?
    /// Ticks a second.
    public let timescale: Int64
    /// In ticks.
    public let presentationTimeOffset: UInt64
    /// The number of the first segment.
    public let startNumber: UInt64
    /// What a decoder needs first.
    public let initialization: Resource?
    /// Where the media are when they are one resource.
    public let media: Resource?
    /// Where the segment index is.
    public let index: Resource?
    /// How many segments there are; `nil` if they have no end yet, or if an index must tell.
    public let count: Int?

    /// How much earlier than complete segments can be asked for, the offsets of base URLs and the element added up; `nil`
    /// for always (`INF`): section 5.3.9.5.3.
    public let availabilityTimeOffset: MediaTime?

    let template: DASHTemplate?
    let runs: [Run]

    /// The reference of @initialization, @index and so on filled in and resolved.
    private static func resource(_ template: String, _ context: Context) -> Resource {
        let reference = DASHTemplate(
            template, representationID: context.id, bandwidth: context.bandwidth, namesSegments: false
        ).pattern
        return Resource(url: context.base.resolve(reference), range: nil)
    }

    private struct Context {
        var base: BaseURL
        var id: String?
        var bandwidth: UInt64?
    }

    /// Works out where the segments of a representation are.
    ///
    /// - Parameter workspace: The same one for all representations of an MPD, in the order of the text.
    /// - Throws: ``ManifestError`` if the segments' times pass 63 bits or ``ManifestLimits`` are passed.
    public init(
        _ manifest: DASHManifest, period: DASHPeriod, times: DASHPeriodTimes, set: DASHAdaptationSet,
        representation: DASHRepresentation, workspace: inout DASHWorkspace
    ) throws(ManifestError) {
        let levels = [manifest.baseURLs, period.baseURLs, set.baseURLs, representation.baseURLs]
        let base = try workspace.base(of: representation, set: set, period: period, manifest: manifest)
        let choiceCount = levels.reduce(1) { min($0 * max($1.count, 1), 1_000_000) }
        let level = representation.segments.inheriting(set.segments.inheriting(period.segments))
        let information = level.deciding
        var offset: MediaTime? = .zero
        for text in levels.map({ $0.first?.availabilityTimeOffset }) + [information?.availabilityTimeOffset] {
            guard let text = text?.trimmed else { continue }
            // What is no number says nothing.
            offset = text == "INF" ? nil : offset.map { $0 + (text.decimalNumber ?? .zero) }
        }
        availabilityTimeOffset = offset
        let context = Context(base: base, id: representation.id, bandwidth: representation.bandwidth)
        baseURL = base
        otherBaseURL = try workspace.otherBase(of: representation, set: set, period: period, manifest: manifest)
        baseURLChoiceCount = choiceCount
        self.information = information
        timescale = Int64(information?.timescale ?? 1)
        presentationTimeOffset = information?.presentationTimeOffset ?? 0
        startNumber = information?.startNumber ?? 1
        guard presentationTimeOffset <= UInt64(Int64.max) else {
            throw .dash(
                line: information?.line ?? 0, element: "SegmentTemplate",
                problem: "@presentationTimeOffset passes 63 bits",
                section: "5.3.9.2.2")
        }
        guard let information else {
            method = levels.allSatisfy(\.isEmpty) ? .none : .single
            media = method == .single ? Resource(url: base.text, range: nil) : nil
            (initialization, index, template, runs, count) = (nil, nil, nil, [], method == .single ? 1 : 0)
            return
        }
        for text in [information.initializationTemplate, information.mediaTemplate] {
            guard let text else { continue }
            try workspace.countText(text.utf8.count + (representation.id?.utf8.count ?? 0))
        }
        if let text = information.initializationTemplate {
            initialization = Self.resource(text, context)
            try workspace.countText(initialization?.url.utf8.count ?? 0)
        } else if let element = information.initialization {
            let url = try workspace.resolve(element.sourceURL, against: base)
            initialization = Resource(url: url, range: element.range)
        } else {
            initialization = nil
        }
        switch information.kind {
        case .base:
            method = .base
            media = Resource(url: base.text, range: nil)
            if let external = information.representationIndex {
                index = Resource(url: try workspace.resolve(external.sourceURL, against: base), range: external.range)
            } else {
                index = information.indexRange.map { Resource(url: base.text, range: $0) }
            }
            (template, runs, count) = (nil, [], index == nil ? 1 : nil)
        case .list:
            method = .list
            (media, index, template) = (nil, nil, nil)
            let listed = information.segmentURLs?.count ?? 0
            let builder = try workspace.runs(information, times: times, timescale: timescale, listedCount: listed)
            runs = builder.runs
            count = builder.runs.isEmpty ? listed : builder.count
        case .template:
            (media, index) = (nil, nil)
            template = DASHTemplate(
                information.mediaTemplate ?? "", representationID: context.id, bandwidth: context.bandwidth)
            method =
                information.timeline != nil
                ? .templateTimeline : information.duration != nil ? .templateNumber : .template
            let builder = try workspace.runs(information, times: times, timescale: timescale, listedCount: nil)
            runs = builder.runs
            count = builder.isOpenEnded ? nil : method == .template ? 1 : builder.count
        }
    }

    /// The segment at `index`, which need not be below ``count`` where that is open.
    ///
    /// - Complexity: O(log *n*) in the entries of the timeline.
    public func segment(at index: Int) -> Segment {
        var number = startNumber &+ UInt64(index)
        var time = presentationTimeOffset
        var duration: UInt64?
        if let run = run(holding: index) {
            let offset = UInt64(index - run.firstIndex)
            number = run.number &+ offset
            time = run.time &+ offset &* run.duration
            duration = run.duration
        } else if let ticks = information?.duration {
            time = presentationTimeOffset &+ UInt64(index) &* ticks
            duration = ticks
        }
        if let template {
            let url = baseURL.resolve(template.expanded(number: number, time: time))
            return Segment(number: number, time: time, duration: duration, resource: Resource(url: url, range: nil))
        }
        if let urls = information?.segmentURLs, index < urls.count {
            let entry = urls[index]
            return Segment(
                number: number, time: time, duration: duration,
                resource: Resource(url: entry.media.map(baseURL.resolve) ?? baseURL.text, range: entry.mediaRange),
                indexRange: entry.indexRange)
        }
        return Segment(
            number: number, time: time, duration: duration,
            resource: media ?? Resource(url: baseURL.text, range: nil))
    }

    /// Where the bytes of the segment at `index` are as well; `nil` where the MPD names one place.
    public func otherURL(at index: Int) -> String? {
        guard let otherBaseURL else { return nil }
        let url: String
        if let template {
            let segment = segment(at: index)
            url = otherBaseURL.resolve(template.expanded(number: segment.number, time: segment.time))
        } else if let urls = information?.segmentURLs, index < urls.count, let media = urls[index].media {
            url = otherBaseURL.resolve(media)
        } else {
            url = otherBaseURL.text
        }
        return url == segment(at: index).resource.url ? nil : url
    }

    /// The segments of which a part lies in the period, as the standard counts them: those that begin before its end and
    /// end after its start. All of them where the times of either aren't known.
    ///
    /// Times rise with the index; where an MPD's don't, some segments at the borders may be missed or kept.
    ///
    /// - Complexity: O(log *n*).
    public func indexesInPeriod(_ times: DASHPeriodTimes) -> Range<Int> {
        let count = count ?? 0
        guard count > 0, let start = times.start, segment(at: 0).duration != nil else { return 0..<count }
        let offset = start - MediaTime(ticks: Int64(presentationTimeOffset), timescale: timescale)
        return Self.indexes(of: count, in: PresentationWindow(start: start, end: times.end)) { index in
            let segment = segment(at: index)
            return (
                MediaTime(ticks: Int64(clamping: segment.time), timescale: timescale) + offset,
                MediaTime(ticks: Int64(clamping: segment.duration ?? 0), timescale: timescale)
            )
        }
    }

    /// The spans that overlap a window, found by halving.
    static func indexes(
        of count: Int, in window: PresentationWindow, span: (Int) -> (start: MediaTime, duration: MediaTime)
    ) -> Range<Int> {
        func firstIndex(from low: Int, where isBeyond: (Int) -> Bool) -> Int {
            var (low, high) = (low, count)
            while low < high {
                let middle = low + (high - low) / 2
                if isBeyond(middle) { high = middle } else { low = middle + 1 }
            }
            return low
        }
        let first = firstIndex(from: 0) { index in
            let (start, duration) = span(index)
            return duration == .zero ? start >= window.start : start + duration > window.start
        }
        guard let end = window.end else { return first..<count }
        return first..<firstIndex(from: first) { span($0).start >= end }
    }

    private func run(holding index: Int) -> Run? {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = low + (high - low) / 2
            if runs[middle].firstIndex + runs[middle].count <= index { low = middle + 1 } else { high = middle }
        }
        return low < runs.count ? runs[low] : nil
    }

    /// The path of the media without host and query, the same for each segment.
    var path: String {
        if let template { return BaseURL(baseURL.resolve(template.pattern)).path }
        if method == .list, let first = information?.segmentURLs?.first?.media {
            return BaseURL(baseURL.resolve(first)).path
        }
        return baseURL.path
    }
}
