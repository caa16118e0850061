import CoreModel

/// A media playlist that is loaded again and again, and the timeline that its states make together.
struct HLSLiveTrack: Sendable {
    /// What a refresh brought.
    enum Outcome: Equatable {
        /// Nothing new.
        case unchanged
        /// New segments, parts or the end.
        case grown(count: Int)
        /// New segments, with others missing in front of them.
        case jumped(count: Int, missing: UInt64)
        /// The encoder began its numbers again.
        case restarted(count: Int)
        /// A state from before the one that is known.
        case older
        /// A delta update to a state that isn't known: the whole playlist is needed.
        case needsWhole
    }

    /// The playlist as of the last refresh, whole.
    private(set) var playlist: HLSMediaPlaylist?
    private(set) var segments = LiveSegments()
    /// The index of the first segment that the playlist lists.
    private(set) var windowStart = 0
    /// How far the timeline's edge runs ahead of the clock, in nanoseconds: of the last refreshes that brought something.
    private var edges: [Int64] = []
    private var builder = HLSReferenceBuilder()
    /// The media sequence number of a segment and its index: numbers run on from there.
    private var anchor = (index: 0, mediaSequence: UInt64(0))
    /// What to add to the playlist's discontinuity numbers.
    private var correction: UInt64 = 0
    /// The wall-clock time of a segment: the last date that the playlist gave.
    private var date: (time: UnixTime, start: MediaTime)?
    /// Since when only older states have come, and the last of them.
    private var olderSince: MonotonicInstant?
    private var olderLast: UInt64?
    /// Where the first segment goes.
    private var origin = MediaTime.zero

    /// A refresh is an observation of the edge; so many of the last ones count.
    private static let edgeCount = 16
    /// Longer ones are not waited for.
    private static let longestHole = MediaTime(seconds: 60)
    /// A date that differs by more than this says that it's another segment.
    private static let dateTolerance: Int64 = 10_000

    var epoch: UInt32 { builder.epoch }
    var isEnded: Bool { playlist?.isEnded ?? false }

    /// The longest that a segment takes: the target duration, at least a second, whatever the playlist says.
    var targetDuration: Duration {
        let target = playlist?.targetDuration.map { MediaTime(seconds: max($0.ticks(at: 1), 1)) }
        let longest = segments.last.map { max($0.duration, MediaTime(seconds: 1)) } ?? MediaTime(seconds: 1)
        return min((target ?? longest).duration, .seconds(3_600))
    }

    /// Takes a state of the playlist.
    ///
    /// - Parameters:
    ///   - asOf: When the server had it so.
    ///   - isAligned: For the first state: places its segments against another rendition's timeline.
    /// - Throws: If a byte range of a new segment has no beginning; nothing is changed then.
    /// - Complexity: O(new segments), beside a delta update's merging.
    mutating func take(
        _ update: HLSMediaPlaylist, asOf: MonotonicInstant, hasBeenStale: Bool = false,
        alignment: (HLSMediaPlaylist) -> MediaTime = { _ in .zero }
    ) throws(ManifestError) -> Outcome {
        var new = update
        if update.skip != nil {
            guard let merged = playlist?.merging(update) else { return .needsWhole }
            new = merged
        }
        guard let first = new.segments.first, let last = new.segments.last else {
            // Nothing listed, or nothing yet.
            defer { if playlist == nil || new.isEnded { playlist = new } }
            return new.isEnded && !isEnded ? .grown(count: 0) : .unchanged
        }
        if segments.isEmpty {
            origin = alignment(new)
            anchor = (segments.endIndex, first.mediaSequence)
            return .grown(count: try add(new, from: 0, asOf: asOf, hasBeenStale: true))
        }
        let lastKnown = anchor.mediaSequence &+ UInt64(segments.endIndex - 1 - anchor.index)
        switch match(new) {
        case .same: break
        case .other: return try restart(new, asOf: asOf)
        case .earlier: return .older
        }
        if last.mediaSequence < lastKnown || first.mediaSequence < (playlist?.segments.first?.mediaSequence ?? 0) {
            return try takeOlder(new, asOf: asOf)
        }
        (olderSince, olderLast) = (nil, nil)
        if first.mediaSequence > lastKnown, first.mediaSequence - lastKnown > 1 {
            if hasEarlierDates(new) { return .older }
            let missing = first.mediaSequence - lastKnown - 1
            builder.beginRun(isNewEpoch: false)
            anchor = (segments.endIndex, first.mediaSequence)
            continueDiscontinuities(first)
            return .jumped(count: try add(new, from: 0, asOf: asOf, hasBeenStale: true), missing: missing)
        }
        correct(new)
        let known = Int(clamping: lastKnown &+ 1 &- first.mediaSequence)
        let hasNewParts = new.trailingParts.count != playlist?.trailingParts.count
        let hasEnded = new.isEnded && !isEnded
        let count = try add(new, from: min(known, new.segments.count), asOf: asOf, hasBeenStale: hasBeenStale)
        if count == 0, !hasNewParts, !hasEnded { return .unchanged }
        return .grown(count: count)
    }

