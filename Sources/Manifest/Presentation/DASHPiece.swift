import CoreModel

/// What one representation gives to a rendition: its segments within one period.
struct DASHPiece: Sendable {
    /// Shared by all renditions that the representation stands in for.
    private let shared: DASHSharedAddressing
    let window: PresentationWindow
    let encryption: Encryption?
    /// The period's start in milliseconds: the section of its segments' positions.
    let section: UInt64
    /// The references of the segment index, once it is loaded.
    private(set) var references: [SegmentIndex.Reference]?
    private var timescale: Int64
    /// The indexes of the segments that lie in the period, at least in part.
    private(set) var indexes: Range<Int>

    init(_ shared: DASHSharedAddressing, window: PresentationWindow, encryption: Encryption?) {
        self.shared = shared
        let addressing = shared.addressing
        self.window = window
        self.encryption = encryption
        section = UInt64(clamping: max(window.start, .zero).ticks(at: 1_000))
        timescale = addressing.timescale
        indexes = 0..<0
        indexes = indexesInPeriod(count: addressing.count ?? 0)
    }

    var addressing: DASHAddressing { shared.addressing }

    /// The segment index that is to be fetched, if one still is.
    var neededIndex: DASHAddressing.Resource? { references == nil ? addressing.index : nil }

    /// Takes the bytes of the segment index.
    mutating func load(_ bytes: [UInt8]) throws(ManifestError) {
        guard let resource = addressing.index else { return }
        let isExternal = resource.url != addressing.media?.url
        let index = try SegmentIndex.parse(bytes, at: isExternal ? nil : resource.range?.lowerBound ?? 0)
        timescale = index.timescale
        references = index.references
        indexes = indexesInPeriod(count: index.references.count)
    }

    /// What to add to a media time.
    private var mediaOffset: MediaTime {
        window.start - MediaTime(ticks: Int64(addressing.presentationTimeOffset), timescale: addressing.timescale)
    }

    private func indexesInPeriod(count: Int) -> Range<Int> {
        DASHAddressing.indexes(of: count, in: window) { span(of: $0) }
    }

    // MARK: - Live

    /// The segments of a live presentation that can be had, by the times of the server's clock on the MPD's timeline.
    ///
    /// Where durations are all that the MPD gives a segment is there once it is complete; one that a list or a
    /// SegmentTimeline names is there: packagers name what they have made, and their clocks are worse than their lists.
    ///
    /// - Parameters:
    ///   - start: Segments that end by then are left out.
    ///   - now: The server's time.
    ///   - checkTime: Up to when the MPD is valid: it says nothing of segments that begin later.
    /// - Complexity: O(log *n*).
    func indexes(from start: MediaTime, now: MediaTime, checkTime: MediaTime?) -> Range<Int> {
        guard neededIndex == nil else { return 0..<0 }
        let limit = min(window.end ?? now + Self.lookAhead, now + Self.lookAhead)
        guard limit > window.start || addressing.count != nil else { return 0..<0 }
        let count =
            references?.count ?? addressing.count
            ?? addressing.information?.duration.map {
                Int(
                    clamping: DASHRunBuilder.dividingUp(limit - window.start, timescale: timescale, by: $0))
            } ?? 0
        func firstIndex(from low: Int, where isBeyond: (Int) -> Bool) -> Int {
            var (low, high) = (low, max(low, count))
            while low < high {
                let middle = low + (high - low) / 2
                if isBeyond(middle) { high = middle } else { low = middle + 1 }
            }
            return low
        }
        let lower = max(start, window.start)
        let first = firstIndex(from: 0) { index in
            let span = span(of: index)
            return span.start + span.duration > lower
        }
        let isListed = addressing.method != .templateNumber
        let edge = addressing.availabilityTimeOffset.map { now + $0 } ?? .infinitelyLate
        let end = firstIndex(from: first) { index in
            let span = span(of: index)
            return window.end.map { span.start >= $0 } ?? false
                || !isListed
                    && (checkTime.map { span.start >= $0 } ?? false || span.start + span.duration > edge)
        }
        return first..<end
    }

    /// When the segment at an index can be had: the server's time on the MPD's timeline; `nil` if it is past the period's
    /// end, or depends on another MPD.
    func availability(of index: Int) -> MediaTime? {
        guard addressing.method == .templateNumber, let offset = addressing.availabilityTimeOffset,
            addressing.count.map({ index < $0 }) ?? true
        else { return nil }
        let span = span(of: index)
        guard window.end.map({ span.start < $0 }) ?? true else { return nil }
        return span.start + span.duration - offset
    }

