import CoreModel

/// An MPD that is loaded again and again.
struct FollowedMPD: Sendable {
    /// A rendition and the name that the present MPD's presentation has for it.
    struct FollowedRendition: Sendable {
        var id: Rendition.ID
        /// What it was when it began to be followed.
        var rendition: Rendition
        var track = DASHLiveTrack()
        /// The availability offset of its newest period, and whether that names its segments.
        var facts: (offset: MediaTime?, isListed: Bool)?
    }

    /// A server to ask for the time.
    struct ClockSource: Sendable {
        var method: LiveRequest.Method
        var url: String
    }

    private(set) var manifest: DASHManifest
    /// The MPD's XML, where patches may come.
    var root: XMLElement?
    var tracks: [Rendition.ID: FollowedRendition] = [:]
    /// Where it is loaded from.
    private(set) var url: String
    /// When the load began that brought it.
    private(set) var loadedAt: MonotonicInstant
    /// When something in it was new.
    var changedAt: MonotonicInstant
    /// The load under way.
    var request: (id: LiveRequest.ID, startedAt: MonotonicInstant, isPatch: Bool)?
    /// When to load next; `nil` while a load is under way, and where the MPD doesn't change.
    var refreshAt: MonotonicInstant?
    var failures = 0
    /// Whether the next load is of the whole MPD, whatever patches there are.
    var wantsWhole = false

    /// availabilityStartTime as first seen: the zero of the timeline.
    private let firstStart: UnixTime
    /// What to add to times of the present MPD.
    private(set) var offset = MediaTime.zero
    private(set) var epoch: UInt32 = 0
    private(set) var isEnded = false
    /// When the next segment can be had by the clock alone.
    var nextAvailability: MonotonicInstant?

    var clockSources: [ClockSource] = []
    var clockIndex = 0
    var clockRequest: (id: LiveRequest.ID, startedAt: MonotonicInstant)?
    var clockAt: MonotonicInstant?
    /// Whether no source has answered yet and one still may.
    var isAwaitingClock = false

    init(_ manifest: DASHManifest, url: String, loadedAt: MonotonicInstant) {
        self.manifest = manifest
        self.url = manifest.locations.first ?? url
        self.loadedAt = loadedAt
        changedAt = loadedAt
        firstStart = manifest.availabilityStartTime?.time ?? UnixTime(milliseconds: 0)
    }

    private var start: UnixTime { manifest.availabilityStartTime?.time ?? firstStart }

    /// Takes a new state.
    ///
    /// - Returns: Whether the encoder began again: availabilityStartTime is another.
    mutating func take(_ new: DASHManifest, url: String, loadedAt: MonotonicInstant) -> Bool {
        let before = start
        if new.publishTime?.text != manifest.publishTime?.text || new.isDynamic != manifest.isDynamic {
            changedAt = loadedAt
        }
        manifest = new
        self.url = new.locations.first ?? url
        self.loadedAt = loadedAt
        let (moved, overflow) = start.milliseconds.subtractingReportingOverflow(before.milliseconds)
        guard new.isDynamic, !overflow, abs(moved) > 1_000 else { return false }
        epoch &+= 1
        changedAt = loadedAt
        offset = MediaTime(
            ticks: start.milliseconds.subtractingReportingOverflow(firstStart.milliseconds).partialValue,
            timescale: 1_000)
        return true
    }

    /// The server said that nothing has changed: the MPD is as good as one that was just loaded.
    mutating func confirm(loadedAt: MonotonicInstant) { self.loadedAt = loadedAt }

    /// The presentation is over: what its MPD has now is all. Its timeline may begin elsewhere than before.
    mutating func end(offset: MediaTime?) {
        isEnded = true
        if let offset { self.offset = offset }
    }

    mutating func endInPlace() { isEnded = true }

    // MARK: - Time

    /// The server's time on the MPD's own timeline.
    func mediaTime(_ time: UnixTime) -> MediaTime {
        MediaTime(
            ticks: time.milliseconds.subtractingReportingOverflow(start.milliseconds).partialValue, timescale: 1_000)
    }