    // MARK: - Which state it is

    private func index(of mediaSequence: UInt64) -> Int? {
        guard mediaSequence >= anchor.mediaSequence,
            let offset = Int(exactly: mediaSequence - anchor.mediaSequence),
            offset < segments.endIndex - anchor.index, anchor.index + offset >= segments.startIndex
        else { return nil }
        return anchor.index + offset
    }

    /// A listed segment whose number is known, with the one that is known: the last such.
    private func overlap(_ new: HLSMediaPlaylist) -> (known: SegmentReference, listed: HLSSegment)? {
        guard let first = new.segments.first, let last = new.segments.last else { return nil }
        let lastKnown = anchor.mediaSequence &+ UInt64(segments.endIndex - 1 - anchor.index)
        let number = min(last.mediaSequence, lastKnown)
        guard number >= first.mediaSequence, let index = index(of: number) else { return nil }
        return (segments[index], new.segments[Int(number - first.mediaSequence)])
    }

    private enum Match { case same, other, earlier }

    /// Whether a segment that is known by its number is the same one: by its date, or by its name without one.
    private func match(_ new: HLSMediaPlaylist) -> Match {
        guard let (known, listed) = overlap(new) else { return .same }
        if let before = known.programDateTime, let now = listed.programDateTime?.time {
            let (difference, overflow) = now.milliseconds.subtractingReportingOverflow(before.milliseconds)
            guard !overflow, abs(difference) <= Self.dateTolerance else {
                // A later date is a later run of the encoder's; an earlier one comes out of a cache.
                return difference > 0 ? .other : .earlier
            }
            return .same
        }
        return Self.name(known.url) == Self.name(listed.uri) ? .same : .other
    }

    /// The last part of the path, which tokens don't change.
    private static func name(_ url: String) -> Substring {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        return path.suffix(from: path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)
    }

    /// A state that ends before what is known, or begins before it: an older one, unless the encoder has begun again.
    private mutating func takeOlder(
        _ new: HLSMediaPlaylist, asOf: MonotonicInstant
    ) throws(ManifestError) -> Outcome {
        guard let last = new.segments.last else { return .unchanged }
        if overlap(new) == nil {
            guard hasEarlierDates(new) else { return try restart(new, asOf: asOf) }
        }
        // An older copy is passed by soon. One that keeps growing where nothing else comes is the encoder's second run, under
        // the names of its first.
        let hasGrown = olderLast.map { last.mediaSequence > $0 } ?? true
        olderLast = last.mediaSequence
        guard let since = olderSince else {
            olderSince = asOf
            return .older
        }
        if hasGrown, since.duration(to: asOf) > targetDuration * 3 { return try restart(new, asOf: asOf) }
        return .older
    }

