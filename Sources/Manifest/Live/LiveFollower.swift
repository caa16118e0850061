public import CoreModel

/// Follows a live presentation: loads its manifest again by the rules, joins the states to one timeline for each rendition,
/// and knows the live edge, the window and the latency to play at.
///
/// The shell gives it ``LiveInput`` and calls ``poll(now:)`` until it says ``LiveOutput/wait(until:)``. `now` never goes
/// backwards. It keeps: the presentation as last loaded; for each rendition that is followed its segments, of which each
/// has one index for ever; the server's clock; what is under way and when to ask again.
///
/// A timeline is the presentation's: HLS begins at 0 with the first segment that was seen, DASH with availabilityStartTime
/// as it was first seen. When the encoder begins again (its numbers go back, or availabilityStartTime changes) the timeline
/// goes on and ``SegmentReference/epoch`` rises. What can't be used is left aside and asked for again; nothing that worked
/// is lost by it.
public struct LiveFollower: Sendable {
    /// The presentation as last loaded.
    public internal(set) var presentation: Presentation
    /// How it is followed.
    public let configuration: LiveConfiguration
    /// The renditions that are followed, in the order in which they were asked for. The first one's edge counts.
    public private(set) var followed: [Rendition.ID] = []
    /// Whether playback can start.
    public private(set) var isReady = false
    /// Whether no segment will be added.
    public private(set) var isEnded = false
    /// Whether nothing new has come for longer than it should take.
    public private(set) var isStale = false

    var clock: LiveClock
    /// The media playlists that are followed.
    var playlists: [Rendition.ID: FollowedPlaylist] = [:]
    /// The MPD, where it is one.
    var mpd: FollowedMPD?
    private var events: [LiveEvent] = []
    private var eventIndex = 0
    private var nextRequest: LiveRequest.ID = 1
    /// Problems told; further ones are not.
    private var problemCount = 0

    /// A playlist and its place in the schedule.
    struct FollowedPlaylist: Sendable {
        var track: HLSLiveTrack
        var reload: HLSReload
    }

    private static let problemLimit = 64

    /// Begins to follow a presentation.
    ///
    /// - Parameters:
    ///   - presentation: As loaded, with the playlists of `renditions` where it is HLS.
    ///   - renditions: Those to follow; the main one first.
    ///   - loadedAt: When the shell began to load it.
    ///   - date: The `Date` of the answer, if there was one.
    ///   - wallClock: This machine's clock at `now`.
    public init(
        _ presentation: Presentation, following renditions: [Rendition.ID],
        configuration: LiveConfiguration = LiveConfiguration(), loadedAt: MonotonicInstant, date: UnixTime? = nil,
        wallClock: UnixTime, now: MonotonicInstant
    ) {
        self.presentation = presentation
        self.configuration = configuration
        clock = LiveClock(wallClock: wallClock, now: now)
        if let date { clock.note(date: date, age: .zero, sentAt: loadedAt, receivedAt: now) }
        if case .dash(let manifest) = presentation.source {
            mpd = FollowedMPD(manifest, url: presentation.url, loadedAt: loadedAt)
            beginClock(loadedAt: loadedAt, now: now)
        }
        for id in renditions { follow(id, loadedAt: loadedAt, now: now) }
    }

    // MARK: - What to follow

    /// Follows one more rendition, such as one to switch to.
    public mutating func follow(_ id: Rendition.ID, now: MonotonicInstant) {
        follow(id, loadedAt: now, now: now)
    }

    private mutating func follow(_ id: Rendition.ID, loadedAt: MonotonicInstant, now: MonotonicInstant) {
        guard !followed.contains(id), presentation.rendition(id) != nil else { return }
        followed.append(id)
        if mpd != nil { followDASH(id, now: now) } else { followHLS(id, loadedAt: loadedAt, now: now) }
    }

    /// Follows a rendition no more; its timeline is forgotten.
    public mutating func unfollow(_ id: Rendition.ID) {
        followed.removeAll { $0 == id }
        playlists[id] = nil
        mpd?.tracks[id] = nil
    }

    // MARK: - What is known

    /// The timeline of a rendition that is followed; `nil` before anything is known of it.
    public func timeline(of id: Rendition.ID) -> Timeline? {
        guard let segments = segments(of: id), !segments.isEmpty else { return nil }
        return Timeline(
            segments: SegmentList(storage: .live(segments)), isEnded: isEnded,
            targetDuration: playlists[id]?.track.playlist?.targetDuration ?? mpd?.manifest.maximumSegmentDuration)
    }