    /// What is being produced: by the clock, but not before what is listed.
    func edge(_ time: UnixTime) -> MediaTime { max(mediaTime(time) + offset, end) }

    func date(at time: MediaTime) -> UnixTime { start + (time - offset).duration }

    /// The end of what is known.
    var end: MediaTime { tracks.values.compactMap { $0.track.segments.last?.effectiveEnd }.max() ?? .zero }

    /// The time of the MPD's timeline as an instant's wall clock.
    func time(at mediaTime: MediaTime) -> UnixTime {
        // A millisecond later than the fraction says: not before it is there.
        start + mediaTime.duration + .milliseconds(1)
    }

    func clock(at time: UnixTime, validFrom: UnixTime) -> DASHLiveTrack.Clock {
        DASHLiveTrack.Clock(
            offset: offset, now: isEnded ? MediaTime(seconds: 1 << 40) : mediaTime(time),
            checkTime: isEnded ? nil : manifest.minimumUpdatePeriod.map { mediaTime(validFrom) + max($0, .zero) },
            depth: isEnded ? nil : manifest.timeShiftBufferDepth, epoch: epoch)
    }

    /// When everything that the MPD announces is there; `nil` if it has no end.
    var announcedEnd: MediaTime? { manifest.mediaPresentationDuration ?? manifest.periodTimes.last?.end }

    // MARK: - Pace

    /// How long a segment takes, as far as known.
    var segmentDuration: Duration {
        let longest = tracks.values.compactMap { $0.track.segments.last?.duration }.max()
        let duration = longest ?? manifest.maximumSegmentDuration ?? MediaTime(seconds: 2)
        return min(max(duration.duration, .milliseconds(100)), .seconds(60))
    }

    /// How long the MPD is valid; `nil` for ever. One that is valid only now is loaded with each segment.
    func refreshInterval(minimum: Duration) -> Duration? {
        guard manifest.isDynamic, let period = manifest.minimumUpdatePeriod else { return nil }
        return max(period > .zero ? period.duration : segmentDuration, minimum)
    }

    /// Loads at once, or at the next instant that pacing allows.
    mutating func hurry(now: MonotonicInstant, interval: Duration) {
        guard request == nil, !isEnded, manifest.minimumUpdatePeriod != nil else { return }
        refreshAt = min(refreshAt ?? .distantFuture, max(now, loadedAt.advanced(by: interval)))
    }

    /// The patch to load instead of the MPD, while it is offered.
    func patchURL(now: MonotonicInstant) -> String? {
        guard !wantsWhole, root != nil, let patch = manifest.patchLocations.first,
            patch.timeToLive.map({ loadedAt.duration(to: now) < $0.duration }) ?? true
        else { return nil }
        return patch.url
    }

    // MARK: - Latency

    var declaredLatency: Duration {
        if let target = manifest.serviceDescriptions.lazy.compactMap({ $0.latency?.target }).first {
            return .milliseconds(Int64(clamping: min(target, 86_400_000)))
        }
        if let delay = manifest.suggestedPresentationDelay { return delay.duration }
        let buffer = (manifest.minimumBufferTime ?? MediaTime(seconds: 2)).duration * 3 / 2
        return min(buffer, manifest.timeShiftBufferDepth?.duration ?? buffer)
    }

    /// A segment must have been made, be known of and be fetched. One that is listed in the MPD is known of with its next
    /// refresh.
    var leastLatency: Duration {
        let early = tracks.values.lazy.compactMap { $0.availabilityOffset }.first ?? .zero
        let isListed = tracks.values.contains { $0.isListed }
        let refresh = isListed ? min(manifest.minimumUpdatePeriod?.duration ?? .zero, segmentDuration) : .zero
        return max(segmentDuration - early, .milliseconds(200)) + refresh + .seconds(1)
    }
}

extension FollowedMPD.FollowedRendition {
    fileprivate var availabilityOffset: Duration? { facts.map { max($0.offset?.duration ?? .zero, .zero) } }
    fileprivate var isListed: Bool { facts?.isListed ?? false }
}