    /// Whether a playlist ends before what is known, by the dates of both.
    private func hasEarlierDates(_ new: HLSMediaPlaylist) -> Bool {
        guard let known = segments.last.flatMap({ date(at: $0.end) }),
            let index = new.segments.lastIndex(where: { $0.programDateTime?.time != nil }),
            let time = new.segments[index].programDateTime?.time
        else { return false }
        return time + new.segments[index...].reduce(MediaTime.zero) { $0 + $1.duration }.duration <= known
    }

    // MARK: - Taking it in

    private mutating func restart(
        _ new: HLSMediaPlaylist, asOf: MonotonicInstant
    ) throws(ManifestError) -> Outcome {
        builder.beginRun(isNewEpoch: true)
        (olderSince, olderLast) = (nil, nil)
        correction = 0
        anchor = (segments.endIndex, new.segments.first?.mediaSequence ?? 0)
        return .restarted(count: try add(new, from: 0, asOf: asOf, hasBeenStale: true))
    }

    /// Discontinuity numbers of a playlist that doesn't say where they begin go on from what is known of its segments.
    private mutating func correct(_ new: HLSMediaPlaylist) {
        guard let first = new.segments.first else { return }
        if let index = index(of: first.mediaSequence) {
            correction = segments[index].position.section &- first.discontinuitySequence
        } else {
            continueDiscontinuities(first)
        }
    }

    private mutating func continueDiscontinuities(_ first: HLSSegment) {
        guard let last = segments.last else { return }
        let expected = last.position.section &+ (first.isDiscontinuous ? 1 : 0)
        // What a playlist says itself counts, where it isn't less.
        correction = first.discontinuitySequence >= expected ? 0 : expected &- first.discontinuitySequence
    }

    /// Adds the segments from `offset` on and makes the playlist the one that is known.
    private mutating func add(
        _ new: HLSMediaPlaylist, from offset: Int, asOf: MonotonicInstant, hasBeenStale: Bool
    ) throws(ManifestError) -> Int {
        for segment in new.segments[offset...] where segment.byteRange.map({ $0.offset == nil }) ?? false {
            throw .hls(
                line: segment.line, tag: "#EXT-X-BYTERANGE",
                problem: "no offset, and no range of the same resource in front of it", section: "4.4.4.2")
        }
        for segment in new.segments[offset...] {
            let isFirstOfRun = segments.endIndex == anchor.index
            let start = isFirstOfRun ? beginning(of: segment) : segments.last?.end ?? origin
            let reference = builder.reference(
                of: segment, in: new, discontinuity: segment.discontinuitySequence &+ correction, start: start)
            if let time = reference.programDateTime { date = (time, start) }
            segments.append(reference)
        }
        renewURLs(new, upTo: offset)
        playlist = new
        let count = new.segments.count - offset
        windowStart = max(segments.startIndex, segments.endIndex - new.segments.count)
        forget()
        if count > 0 || edges.isEmpty { noteEdge(asOf: asOf, isFirst: hasBeenStale) }
        return count
    }

    /// Where the first segment of a run goes: behind the last one of the run before, with the hole between them that dates
    /// tell of.
    private func beginning(of segment: HLSSegment) -> MediaTime {
        guard let end = segments.last?.end else { return origin }
        guard let date, let time = segment.programDateTime?.time else { return end }
        let (since, overflow) = time.milliseconds.subtractingReportingOverflow(date.time.milliseconds)
        let dated = overflow ? end : date.start + MediaTime(ticks: since, timescale: 1_000)
        return dated > end && dated - end < Self.longestHole ? dated : end
    }

    /// Takes the addresses of segments that were known, where a token in them has changed.
    private mutating func renewURLs(_ new: HLSMediaPlaylist, upTo count: Int) {
        guard count > 0, let last = index(of: new.segments[count - 1].mediaSequence),
            segments[last].url != new.segments[count - 1].uri
        else { return }
        for offset in 0..<count {
            guard let index = index(of: new.segments[offset].mediaSequence) else { continue }
            segments[index].url = new.segments[offset].uri
            if let map = new.segments[offset].map { segments[index].initialization?.url = new.maps[map].uri }
        }
    }