    /// Where the last segment ends that a list or a SegmentTimeline names; `nil` where durations are all there is.
    var listedEnd: MediaTime? {
        guard addressing.method != .templateNumber, !indexes.isEmpty else { return nil }
        let span = span(of: indexes.upperBound - 1)
        return span.start + span.duration
    }

    /// How far into the future segments are reckoned at all.
    private static let lookAhead = MediaTime(seconds: 86_400)

    private func span(of index: Int) -> (start: MediaTime, duration: MediaTime) {
        if let references {
            let reference = references[index]
            return (
                MediaTime(ticks: Int64(reference.time), timescale: timescale) + mediaOffset,
                MediaTime(ticks: Int64(reference.duration), timescale: timescale)
            )
        }
        let segment = addressing.segment(at: index)
        return span(of: segment)
    }

    private func span(of segment: DASHAddressing.Segment) -> (start: MediaTime, duration: MediaTime) {
        let start = MediaTime(ticks: Int64(clamping: segment.time), timescale: timescale) + mediaOffset
        if let duration = segment.duration {
            return (start, MediaTime(ticks: Int64(clamping: duration), timescale: timescale))
        }
        return (start, window.end.map { max($0 - start, .zero) } ?? .zero)
    }

    /// The segment at an index of the addressing.
    func reference(at index: Int) -> SegmentReference {
        let (start, duration) = span(of: index)
        let resource: DASHAddressing.Resource
        let time: UInt64
        if let references {
            time = references[index].time
            resource = DASHAddressing.Resource(
                url: addressing.media?.url ?? addressing.baseURL.text, range: references[index].byteRange)
        } else {
            let segment = addressing.segment(at: index)
            time = segment.time
            resource = segment.resource
        }
        return SegmentReference(
            position: SegmentPosition(section: section, number: time, byteOffset: resource.range?.lowerBound ?? 0),
            start: start, duration: duration, url: resource.url,
            otherURL: addressing.otherURL(at: references == nil ? index : 0), byteRange: resource.range,
            initialization: initialization, section: section, mediaOffset: mediaOffset, presentationWindow: window,
            isGap: false, encryption: encryption, programDateTime: nil)
    }

    private var initialization: InitializationReference? {
        var resource = addressing.initialization
        if resource == nil, let references, let first = references.first, addressing.index?.url == addressing.media?.url
        {
            // Self-initializing media: what stands in front of the index.
            let end = addressing.index?.range?.lowerBound ?? first.byteRange.lowerBound
            resource = end > 0 ? addressing.media.map { .init(url: $0.url, range: 0..<end) } : nil
        }
        return resource.map {
            InitializationReference(
                url: $0.url, byteRange: $0.range,
                position: SegmentPosition(
                    kind: .initialization, section: section, number: 0, byteOffset: $0.range?.lowerBound ?? 0),
                encryption: nil)
        }
    }
}

extension MediaTime {
    /// Later than any segment.
    fileprivate static let infinitelyLate = MediaTime(seconds: 1 << 40)
}

/// Holds addressing where several need it.
final class DASHSharedAddressing: Sendable {
    let addressing: DASHAddressing

    init(_ addressing: DASHAddressing) { self.addressing = addressing }
}

/// The segments of a rendition over all periods.
struct DASHSegments: Sendable {
    private let pieces: [DASHPiece]
    /// The index of each piece's first segment.
    private let firstIndexes: [Int]
    let count: Int

    init(_ pieces: [DASHPiece]) throws(ManifestError) {
        var count = 0
        var firstIndexes: [Int] = []
        for piece in pieces {
            firstIndexes.append(count)
            count += piece.indexes.count
        }
        guard count <= ManifestLimits.segmentCount else {
            throw .tooLarge(what: "segments of a rendition", limit: ManifestLimits.segmentCount)
        }
        self.pieces = pieces
        self.firstIndexes = firstIndexes
        self.count = count
    }

    subscript(index: Int) -> SegmentReference {
        precondition(index >= 0 && index < count, "index out of the timeline")
        var low = 0
        var high = pieces.count
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if firstIndexes[middle] <= index { low = middle } else { high = middle }
        }
        let piece = pieces[low]
        return piece.reference(at: piece.indexes.lowerBound + index - firstIndexes[low])
    }
}
