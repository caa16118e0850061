import CoreModel

/// A rendition of a live MPD: the timeline that its states and the clock make together.
struct DASHLiveTrack: Sendable {
    private(set) var segments = LiveSegments()
    /// The first segment of the time-shift buffer.
    private(set) var windowStart = 0
    /// The numbers of the first segments that lists of each section began with: a SegmentList moves on by them.
    private var firstNumbers: [UInt64: UInt64] = [:]
    /// What the names of segments had in them when they were added: a token that has changed changes them all.
    private var epoch: UInt32 = 0

    /// What to add to a time of the MPD to get one of this timeline, and the clock as the MPD has it.
    struct Clock {
        /// What to add to a time of the MPD to get one of this timeline.
        var offset: MediaTime
        /// The server's time on the MPD's timeline.
        var now: MediaTime
        /// Up to when the MPD is valid; `nil` for always.
        var checkTime: MediaTime?
        /// How far back segments are kept; `nil` for all.
        var depth: MediaTime?
        var epoch: UInt32
    }

    /// Adds the segments that can be had now.
    ///
    /// - Returns: How many, and when the next one can be had, on the MPD's timeline, if that is known.
    /// - Complexity: O(new segments + periods + log *n*).
    mutating func advance(_ pieces: [DASHPiece], clock: Clock) -> (count: Int, next: MediaTime?) {
        let before = segments.endIndex
        var next: MediaTime?
        // A list says itself where it ends, whatever the clock.
        let newest = min(clock.now, pieces.last { !$0.indexes.isEmpty }?.listedEnd ?? clock.now)
        let floor = clock.depth.map { newest - $0 } ?? .zero
        for piece in pieces {
            guard piece.window.end.map({ $0 > floor }) ?? true else { continue }
            let shift = listShift(piece)
            let from = max(floor, (threshold(piece, clock) ?? floor)) - shift
            var range = piece.indexes(from: from, now: clock.now - shift, checkTime: clock.checkTime.map { $0 - shift })
            range = max(range.lowerBound, range.upperBound - ManifestLimits.liveSegmentCount)..<range.upperBound
            for index in range {
                let reference = place(
                    piece.reference(at: index), shift: shift, timescale: piece.addressing.timescale, clock)
                guard isNew(reference) else { continue }
                segments.append(reference)
            }
            if let time = piece.availability(of: range.upperBound), time > clock.now {
                next = next.map { min($0, time) } ?? time
            }
        }
        trim(floor + clock.offset)
        epoch = clock.epoch
        return (segments.endIndex - before, next)
    }

    /// Where what is new of a piece begins, on the MPD's timeline; `nil` where all may be.
    private func threshold(_ piece: DASHPiece, _ clock: Clock) -> MediaTime? {
        guard let last = segments.last else { return nil }
        return middle(of: last) - clock.offset
    }

    /// Half of a segment's time after its start: what begins later is another one. Times may move a little between
    /// refreshes.
    private func middle(of segment: SegmentReference) -> MediaTime {
        let start = segment.presentationWindow.map { max($0.start, segment.start) } ?? segment.start
        let length = segment.effectiveEnd - start
        return start + MediaTime(ticks: length.ticks(at: 1_000_000) / 2, timescale: 1_000_000)
    }

    private func isNew(_ segment: SegmentReference) -> Bool {
        guard let last = segments.last else { return true }
        return (segment.presentationWindow.map { max($0.start, segment.start) } ?? segment.start) >= middle(of: last)
    }

