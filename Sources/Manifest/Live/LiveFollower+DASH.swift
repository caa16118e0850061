import CoreModel

/// The MPD: one for all renditions.
extension LiveFollower {
    // MARK: - Renditions

    mutating func followDASH(_ id: Rendition.ID, now: MonotonicInstant) {
        guard let rendition = presentation.rendition(id) else { return }
        mpd?.tracks[id] = FollowedMPD.FollowedRendition(id: id, rendition: rendition)
        if mpd?.refreshAt == nil, mpd?.request == nil { scheduleRefresh() }
        mpd?.nextAvailability = nil
        advanceDASH(now: now)
    }

    private mutating func scheduleRefresh() {
        guard let mpd, !mpd.isEnded else { return }
        self.mpd?.refreshAt = mpd.refreshInterval(minimum: configuration.minimumRefreshInterval).map {
            mpd.loadedAt.advanced(by: $0)
        }
    }

    /// The name that a new presentation has for a rendition: its own, or the nearest of its kind.
    private static func id(of followed: FollowedMPD.FollowedRendition, in presentation: Presentation) -> Rendition.ID? {
        func distance(_ other: Rendition) -> (Int, Int, UInt64) {
            let rates = (followed.rendition.bandwidth ?? 0, other.bandwidth ?? 0)
            return (
                followed.rendition.language == other.language ? 0 : 1,
                abs((followed.rendition.height ?? 0) - (other.height ?? 0)),
                max(rates.0, rates.1) - min(rates.0, rates.1)
            )
        }
        let candidates = presentation.renditions.filter { $0.kind == followed.rendition.kind }
        if candidates.contains(where: { $0.id == followed.id }) { return followed.id }
        return candidates.min { distance($0) < distance($1) }?.id
    }

    /// Adds the segments that have become available by the clock.
    mutating func advanceDASH(now: MonotonicInstant) {
        guard let mpd, !mpd.isAwaitingClock, mpd.nextAvailability.map({ $0 <= now }) ?? true else { return }
        let time = clock.time(at: now)
        let mpdClock = mpd.clock(at: time, validFrom: clock.time(at: mpd.loadedAt))
        var next: MediaTime?
        for id in followed {
            guard let name = mpd.tracks[id]?.id else { continue }
            let pieces = presentation.dashPieces[name] ?? []
            if let addressing = pieces.last?.addressing {
                self.mpd?.tracks[id]?.facts = (
                    addressing.availabilityTimeOffset, addressing.method != .templateNumber
                )
            }
            guard let result = self.mpd?.tracks[id]?.track.advance(pieces, clock: mpdClock) else { continue }
            next = [next, result.next].compactMap { $0 }.min()
            if result.count > 0 {
                self.mpd?.changedAt = now
                emit(.grown(id, count: result.count))
            }
        }
        // Without a next one it is the next MPD that counts.
        // Segments of a millisecond need not be looked for as often as they come.
        self.mpd?.nextAvailability =
            next.map { max(clock.instant(at: mpd.time(at: $0)), now.advanced(by: .milliseconds(50))) }
            ?? .distantFuture
        if !mpd.isEnded, mpd.manifest.minimumUpdatePeriod == nil || mpd.failures == 0, let end = mpd.announcedEnd,
            mpdClock.now >= end + MediaTime(seconds: 5), mpd.manifest.minimumUpdatePeriod == nil
        {
            self.mpd?.endInPlace()
        }
    }

    // MARK: - Requests

    mutating func nextDASHRequest(now: MonotonicInstant) -> LiveRequest? {
        guard let mpd else { return nil }
        if mpd.clockRequest == nil, let at = mpd.clockAt, at <= now, mpd.clockIndex < mpd.clockSources.count {
            let source = mpd.clockSources[mpd.clockIndex]
            let number = makeRequestID()
            self.mpd?.clockRequest = (number, now)
            self.mpd?.clockAt = nil
            return LiveRequest(
                id: number, purpose: .clock, method: source.method, url: source.url, timeout: .seconds(4))
        }
        guard mpd.request == nil, let at = mpd.refreshAt, at <= now else { return nil }
        let number = makeRequestID()
        let patch = mpd.patchURL(now: now)
        self.mpd?.request = (number, now, patch != nil)
        self.mpd?.refreshAt = nil
        return LiveRequest(
            id: number, purpose: patch == nil ? .manifest : .patch, method: .get, url: patch ?? mpd.url,
            timeout: .seconds(15))
    }

    var nextDASHInstant: MonotonicInstant? {
        guard let mpd else { return nil }
        let available = mpd.nextAvailability.flatMap { $0 == .distantFuture ? nil : $0 }
        return [mpd.refreshAt, mpd.clockRequest == nil ? mpd.clockAt : nil, available].compactMap { $0 }.min()
    }

