public import CoreModel
import EventLoop
import Foundation
import Integrity
public import Manifest
import Scheduling
import ViewerCore

/// Live presentations: the manifest is followed, the tracks grow, and playback keeps its distance to the edge.
extension ViewerSession {
    /// Begins to follow a live presentation; playback is prepared once its clock and segments are known.
    func follow(_ selection: ManifestLoader.Selection) {
        self.selection = selection
        var live = LiveConfiguration()
        live.targetLatency = configuration.liveLatency
        let follower = LiveFollower(
            selection.presentation, following: selection.renditions, configuration: live, loadedAt: selection.loadedAt,
            date: selection.date, wallClock: UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)),
            now: loop.now)
        let loader = LiveLoader(
            follower, client: client, loop: loop,
            onBytes: { [weak self] count, isRequest in
                self?.figures.bytes.cdnManifest += count
                if isRequest { self?.figures.requests.cdnManifest += 1 }
            },
            onEvent: { [weak self] event in self?.take(event) })
        self.live = LiveState(loader: loader)
        loader.start()
    }

    /// What can be played of a live presentation now; `nil` for one that isn't live, or before it is known.
    public var liveWindow: LiveWindow? {
        loop.checkIsolated()
        return live?.loader.follower.window(at: loop.now)
    }

    /// How far behind the live edge is played; `nil` for what isn't live.
    public var targetLatency: Duration? {
        loop.checkIsolated()
        return live?.targetLatency
    }

    /// Whether a seek leads somewhere: always, but outside of a live presentation's window.
    public func canSeek(to time: MediaTime) -> Bool {
        guard live != nil else { return true }
        guard let window = liveWindow else { return false }
        return time >= window.start && time <= window.end
    }

    private func take(_ event: LiveEvent) {
        guard !isStopped else { return }
        switch event {
        case .ready:
            if let selection, tracks.isEmpty { prepare(selection) }
        case .grown(let id, _): grow(id)
        case .ended: end()
        case .restarted(let id, let epoch): log("session", "\(id): the encoder began again; this is run \(epoch + 1)")
        case .jumped(let id, let missing):
            log("session", "\(id): \(missing) segments left the playlist before it was seen", .warning)
        case .ignoredOlder(let id): log("session", "\(id): an answer was older than what is known")
        case .stale: log("session", "the manifest brings nothing new", .warning)
        case .recovered: log("session", "the manifest brings something new again")
        case .problem(let problem): log("session", "the manifest: \(problem)", .warning)
        }
    }

    /// Takes the segments that were added to a rendition.
    private func grow(_ id: Rendition.ID) {
        guard let timeline = live?.loader.follower.timeline(of: id),
            let track = tracks.firstIndex(where: { $0.information.rendition == id })
        else { return }
        let known = tracks[track].segments.endIndex
        tracks[track].segments = timeline.segments
        describe(track: track, from: known)
        forgetLeft(track)
        // The next segment may need another initialisation section.
        loadInitialization(track: track, segment: tracks[track].feedIndex)
        pump(track)
        feed(.timer)
    }

    /// Gives up what has left the timeline.
    private func forgetLeft(_ track: Int) {
        let first = tracks[track].segments.startIndex
        for index in tracks[track].buffers.keys.filter({ $0 < first }).sorted() {
            let id = SegmentID(track: track, index: index)
            swarm?.forget(id)
            disk?.discard(id)
            for (transfer, fetch) in fetches where fetch.segment == id {
                cancelFetch(transfer)
                feed(.cdnFinished(transfer))
            }
            tracks[track].buffers[index] = nil
            feed(.evicted(id))
        }
        tracks[track].forget(before: first)
        let needed = Set(tracks[track].segments.suffix(64).compactMap(\.initialization))
        let current = tracks[track].currentInitialization
        if tracks[track].initializations.count > 64 {
            tracks[track].initializations = tracks[track].initializations.filter {
                needed.contains($0.key) || $0.key == current
            }
        }
    }

    private func end() {
        for track in tracks.indices {
            if let timeline = live?.loader.follower.timeline(of: tracks[track].information.rendition) {
                let known = tracks[track].segments.endIndex
                tracks[track].segments = timeline.segments
                if timeline.segments.endIndex > known { describe(track: track, from: known) }
            }
            tracks[track].isEnded = true
        }
        pumpAll()
        feed(.timer)
    }

    // MARK: - Latency

    /// Keeps the distance to the live edge, by the player's speed and, far off, by a jump.
    func keepLatency() {
        guard live != nil, !tracks.isEmpty, !isStopped else { return }
        let now = loop.now
        figures.liveLatencySeconds = live?.latency(of: report.position, now: now)
        noteLatency(now: now)
        guard let step = live?.look(report, buffered: bufferedSeconds, now: now) else { return }
        switch step {
        case .speed(let speed): sink?.session(self, wantsSpeed: speed)
        case .seek(let time):
            log("session", "playback jumps to \(time.seconds) s to be near the live edge again")
            sink?.session(self, wantsSeekTo: time)
        }
    }

    /// Says now and then how the latency is kept.
    private func noteLatency(now: MonotonicInstant) {
        guard let latency = figures.liveLatencySeconds, let live,
            live.notedAt.map({ $0.duration(to: now) >= .seconds(5) }) ?? true
        else { return }
        self.live?.notedAt = now
        func text(_ number: Double) -> String { String(format: "%.3f", number) }
        log(
            "session",
            "latency \(text(latency)) s, target \(text(live.targetLatency.inSeconds)) s, speed \(text(live.speed)), stalls \(report.stalls)",
            .debug)
    }

    /// Seconds of whole segments from the playhead on, of the track that has the fewest.
    private var bufferedSeconds: Double {
        let position = MediaTime(ticks: report.position.nanosecondsClamped, timescale: 1_000_000_000)
        return tracks.map { track in
            guard var index = track.segments.index(at: position) else { return 0 }
            var end = position
            while index < track.segments.endIndex, track.buffers[index]?.isComplete ?? false {
                end = track.segments[index].end
                index += 1
            }
            return (end - position).seconds
        }.min() ?? 0
    }

    // MARK: - Segments that can't be had

    /// Whether the CDN has failed to give a segment for longer than it can be late.
    func hasFailedForLong(_ segment: SegmentID) -> Bool {
        guard let reference = reference(segment) else { return true }
        let since = tracks[segment.track].failingSince[segment.index] ?? loop.now
        tracks[segment.track].failingSince[segment.index] = since
        // It may not be there yet, or the manifest may have moved on.
        live?.loader.refresh()
        return since.duration(to: loop.now) > max(reference.duration.duration * 2, .seconds(4))
    }

    /// Passes over a segment that can't be had: a gap, or one of a live presentation, which goes on without it.
    func passOver(_ segment: SegmentID) -> Bool {
        // A segment behind the end of what was live needs nobody.
        guard let reference = reference(segment) else { return live != nil }
        guard live != nil || reference.isGap else { return false }
        guard tracks[segment.track].skipped.insert(segment.index).inserted else { return true }
        if !reference.isGap {
            log("session", "\(SessionError.redacted(reference.url)) can't be had; it is passed over", .warning)
        }
        pump(segment.track)
        return true
    }
}
