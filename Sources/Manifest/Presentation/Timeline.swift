public import CoreModel

/// The segments of a rendition in the order of play.
public struct Timeline: Sendable {
    /// The segments. They are worked out when asked for, so that a timeline of a million segments costs no more than the
    /// manifest's text.
    public var segments: SegmentList
    /// Whether no segment will be added.
    public var isEnded: Bool
    /// The longest duration that the manifest promises; `nil` if it promises none.
    public var targetDuration: MediaTime?

    /// Where the last segment ends, cut at the end of the presentation.
    public var end: MediaTime {
        guard let last = segments.last else { return .zero }
        return last.presentationWindow?.end.map { min($0, last.end) } ?? last.end
    }

    /// The index of the segment that holds `time`, or of the next one if `time` falls into a gap; `nil` at and after the end.
    ///
    /// - Complexity: O(log *n*).
    public func index(at time: MediaTime) -> Int? {
        var low = 0
        var high = segments.count
        while low < high {
            let middle = low + (high - low) / 2
            let segment = segments[middle]
            let end = segment.presentationWindow?.end.map { min($0, segment.end) } ?? segment.end
            if end <= time { low = middle + 1 } else { high = middle }
        }
        return low < segments.count ? low : nil
    }
}

/// The segments of a timeline, from index 0.
public struct SegmentList: RandomAccessCollection, Sendable {
    enum Storage: Sendable {
        case hls(HLSSegments)
        case dash(DASHSegments)
    }

    let storage: Storage

    public var startIndex: Int { 0 }

    public var endIndex: Int {
        switch storage {
        case .hls(let segments): segments.count
        case .dash(let segments): segments.count
        }
    }

    /// The segment at `index`.
    ///
    /// - Complexity: O(log *n*) in the entries of the manifest.
    public subscript(index: Int) -> SegmentReference {
        switch storage {
        case .hls(let segments): segments[index]
        case .dash(let segments): segments[index]
        }
    }
}