    private func segments(of id: Rendition.ID) -> LiveSegments? {
        playlists[id]?.track.segments ?? mpd?.tracks[id]?.track.segments
    }

    /// What can be played now: what all renditions that are followed have; `nil` before they have anything.
    public func window(at now: MonotonicInstant) -> LiveWindow? {
        var window: LiveWindow?
        for id in followed {
            guard let segments = segments(of: id), let last = segments.last else { return nil }
            let first = playlists[id]?.track.windowStart ?? mpd?.tracks[id]?.track.windowStart ?? segments.startIndex
            let start = segments[min(max(first, segments.startIndex), segments.endIndex - 1)].start
            window = LiveWindow(
                start: max(window?.start ?? start, start),
                end: min(window?.end ?? last.effectiveEnd, last.effectiveEnd),
                edge: edge(at: now))
        }
        return window
    }

    /// What is being produced now: media time that the encoder is at, as far as the manifest or its refreshes tell.
    public func edge(at now: MonotonicInstant) -> MediaTime {
        if let mpd { return isEnded ? mpd.end : mpd.edge(clock.time(at: now)) }
        let time = clock.time(at: now)
        return followed.first.flatMap { playlists[$0]?.track.edge(at: now, serverTime: time) } ?? .zero
    }

    /// The wall-clock time of a place on the timeline, where the manifest tells.
    public func date(at time: MediaTime) -> UnixTime? {
        if let mpd { return mpd.date(at: time) }
        return followed.lazy.compactMap { playlists[$0]?.track.date(at: time) }.first
    }

    /// The server's wall clock.
    public func serverTime(at now: MonotonicInstant) -> UnixTime { clock.time(at: now) }

    /// What the server's clock is ahead of this machine's, as far as known.
    public var clockOffset: Duration { clock.offset }

    // MARK: - Feed and drain

    /// Takes an input. What it causes comes out of ``poll(now:)``.
    public mutating func handle(_ input: LiveInput, now: MonotonicInstant) {
        switch input {
        case .answer(let id, let answer):
            if mpd != nil { takeDASH(id, answer, now: now) } else { takeHLS(id, answer, now: now) }
        case .failed(let id, let isGone):
            if mpd != nil { failDASH(id, now: now) } else { failHLS(id, isGone: isGone, now: now) }
        case .refreshWanted:
            let floor = refreshFloor
            for id in followed { playlists[id]?.reload.hurry(now: now, interval: floor) }
            mpd?.hurry(now: now, interval: floor)
        case .timer: break
        }
    }

    /// Asking out of turn goes no faster than this.
    private var refreshFloor: Duration { max(configuration.minimumRefreshInterval, .seconds(1)) }

    /// The next thing to do.
    public mutating func poll(now: MonotonicInstant) -> LiveOutput {
        if mpd != nil { advanceDASH(now: now) }
        settle(now: now)
        if eventIndex < events.count {
            defer { eventIndex += 1 }
            return .event(events[eventIndex])
        }
        (events, eventIndex) = ([], 0)
        if let request = mpd != nil ? nextDASHRequest(now: now) : nextHLSRequest(now: now) { return .fetch(request) }
        let wake = [mpd != nil ? nextDASHInstant : nextHLSInstant, isStale || isEnded ? nil : staleAt]
        return .wait(until: wake.compactMap { $0 }.min())
    }

    /// Looks at what changes with time and with all renditions together.
    private mutating func settle(now: MonotonicInstant) {
        if !isEnded, !followed.isEmpty, hasEnded {
            isEnded = true
            emit(.ended)
        }
        if !isReady, mpd?.isAwaitingClock != true, window(at: now) != nil {
            isReady = true
            emit(.ready)
        }
        guard !isEnded, let staleAt else { return }
        if isStale != (staleAt <= now) {
            isStale.toggle()
            emit(isStale ? .stale : .recovered)
        }
    }

    private var hasEnded: Bool {
        if let mpd { return mpd.isEnded }
        return followed.allSatisfy { playlists[$0]?.track.isEnded ?? false }
    }

    /// When the presentation counts as stale unless something new comes.
    private var staleAt: MonotonicInstant? { mpd != nil ? staleDASHAt : staleHLSAt }

    mutating func emit(_ event: LiveEvent) {
        if case .problem = event {
            guard problemCount < Self.problemLimit else { return }
            problemCount += 1
        }
        events.append(event)
    }

    mutating func makeRequestID() -> LiveRequest.ID {
        defer { nextRequest &+= 1 }
        return nextRequest
    }
}
