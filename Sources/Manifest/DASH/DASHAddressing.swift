import CoreModel

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

    let template: DASHTemplate?
    let runs: [Run]

    /// The reference of @initialization, @index and so on filled in and resolved.
    private static func resource(_ template: String, _ context: Context) -> Resource {
        let reference = DASHTemplate(template, representationID: context.id, bandwidth: context.bandwidth)
            .expanded(number: 0, time: 0)
        return Resource(url: context.base.resolve(reference), range: nil)
    }

    private struct Context {
        var base: BaseURL
        var id: String?
        var bandwidth: UInt64?
    }

    /// Works out where the segments of a representation are.
    ///
    /// - Throws: ``ManifestError`` if the segments' times pass 63 bits or there are more than
    ///   ``ManifestLimits/segmentCount``.
    public init(
        _ manifest: DASHManifest, period: DASHPeriod, times: DASHPeriodTimes, set: DASHAdaptationSet,
        representation: DASHRepresentation
    ) throws(ManifestError) {
        let levels = [manifest.baseURLs, period.baseURLs, set.baseURLs, representation.baseURLs]
        var base = manifest.url
        var choiceCount = 1
        for level in levels where !level.isEmpty {
            base = BaseURL(base.resolve(level[0].text))
            choiceCount = min(choiceCount * level.count, 1_000_000)
        }
        let level = representation.segments.inheriting(set.segments.inheriting(period.segments))
        let information = level.deciding
        let context = Context(base: base, id: representation.id, bandwidth: representation.bandwidth)
        baseURL = base
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
        if let text = information.initializationTemplate {
            initialization = Self.resource(text, context)
        } else if let element = information.initialization {
            initialization = Resource(
                url: element.sourceURL.map(base.resolve) ?? base.text, range: element.range)
        } else if information.kind == .base, let range = information.indexRange, range.lowerBound > 0 {
            // A self-initializing segment: what is in front of the index initializes it.
            initialization = nil
        } else {
            initialization = nil
        }
        switch information.kind {
        case .base:
            method = .base
            media = Resource(url: base.text, range: nil)
            if let external = information.representationIndex {
                index = Resource(url: external.sourceURL.map(base.resolve) ?? base.text, range: external.range)
            } else {
                index = information.indexRange.map { Resource(url: base.text, range: $0) }
            }
            (template, runs, count) = (nil, [], index == nil ? 1 : nil)
        case .list:
            method = .list
            (media, index, template) = (nil, nil, nil)
            let listed = information.segmentURLs?.count ?? 0
            var builder = DASHRunBuilder(information, times: times, timescale: timescale)
            try builder.build(listedCount: listed)
            runs = builder.runs
            count = builder.runs.isEmpty ? listed : builder.count
        case .template:
            (media, index) = (nil, nil)
            template = DASHTemplate(
                information.mediaTemplate ?? "", representationID: context.id, bandwidth: context.bandwidth)
            method =
                information.timeline != nil
                ? .templateTimeline : information.duration != nil ? .templateNumber : .template
            var builder = DASHRunBuilder(information, times: times, timescale: timescale)
            try builder.build(listedCount: nil)
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