    /// When nothing new has come for 3.5 segments and the MPD should have been loaded meanwhile.
    var staleDASHAt: MonotonicInstant? {
        guard let mpd, !mpd.isAwaitingClock else { return nil }
        let period = mpd.refreshInterval(minimum: configuration.minimumRefreshInterval) ?? .zero
        let isOpen = mpd.manifest.minimumUpdatePeriod != nil
        return isOpen ? mpd.changedAt.advanced(by: mpd.segmentDuration * 7 / 2 + min(period, .seconds(60))) : nil
    }

    mutating func takeDASH(_ request: LiveRequest.ID, _ answer: LiveAnswer, now: MonotonicInstant) {
        guard let mpd else { return }
        if let clockRequest = mpd.clockRequest, clockRequest.id == request {
            return takeClock(answer, sentAt: clockRequest.startedAt, now: now)
        }
        guard let load = mpd.request, load.id == request else { return }
        self.mpd?.request = nil
        if let date = answer.date { clock.note(date: date, age: answer.age, sentAt: load.startedAt, receivedAt: now) }
        if load.isPatch, answer.status == 204 {
            self.mpd?.confirm(loadedAt: load.startedAt)
            self.mpd?.failures = 0
            self.mpd?.nextAvailability = nil
            return scheduleRefresh()
        }
        do throws(ManifestError) {
            let (root, warnings) = try DASHManifest.readRoot(answer.bytes)
            guard load.isPatch, root.name == "Patch" else {
                return try take(root, url: answer.finalURL, warnings: warnings, startedAt: load.startedAt, now: now)
            }
            guard let base = mpd.root else { return reloadWhole("a patch without an MPD", now: now) }
            let patched: XMLElement
            do throws(MPDPatch.Fault) { patched = try MPDPatch.apply(root, to: base) } catch {
                return reloadWhole("the patch can't be applied: \(error)", now: now)
            }
            guard patched["publishTime"] != base["publishTime"] else {
                return reloadWhole("the patch brings nothing", now: now)
            }
            // References go on being resolved against the MPD's own address.
            try take(patched, url: mpd.manifest.url.text, warnings: [], startedAt: load.startedAt, now: now)
        } catch {
            if load.isPatch { return reloadWhole("\(error)", now: now) }
            emit(.problem("\(error)"))
            retry(now: now)
        }
    }

    private mutating func reloadWhole(_ reason: String, now: MonotonicInstant) {
        emit(.problem(reason))
        mpd?.wantsWhole = true
        mpd?.refreshAt = now
    }

    private mutating func retry(now: MonotonicInstant) {
        let failures = mpd?.failures ?? 0
        mpd?.failures = failures + 1
        mpd?.wantsWhole = true
        mpd?.refreshAt = now.advanced(by: configuration.retryInterval * (1 << min(failures, 3)))
    }

    mutating func failDASH(_ request: LiveRequest.ID, now: MonotonicInstant) {
        if mpd?.clockRequest?.id == request { return failClock(now: now) }
        guard let load = mpd?.request, load.id == request else { return }
        mpd?.request = nil
        if load.isPatch { return reloadWhole("the patch can't be had", now: now) }
        retry(now: now)
    }

    /// Takes a state of the MPD.
    private mutating func take(
        _ root: XMLElement, url: String, warnings: [ManifestWarning], startedAt: MonotonicInstant,
        now: MonotonicInstant
    ) throws(ManifestError) {
        guard let before = mpd else { return }
        let manifest = try DASHManifest.parse(root, url: url, warnings: warnings)
        if let old = before.manifest.publishTime?.time, let new = manifest.publishTime?.time, new < old,
            manifest.availabilityStartTime?.time == before.manifest.availabilityStartTime?.time
        {
            // A cache that is behind.
            for id in followed.prefix(1) { emit(.ignoredOlder(id)) }
            retry(now: now)
            return
        }
        let refreshed = try Presentation(.dash(manifest))
        presentation = refreshed
        let hasRestarted = mpd?.take(manifest, url: url, loadedAt: startedAt) ?? false
        mpd?.root = manifest.patchLocations.isEmpty ? nil : root
        mpd?.failures = 0
        mpd?.wantsWhole = false
        for id in followed {
            guard let followed = mpd?.tracks[id] else { continue }
            if let name = Self.id(of: followed, in: refreshed) {
                mpd?.tracks[id]?.id = name
            } else {
                emit(.problem("the rendition \"\(id)\" is not there any more"))
            }
        }
        if hasRestarted, let epoch = mpd?.epoch {
            for id in followed { emit(.restarted(id, epoch: epoch)) }
        }
        if !manifest.isDynamic { endDASH(refreshed) } else { noteDirectTime(startedAt: startedAt, now: now) }
        renewURLs(now: now)
        mpd?.nextAvailability = nil
        scheduleRefresh()
        advanceDASH(now: now)
    }

