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
        segments.last?.effectiveEnd ?? .zero
    }

    /// The index of the segment that holds `time`, or of the next one if `time` falls into a gap; `nil` at and after the end.
    ///
    /// - Complexity: O(log *n*).
    public func index(at time: MediaTime) -> Int? {
        var low = segments.startIndex
        var high = segments.endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if segments[middle].effectiveEnd <= time { low = middle + 1 } else { high = middle }
        }
        return low < segments.endIndex ? low : nil
    }
}

/// The segments of a timeline. The first has index 0, but where a live presentation has dropped its beginning: a segment
/// keeps its index for ever.
public struct SegmentList: RandomAccessCollection, Sendable {
    enum Storage: Sendable {
        case hls(HLSSegments)
        case dash(DASHSegments)
        case live(LiveSegments)
    }

    let storage: Storage

    public var startIndex: Int {
        switch storage {
        case .hls, .dash: 0
        case .live(let segments): segments.startIndex
        }
    }

    public var endIndex: Int {
        switch storage {
        case .hls(let segments): segments.count
        case .dash(let segments): segments.count
        case .live(let segments): segments.endIndex
        }
    }

    /// The segment at `index`.
    ///
    /// - Complexity: O(log *n*) in the entries of the manifest.
    public subscript(index: Int) -> SegmentReference {
        switch storage {
        case .hls(let segments): segments[index]
        case .dash(let segments): segments[index]
        case .live(let segments): segments[index]
        }
    }
}
