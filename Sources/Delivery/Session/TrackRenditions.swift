import CoreModel
import Manifest
import Scheduling
import ViewerCore

/// The renditions that a track's segments are chosen from, and which of them each segment is played in.
///
/// The track's own segments are those of the rendition that playback began with. Each stands for the same span of time in every
/// rendition, and is found there by its times, whatever number that rendition gives it: numbers need not agree
/// (RFC 8216bis, 6.3.2). Where a rendition has no segment with these borders it is not changed to.
struct TrackRenditions {
    /// What is known of a rendition's segments.
    private enum Timeline {
        /// Nothing was asked for.
        case unknown
        case loading
        /// The segments, and the number among them of each segment of the track; negative where there is none.
        case ready(SegmentList, places: [Int32])
        /// It can't be played.
        case failed
    }

    private struct Rung {
        let id: Rendition.ID
        var timeline = Timeline.unknown
        /// Segments that can't be had in it.
        var lost = Set<Int>()
    }

    /// What one rendition's borders may be off another's, as a share of the segment: durations are rounded.
    private static let tolerance = 4

    /// Which rung each segment is played at, and why.
    var plan: RenditionPlan
    /// The rung that the viewer has chosen; `nil` while it is chosen for him.
    var manualRung: Int?
    /// What the application and the screen allow.
    var limits: BitrateLimits
    /// The rung of the segment that was handed to the player last.
    var lastRung: Int?
    /// The rung on screen.
    var shownRung: Int?
    /// The most media that is fetched ahead.
    let capacity: Duration
    private var rungs: [Rung]
    /// The track's segments.
    private let grid: SegmentList

    /// - Parameters:
    ///   - first: The rendition that playback begins with.
    ///   - grid: Its segments.
    init(
        _ ladder: RenditionLadder, first: Rendition.ID, grid: SegmentList, configuration: SessionConfiguration
    ) {
        self.grid = grid
        capacity = configuration.scheduling.aloneWindow
        limits = configuration.limits
        var bitrate = BitrateConfiguration()
        bitrate.capacityMilliseconds = capacity.inSeconds * 1000
        bitrate.segmentMilliseconds = max(1, grid[grid.count / 2].duration.duration.inSeconds * 1000)
        bitrate.startKilobitsPerSecond = Double(configuration.startBitsPerSecond) / 1000
        plan = RenditionPlan(
            ladder: ladder.rungs, configuration: bitrate,
            table: OutlookTables.shared.table(ladder.rungs, configuration: bitrate))
        rungs = ladder.renditions.map { Rung(id: $0.id) }
        for rung in rungs.indices where rungs[rung].id == first { take(grid, for: rung) }
    }

    /// The number of rungs.
    var count: Int { rungs.count }

    /// The rendition of a rung.
    func id(_ rung: Int) -> Rendition.ID { rungs[rung].id }

    /// The rung of a rendition.
    func rung(of id: Rendition.ID) -> Int? { rungs.firstIndex { $0.id == id } }

    /// Whether a segment's rendition is chosen and its timeline there.
    func isKnown(_ index: Int) -> Bool { segment(index) != nil }

    /// The highest rung that may be chosen.
    var highestRung: Int { plan.bitrate.ladder.highestRung(within: limits) }

    /// A segment as its rendition has it; `nil` while none is chosen, or its timeline isn't there.
    func segment(_ index: Int) -> SegmentReference? {
        index < plan.count ? segment(index, at: plan.rung(index)) : nil
    }

    /// A segment as a rung's rendition has it; `nil` where it has none.
    func segment(_ index: Int, at rung: Int) -> SegmentReference? {
        guard case .ready(let segments, let places) = rungs[rung].timeline, places.indices.contains(index),
            places[index] >= 0
        else { return nil }
        return segments[Int(places[index])]
    }

    /// Rungs that don't have a segment, as far as is known.
    func absentRungs(_ index: Int) -> [Int] {
        rungs.indices.filter { rung in
            switch rungs[rung].timeline {
            case .unknown, .loading: false
            case .failed: true
            case .ready: rungs[rung].lost.contains(index) || segment(index, at: rung)?.isGap ?? true
            }
        }
    }

    // MARK: - Timelines

    /// Whether a rung's segments are known.
    func isReady(_ rung: Int) -> Bool {
        if case .ready = rungs[rung].timeline { true } else { false }
    }

    /// Whether a rung's timeline is to be asked for; notes that it is.
    mutating func begin(_ rung: Int) -> Bool {
        guard case .unknown = rungs[rung].timeline else { return false }
        rungs[rung].timeline = .loading
        return true
    }

    /// A segment can't be had at its rung.
    mutating func lose(_ index: Int) { rungs[plan.rung(index)].lost.insert(index) }

    /// A rung can't be played.
    mutating func fail(_ rung: Int) { rungs[rung].timeline = .failed }

    /// Takes the segments of a rung.
    ///
    /// - Complexity: O(segments of both).
    mutating func take(_ segments: SegmentList, for rung: Int) {
        var places: [Int32] = []
        places.reserveCapacity(grid.count)
        var place = 0
        for segment in grid {
            let middle = segment.start.duration + segment.duration.duration / 2
            while place < segments.count, segments[place].end.duration <= middle { place += 1 }
            let isSame = place < segments.count && Self.haveSameBorders(segments[place], segment)
            places.append(isSame ? Int32(clamping: place) : -1)
        }
        rungs[rung].timeline = .ready(segments, places: places)
    }

    private static func haveSameBorders(_ one: SegmentReference, _ other: SegmentReference) -> Bool {
        let reach = other.duration.duration / tolerance
        func isNear(_ one: MediaTime, _ other: MediaTime) -> Bool {
            let distance = (one - other).duration
            return distance <= reach && distance >= .zero - reach
        }
        return isNear(one.start, other.start) && isNear(one.end, other.end)
    }
}