    private mutating func endDASH(_ presentation: Presentation) {
        var offset: MediaTime?
        for id in followed where offset == nil {
            offset = mpd?.tracks[id].flatMap { $0.track.offset(of: presentation.dashPieces[$0.id] ?? []) }
        }
        mpd?.end(offset: offset)
        mpd?.refreshAt = nil
        mpd?.clockAt = nil
        guard let mpd, let announced = mpd.announcedEnd else { return }
        for id in followed { self.mpd?.tracks[id]?.track.end(at: announced + mpd.offset) }
    }

    private mutating func renewURLs(now: MonotonicInstant) {
        guard let mpd else { return }
        let mpdClock = mpd.clock(at: clock.time(at: now), validFrom: clock.time(at: mpd.loadedAt))
        for id in followed {
            guard let name = mpd.tracks[id]?.id else { continue }
            self.mpd?.tracks[id]?.track.renewURLs(presentation.dashPieces[name] ?? [], clock: mpdClock)
        }
    }

    // MARK: - The time

    /// How long the server's time holds before it is asked for again, and how soon where nobody gave it.
    private static let clockInterval = Duration.seconds(600)
    private static let clockRetryInterval = Duration.seconds(30)
    private static let clockSourceLimit = 16

    mutating func beginClock(loadedAt: MonotonicInstant, now: MonotonicInstant) {
        guard let mpd else { return }
        for timing in mpd.manifest.utcTimings {
            let scheme = timing.scheme.split(separator: ":").dropFirst(4).first.map(String.init) ?? ""
            let method: LiveRequest.Method?
            switch scheme {
            case "http-head": method = .head
            case "http-xsdate", "http-iso", "http-ntp": method = .get
            case "ntp", "sntp": method = .ntp
            default: method = nil
            }
            guard timing.scheme.lowercased().hasPrefix("urn:mpeg:dash:utc:"), let method else { continue }
            for value in (timing.value ?? "").split(whereSeparator: \.isWhitespace) {
                guard self.mpd.map({ $0.clockSources.count < Self.clockSourceLimit }) ?? false else { break }
                let url = method == .ntp ? String(value) : mpd.manifest.url.resolve(String(value))
                self.mpd?.clockSources.append(FollowedMPD.ClockSource(method: method, url: url))
            }
        }
        noteDirectTime(startedAt: loadedAt, now: now)
        guard !clock.isExact, !(self.mpd?.clockSources.isEmpty ?? true) else { return }
        self.mpd?.clockAt = now
        self.mpd?.isAwaitingClock = true
    }

    /// The time that the MPD itself holds.
    private mutating func noteDirectTime(startedAt: MonotonicInstant, now: MonotonicInstant) {
        let direct = mpd?.manifest.utcTimings.first { $0.scheme.hasPrefix("urn:mpeg:dash:utc:direct:") }
        guard let time = direct?.value.flatMap({ DateText.parse($0) }) else { return }
        clock.set(time, sentAt: startedAt, receivedAt: now)
    }

    private mutating func takeClock(_ answer: LiveAnswer, sentAt: MonotonicInstant, now: MonotonicInstant) {
        guard let mpd, mpd.clockIndex < mpd.clockSources.count else { return }
        var time: UnixTime?
        switch mpd.clockSources[mpd.clockIndex].method {
        case .head:
            // Whole seconds, of which half have passed on average.
            time = answer.date.map { $0 + .milliseconds(500) }
        case .get:
            guard answer.bytes.count <= 1_024 else { break }
            time = DateText.parse(String(decoding: answer.bytes, as: UTF8.self).trimmed) ?? NTPTime.parse(answer.bytes)
        case .ntp: time = NTPTime.parse(answer.bytes)
        }
        guard let time else { return failClock(now: now) }
        clock.set(time, sentAt: sentAt, receivedAt: now)
        self.mpd?.clockRequest = nil
        self.mpd?.clockAt = now.advanced(by: Self.clockInterval)
        self.mpd?.isAwaitingClock = false
        self.mpd?.nextAvailability = nil
    }

    /// The next server that the MPD names; when none has answered, the dates of other answers must do.
    private mutating func failClock(now: MonotonicInstant) {
        mpd?.clockRequest = nil
        mpd?.clockIndex += 1
        mpd?.clockAt = now
        guard let mpd, mpd.clockIndex >= mpd.clockSources.count else { return }
        self.mpd?.clockIndex = 0
        self.mpd?.clockAt = now.advanced(by: Self.clockRetryInterval)
        self.mpd?.isAwaitingClock = false
        self.mpd?.nextAvailability = nil
    }
}