    /// A SegmentList's times begin with its first segment, which moves on from refresh to refresh.
    private mutating func listShift(_ piece: DASHPiece) -> MediaTime {
        let addressing = piece.addressing
        guard addressing.method == .list, addressing.information?.timeline == nil,
            let duration = addressing.information?.duration
        else { return .zero }
        let key = UInt64(epoch) << 48 ^ piece.section
        guard let first = firstNumbers[key] else {
            if firstNumbers.count > 64 { firstNumbers = [:] }
            firstNumbers[key] = addressing.startNumber
            return .zero
        }
        guard addressing.startNumber > first,
            let ticks = Int64(
                exactly: (addressing.startNumber - first).multipliedReportingOverflow(by: duration).partialValue)
        else { return .zero }
        return MediaTime(ticks: ticks, timescale: addressing.timescale)
    }

    private func place(
        _ segment: SegmentReference, shift: MediaTime, timescale: Int64, _ clock: Clock
    ) -> SegmentReference {
        var segment = segment
        let offset = clock.offset
        if shift > .zero {
            segment.start += shift
            segment.position.number &+= UInt64(clamping: shift.ticks(at: timescale))
        }
        segment.epoch = clock.epoch
        if clock.epoch > 0 { segment.section = UInt64(clock.epoch) << 48 | segment.section & 0xFFFF_FFFF_FFFF }
        guard offset != .zero else { return segment }
        segment.start += offset
        segment.mediaOffset = segment.mediaOffset.map { $0 + offset }
        segment.presentationWindow = segment.presentationWindow.map {
            PresentationWindow(start: $0.start + offset, end: $0.end.map { $0 + offset })
        }
        return segment
    }

    /// Notes where the time-shift buffer begins; drops what left it so long ago that nobody plays it.
    private mutating func trim(_ floor: MediaTime) {
        windowStart = segments.firstIndex { $0.effectiveEnd > floor }
        let limit = floor - MediaTime(seconds: 30)
        segments.removeFirst(upTo: min(windowStart, segments.firstIndex { $0.effectiveEnd > limit }))
    }

    /// What to add to times of a new MPD so that a segment of it, known by its address, stays where it is: the timeline of
    /// a presentation that has ended may begin elsewhere. `nil` if none of its last ones is known.
    func offset(of pieces: [DASHPiece]) -> MediaTime? {
        var index = segments.endIndex
        while index > segments.startIndex, segments.endIndex - index < 16 {
            index -= 1
            let known = segments[index]
            // Periods may play the same files; the last one of them is at the end.
            for piece in pieces.reversed() {
                for place in piece.indexes.suffix(64).reversed() {
                    let segment = piece.reference(at: place)
                    if segment.url == known.url, segment.byteRange == known.byteRange, known.epoch == epoch {
                        return known.start - segment.start
                    }
                }
            }
        }
        return nil
    }

    /// Drops segments that begin at the end of the presentation or later: they were reckoned by the clock before the end was
    /// known.
    mutating func end(at time: MediaTime) {
        segments.removeLast(from: segments.firstIndex { $0.epoch == epoch && $0.start >= time })
    }

    /// Takes the addresses that a new MPD gives to segments that are known, where they have changed.
    mutating func renewURLs(_ pieces: [DASHPiece], clock: Clock) {
        guard let last = segments.last, last.epoch == clock.epoch else { return }
        var isChanged = false
        for piece in pieces.reversed() {
            let start = last.start - clock.offset
            guard piece.window.start <= start + last.duration else { continue }
            var index = segments.endIndex - 1
            let shift = listShift(piece)
            let range = piece.indexes(from: .zero, now: clock.now - shift, checkTime: nil)
            for place in range.reversed() {
                let new = self.place(
                    piece.reference(at: place), shift: shift, timescale: piece.addressing.timescale, clock)
                while index > segments.startIndex, segments[index].position > new.position { index -= 1 }
                guard index >= segments.startIndex, segments[index].epoch == clock.epoch else { return }
                guard segments[index].position == new.position else { continue }
                if !isChanged, segments[index].url == new.url, segments[index].initialization == new.initialization {
                    return
                }
                isChanged = true
                segments[index].url = new.url
                segments[index].otherURL = new.otherURL
                segments[index].initialization = new.initialization
            }
        }
    }
}
