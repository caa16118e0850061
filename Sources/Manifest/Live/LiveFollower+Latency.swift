import CoreModel

extension LiveFollower {
    /// How far behind ``LiveWindow/edge`` to play.
    ///
    /// What the configuration says; else, for HLS: PART-HOLD-BACK where parts are played, HOLD-BACK, three target durations
    /// (RFC 8216bis, section 6.3.3); for DASH: the latency of ServiceDescription, suggestedPresentationDelay, one and a
    /// half times minBufferTime within the window. Never less than a segment takes to be there, to be learned of and to be
    /// fetched.
    public var targetLatency: Duration {
        if let chosen = configuration.targetLatency { return chosen }
        if let mpd { return max(mpd.declaredLatency, mpd.leastLatency) }
        guard let track = followed.first.flatMap({ playlists[$0]?.track }) else { return .zero }
        let control = track.playlist?.serverControl
        if configuration.usesParts, let part = track.playlist?.partTarget?.duration {
            return max(control?["PART-HOLD-BACK"]?.decimalNumber?.duration ?? part * 3, part * 2)
        }
        return max(control?["HOLD-BACK"]?.decimalNumber?.duration ?? track.targetDuration * 3, track.targetDuration * 2)
    }

    /// The rates at which to catch up or fall back; the manifest's within reason, else three percent.
    public var playbackRates: ClosedRange<Double> {
        let rate = mpd?.manifest.serviceDescriptions.lazy.compactMap(\.playbackRate).first
        let low = min(max(rate?.minimum?.seconds ?? 0.97, 0.5), 1)
        return low...max(min(rate?.maximum?.seconds ?? 1.03, 2), 1)
    }
}
