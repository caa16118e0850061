import CoreModel

/// When and how a media playlist is loaded again: RFC 8216bis, sections 6.2.5 and 6.3.4.
struct HLSReload: Sendable {
    /// The playlist's own address, without directives.
    var url: String
    /// The request under way and when it began.
    private(set) var request: (id: LiveRequest.ID, startedAt: MonotonicInstant, isBlocking: Bool)?
    /// When to load next; `nil` while a request is under way, and after the end.
    private(set) var nextAt: MonotonicInstant?
    /// When it last began to load, and when it last brought something.
    private var startedAt: MonotonicInstant?
    private(set) var changedAt: MonotonicInstant?
    private var failures = 0
    /// Whether the server's word on delta updates and blocking reloads is believed: not after it broke it.
    private var usesSkip = true
    private var usesBlocking = true
    private var wantsWhole = false

    init(url: String, nextAt: MonotonicInstant) {
        self.url = url
        self.nextAt = nextAt
    }

    /// Notes that a playlist was loaded before it began to be followed.
    mutating func wasLoaded(at instant: MonotonicInstant) {
        startedAt = instant
        changedAt = instant
    }

    /// Loads at once, or at the next instant that pacing allows.
    mutating func hurry(now: MonotonicInstant, interval: Duration) {
        guard request == nil, let planned = nextAt else { return }
        let earliest = startedAt.map { $0.advanced(by: interval) } ?? now
        nextAt = min(planned, max(now, earliest))
    }

    /// The address of the next load.
    mutating func begin(
        _ id: LiveRequest.ID, playlist: HLSMediaPlaylist?, report: HLSRenditionReport?, usesParts: Bool,
        now: MonotonicInstant
    ) -> (url: String, timeout: Duration) {
        var directives: [(name: String, value: String)] = []
        var isBlocking = false
        if let playlist {
            let control = playlist.serverControl
            if usesBlocking, control?.isYes("CAN-BLOCK-RELOAD") ?? false, failures == 0,
                let last = playlist.segments.last
            {
                isBlocking = true
                directives.append(("_HLS_msn", String(last.mediaSequence &+ 1)))
                if usesParts, playlist.partTarget != nil {
                    directives.append(("_HLS_part", String(playlist.trailingParts.count)))
                }
            }
            if usesSkip, !wantsWhole, let boundary = control?["CAN-SKIP-UNTIL"]?.decimalNumber, boundary > .zero,
                let changedAt, changedAt.duration(to: now) < boundary.duration / 2, playlist.segments.count > 1
            {
                // Version 2 tells of removed date ranges too (section 6.2.5.1).
                directives.append(("_HLS_skip", control?.isYes("CAN-SKIP-DATERANGES") ?? false ? "v2" : "YES"))
            }
        } else if let report, let number = report.lastMediaSequence {
            // A rendition that is looked at for the first time, by what another one said of it.
            directives.append(("_HLS_msn", String(number)))
            if usesParts, let part = report.lastPart { directives.append(("_HLS_part", String(part))) }
        }
        request = (id, now, isBlocking)
        startedAt = now
        nextAt = nil
        // A server that can't answer in time says so after three target durations (section 6.2.5.2).
        let target = playlist?.targetDuration?.duration ?? .zero
        return (
            Self.adding(directives, to: url), isBlocking ? max(target * 3, .seconds(10)) + .seconds(5) : .seconds(15)
        )
    }

    /// The load brought a state of the playlist.
    mutating func finish(
        _ outcome: HLSLiveTrack.Outcome, _ track: HLSLiveTrack, now: MonotonicInstant, minimum: Duration,
        retry: Duration
    ) {
        if outcome == .needsWhole, wantsWhole {
            // A delta, though the whole was asked for.
            return fail(isGone: false, now: now, retry: retry)
        }
        let began = request?.startedAt ?? now
        let wasBlocking = request?.isBlocking ?? false
        request = nil
        wantsWhole = false
        failures = 0
        if track.isEnded {
            nextAt = nil
            changedAt = now
            return
        }
        switch outcome {
        case .grown, .jumped, .restarted:
            changedAt = now
            // A server that blocks is asked again at once, and paces us.
            if wasBlocking || usesBlocking && track.playlist?.serverControl?.isYes("CAN-BLOCK-RELOAD") ?? false {
                nextAt = max(now, began.advanced(by: .milliseconds(100)))
            } else {
                // The target duration, but the last segment's where that is shorter: with a single segment in the list the
                // next one is there then.
                let last = track.segments.last?.duration.duration ?? track.targetDuration
                let wait = max(min(track.targetDuration, last), track.targetDuration / 2, minimum)
                nextAt = max(now, began.advanced(by: wait))
            }
        case .unchanged, .older:
            // Who was to block and answered with nothing new isn't asked so any more.
            if wasBlocking, began.duration(to: now) < track.targetDuration / 2 { usesBlocking = false }
            nextAt = max(now, began.advanced(by: max(track.targetDuration / 2, minimum)))
        case .needsWhole:
            wantsWhole = true
            nextAt = now
        }
    }

    /// The load failed.
    mutating func fail(isGone: Bool, now: MonotonicInstant, retry: Duration) {
        let hadDirectives = request?.isBlocking ?? false
        request = nil
        failures += 1
        // The server may have refused what was asked beyond the playlist itself.
        if hadDirectives, isGone || failures > 1 { usesBlocking = false }
        if failures > 1 { wantsWhole = true }
        nextAt = now.advanced(by: hadDirectives && failures == 1 ? retry / 4 : retry * (1 << min(failures - 1, 3)))
    }

    /// A delta update could not be read, or led nowhere: none is asked for any more.
    mutating func giveUpSkipping() { usesSkip = false }

    /// Adds directives to an address, all query parameters in the order of their bytes (section 6.2.5).
    static func adding(_ directives: [(name: String, value: String)], to url: String) -> String {
        guard !directives.isEmpty else { return url }
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let query = url[..<fragment].firstIndex(of: "?")
        let path = url[..<(query ?? fragment)]
        var parameters = query.map { url[url.index(after: $0)..<fragment].split(separator: "&").map(String.init) } ?? []
        parameters.removeAll {
            $0.hasPrefix("_HLS_") && !$0.hasPrefix("_HLS_pathway") && !$0.hasPrefix("_HLS_throughput")
        }
        parameters += directives.map { "\($0.name)=\($0.value)" }
        parameters.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return path + "?" + parameters.joined(separator: "&") + url[fragment...]
    }
}
