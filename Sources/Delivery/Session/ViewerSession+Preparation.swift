import Integrity
import EventLoop
import CoreModel
import Manifest
import Scheduling

/// From the chosen renditions to tracks and the scheduler's timeline.
extension ViewerSession {
    func prepare(_ selection: ManifestLoader.Selection) {
        self.selection = selection
        let presentation = selection.presentation
        for (number, id) in selection.renditions.enumerated() {
            guard let rendition = presentation.rendition(id), let timeline = rendition.timeline else { continue }
            guard let container = SessionInformation.Container(rendition.container) else {
                return fail(
                    .nothingPlayable(
                        reason: "The rendition \"\(id)\" is \(rendition.container), which can't be played."))
            }
            let information = SessionInformation.Track(
                id: number, kind: SessionInformation.Track.Kind(rendition.kind), rendition: id, container: container,
                bitsPerSecond: rendition.bandwidth ?? rendition.averageBandwidth ?? 0)
            tracks.append(TrackState(information: information, rendition: rendition, segments: timeline.segments))
        }
        guard !tracks.isEmpty else {
            return fail(.nothingPlayable(reason: "The manifest has no rendition with video or audio."))
        }
        if let language = configuration.subtitleLanguage,
            let id = ManifestLoader.subtitles(presentation, language: language)
        {
            log("session", "the subtitles \"\(id)\" would be chosen, but subtitles can't be shown yet")
        }
        report.position = configuration.start
        let start = MediaTime(ticks: configuration.start.nanosecondsClamped, timescale: 1_000_000_000)
        for index in tracks.indices { tracks[index].rewind(to: tracks[index].segments.index(at: start) ?? 0) }
        emit(
            .prepared(
                SessionInformation(
                    duration: presentation.duration ?? tracks.map { $0.segments.last?.end ?? .zero }.max(),
                    isLive: presentation.isLive, tracks: tracks.map(\.information))))
        guard !isStopped else { return }
        for index in tracks.indices { loadInitialization(track: index, segment: tracks[index].feedIndex) }
        feed(.playback(position: configuration.start, isPlaying: false))
        for index in tracks.indices { describe(track: index) }
        swarm?.timelineDidLoad()
        feed(.timer)
    }

    /// Tells the scheduler of a track's segments.
    private func describe(track: Int) {
        let state = tracks[track]
        let bandwidth = Double(state.information.bitsPerSecond == 0 ? 1_000_000 : state.information.bitsPerSecond)
        var sizes: [(Int, Int)] = []
        let descriptions = state.segments.enumerated().map { index, segment in
            // A segment of another size can't be played; its transfer says so when it comes to that.
            let size = segment.byteRange.map(\.count).flatMap { 1...SegmentGeometry.maximumByteCount ~= $0 ? $0 : nil }
            if let size { sizes.append((index, size)) }
            let estimate = Int(min(segment.duration.seconds * bandwidth / 8, 64e6))
            return SegmentDescription(
                start: segment.start.duration, duration: segment.duration.duration,
                estimatedByteCount: size ?? max(estimate, 1), playsProgressively: state.playsProgressively)
        }
        // Sizes first, so that the first decision knows them; the timeline takes no decision before a playhead is set.
        tellScheduler(.segments(track: track, descriptions))
        for (index, size) in sizes {
            buffer(SegmentID(track: track, index: index)).learn(byteCount: size)
            tellScheduler(.size(SegmentID(track: track, index: index), byteCount: size))
        }
    }

    /// The bytes of a segment, made when first asked for.
    func buffer(_ id: SegmentID) -> SegmentBuffer {
        if let buffer = tracks[id.track].buffers[id.index] { return buffer }
        let buffer = SegmentBuffer()
        tracks[id.track].buffers[id.index] = buffer
        return buffer
    }
}

extension SessionInformation.Container {
    fileprivate init?(_ container: Rendition.Container) {
        switch container {
        case .mp4: self = .mp4
        case .mpegTS: self = .mpegTS
        case .packedAudio: self = .packedAudio
        // Decided by content: most streams without a hint are fragmented MP4 or MPEG-TS, and TS has no section.
        case .unknown: self = .mpegTS
        case .webVTT, .webM: return nil
        }
    }
}

extension SessionInformation.Track.Kind {
    fileprivate init(_ kind: Rendition.Kind) {
        switch kind {
        case .audio: self = .audio
        case .video: self = .video
        case .muxed, .text, .image: self = .muxed
        }
    }
}
