import CoreModel

/// Media playlists: each rendition that is followed has one.
extension LiveFollower {
    mutating func followHLS(_ id: Rendition.ID, loadedAt: MonotonicInstant, now: MonotonicInstant) {
        guard let rendition = presentation.rendition(id) else { return }
        let url = presentation.playlistURLs[id] ?? presentation.url
        var playlist = FollowedPlaylist(track: HLSLiveTrack(), reload: HLSReload(url: url, nextAt: now))
        if case .hls(let loaded)? = rendition.timeline?.segments.storage {
            playlist.reload.wasLoaded(at: loadedAt)
            let reference = reference(for: id)
            do throws(ManifestError) {
                let outcome = try playlist.track.take(
                    loaded.playlist, asOf: loadedAt, alignment: { reference?.place(of: $0) ?? .zero })
                // The pace counts from when it was loaded.
                playlist.reload.finish(
                    outcome, playlist.track, now: loadedAt, minimum: configuration.minimumRefreshInterval,
                    retry: configuration.retryInterval)
            } catch {
                emit(.problem("\(error)"))
            }
        }
        playlists[id] = playlist
    }

    /// The rendition that another one's timeline is laid beside.
    private func reference(for id: Rendition.ID) -> HLSLiveTrack? {
        followed.lazy.filter { $0 != id }.compactMap { playlists[$0]?.track }.first { !$0.segments.isEmpty }
    }

    mutating func nextHLSRequest(now: MonotonicInstant) -> LiveRequest? {
        for id in followed {
            guard var playlist = playlists[id], let at = playlist.reload.nextAt, at <= now else { continue }
            let number = makeRequestID()
            let (url, timeout) = playlist.reload.begin(
                number, playlist: playlist.track.playlist, report: report(on: playlist.reload.url),
                usesParts: configuration.usesParts, now: now)
            playlists[id] = playlist
            return LiveRequest(id: number, purpose: .playlist(id), method: .get, url: url, timeout: timeout)
        }
        return nil
    }

    /// What another rendition's playlist reports of the one at an address.
    private func report(on url: String) -> HLSRenditionReport? {
        let path = BaseURL(url).path
        return followed.lazy.compactMap {
            playlists[$0]?.track.playlist?.renditionReports.first { BaseURL($0.uri).path == path }
        }
        .first
    }

    var nextHLSInstant: MonotonicInstant? { followed.compactMap { playlists[$0]?.reload.nextAt }.min() }

    /// 3.5 target durations without a change, as other players have it.
    var staleHLSAt: MonotonicInstant? {
        followed.compactMap { id -> MonotonicInstant? in
            guard let playlist = playlists[id], !playlist.track.isEnded else { return nil }
            return playlist.reload.changedAt?.advanced(by: playlist.track.targetDuration * 7 / 2)
        }.min()
    }

    mutating func takeHLS(_ request: LiveRequest.ID, _ answer: LiveAnswer, now: MonotonicInstant) {
        guard let id = followed.first(where: { playlists[$0]?.reload.request?.id == request }),
            var playlist = playlists[id], let startedAt = playlist.reload.request?.startedAt
        else { return }
        if let date = answer.date { clock.note(date: date, age: answer.age, sentAt: startedAt, receivedAt: now) }
        var variables: [String: String] = [:]
        if case .hlsMultivariant(let multivariant) = presentation.source { variables = multivariant.variables }
        let outcome: HLSLiveTrack.Outcome
        do throws(ManifestError) {
            let update = try HLSMediaPlaylist.parse(answer.bytes, url: answer.finalURL, variables: variables)
            let reference = reference(for: id)
            let wait = playlist.track.targetDuration * 2
            let asOf = now.advanced(by: .zero - min(max(answer.age, .zero), .seconds(3_600)))
            outcome = try playlist.track.take(
                update, asOf: asOf,
                hasBeenStale: playlist.reload.changedAt.map { $0.duration(to: now) > wait } ?? true,
                alignment: { reference?.place(of: $0) ?? .zero })
        } catch {
            emit(.problem("\(error)"))
            playlists[id]?.reload.giveUpSkipping()
            playlists[id]?.reload.fail(isGone: false, now: now, retry: configuration.retryInterval)
            return
        }
        if outcome == .needsWhole { playlist.reload.giveUpSkipping() }
        playlist.reload.finish(
            outcome, playlist.track, now: now, minimum: configuration.minimumRefreshInterval,
            retry: configuration.retryInterval)
        playlists[id] = playlist
        tell(outcome, of: id)
    }

    private mutating func tell(_ outcome: HLSLiveTrack.Outcome, of id: Rendition.ID) {
        switch outcome {
        case .unchanged, .needsWhole: break
        case .older: emit(.ignoredOlder(id))
        case .grown(let count): emit(.grown(id, count: count))
        case .jumped(let count, let missing):
            emit(.jumped(id, missingSegments: missing))
            emit(.grown(id, count: count))
        case .restarted(let count):
            emit(.restarted(id, epoch: playlists[id]?.track.epoch ?? 0))
            emit(.grown(id, count: count))
        }
    }

    mutating func failHLS(_ request: LiveRequest.ID, isGone: Bool, now: MonotonicInstant) {
        guard let id = followed.first(where: { playlists[$0]?.reload.request?.id == request }) else { return }
        playlists[id]?.reload.fail(isGone: isGone, now: now, retry: configuration.retryInterval)
    }
}