    /// Drops what left the window so long ago that the server needn't have it (RFC 8216bis, section 6.2.2).
    private mutating func forget() {
        guard windowStart > segments.startIndex, windowStart < segments.endIndex else { return }
        let start = segments[windowStart].start
        let length = (segments.last?.end ?? start) - start
        let limit = start - max(length, MediaTime(seconds: 30))
        segments.removeFirst(upTo: min(windowStart, segments.firstIndex { $0.end > limit }))
    }

    // MARK: - Time

    private mutating func noteEdge(asOf: MonotonicInstant, isFirst: Bool) {
        guard let end = segments.last?.end else { return }
        if isFirst { edges = [] }
        let parts = playlist?.trailingParts.reduce(MediaTime.zero) { $0 + $1.duration } ?? .zero
        edges.append(
            (end + parts).duration.nanosecondsClamped.subtractingReportingOverflow(asOf.nanoseconds).partialValue)
        if edges.count > Self.edgeCount { edges.removeFirst() }
    }

    /// What the encoder is producing, as far as refreshes tell: the furthest that any of the last ones was ahead of the
    /// clock, for the others were published, or looked at, late. At the end, where the timeline ends.
    func edge(at now: MonotonicInstant) -> MediaTime {
        guard let end = segments.last?.end else { return origin }
        guard !isEnded, let ahead = edges.max() else { return end }
        return MediaTime(
            ticks: now.nanoseconds.addingReportingOverflow(ahead).partialValue, timescale: 1_000_000_000)
    }

    /// The same by the dates of the playlist and the server's clock, where they agree with when segments come: a date is
    /// right from the first look on, while refreshes find out only in time how late they are.
    func edge(at now: MonotonicInstant, serverTime: UnixTime) -> MediaTime {
        let observed = edge(at: now)
        guard !isEnded, let date else { return observed }
        let (since, overflow) = serverTime.milliseconds.subtractingReportingOverflow(date.time.milliseconds)
        guard !overflow else { return observed }
        let dated = date.start + MediaTime(ticks: since, timescale: 1_000)
        let late = (dated - observed).duration
        // A segment is listed when it is over: the clock is never behind the list, nor far before it.
        return late >= .milliseconds(-500) && late <= targetDuration * 3 / 2 ? dated : observed
    }

    /// The wall-clock time of a place on the timeline, where the playlist gives dates.
    func date(at time: MediaTime) -> UnixTime? {
        date.map { $0.time + (time - $0.start).duration }
    }

    /// Where the first segment of `new`, of another rendition, belongs on this timeline: by dates, else by a discontinuity
    /// that both show, else with the ends together. Never by sequence numbers, which other renditions count otherwise.
    func place(of new: HLSMediaPlaylist) -> MediaTime {
        var offset = MediaTime.zero
        for segment in new.segments {
            if let date, let time = segment.programDateTime?.time {
                let (difference, overflow) = time.milliseconds.subtractingReportingOverflow(date.time.milliseconds)
                if !overflow, abs(difference) < 7 * 86_400_000 {
                    return date.start + MediaTime(ticks: difference, timescale: 1_000) - offset
                }
            }
            offset += segment.duration
        }
        offset = .zero
        for segment in new.segments {
            if segment.isDiscontinuous {
                let index = segments.firstIndex { $0.position.section >= segment.discontinuitySequence }
                if index > segments.startIndex, index < segments.endIndex,
                    segments[index].position.section == segment.discontinuitySequence, segments[index].epoch == epoch
                {
                    return segments[index].start - offset
                }
            }
            offset += segment.duration
        }
        return (segments.last?.end ?? .zero) - offset
    }
}
