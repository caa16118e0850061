import Delivery
import MediaEngine

extension MediaEngine {
    /// Passes a session's media on to the tracks. What is not media does nothing.
    func take(_ event: SessionEvent) {
        switch event {
        case .prepared(let information):
            for track in information.tracks { addTrack(id: track.id, kind: TrackKind(track.kind)) }
        case .initialization(let track, let bytes): append(track: track, .initialization(bytes))
        case .segmentBegan(let track, let timing): append(track: track, .segmentBegan(SegmentInfo(timing)))
        case .bytes(let track, let bytes): append(track: track, .bytes(bytes))
        case .segmentEnded(let track): append(track: track, .segmentEnded)
        case .trackEnded(let track): append(track: track, .endOfTrack)
        case .renditionShown, .failed: break
        }
    }
}

extension SegmentInfo {
    fileprivate init(_ timing: SegmentTiming) {
        let hasWindow = timing.windowStart != nil || timing.windowEnd != nil
        self.init(
            start: timing.start, duration: timing.duration, mediaOffset: timing.mediaOffset, section: timing.section,
            window: hasWindow ? ClipWindow(start: timing.windowStart, end: timing.windowEnd) : nil,
            quality: timing.quality, sampleKeys: timing.sampleKeys)
    }
}

extension TrackKind {
    fileprivate init(_ kind: SessionInformation.Track.Kind) {
        switch kind {
        case .video: self = .video
        case .audio: self = .audio
        case .muxed: self = .muxed
        }
    }
}
