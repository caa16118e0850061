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
