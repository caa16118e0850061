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
        for omission in selection.omissions { log("session", omission + " The rest is played.", .warning) }
        for (number, id) in selection.renditions.enumerated() {
            guard let rendition = presentation.rendition(id),
                let timeline = live?.loader.follower.timeline(of: id) ?? rendition.timeline
            else { continue }
            guard let container = SessionInformation.Container(rendition.container) else {
                return fail(
                    .nothingPlayable(
                        reason: "The rendition \"\(id)\" is \(rendition.container), which can't be played."))
            }
            let information = SessionInformation.Track(
                id: number, kind: SessionInformation.Track.Kind(rendition.kind), rendition: id, container: container,
                bitsPerSecond: rendition.bandwidth ?? rendition.averageBandwidth ?? 0)
            var track = TrackState(information: information, rendition: rendition, segments: timeline.segments)
            track.isEnded = timeline.isEnded
            tracks.append(track)
        }
        guard !tracks.isEmpty else {
            return fail(.nothingPlayable(reason: "The manifest has no rendition with video or audio."))
        }
        if let language = configuration.subtitleLanguage,
            let id = ManifestLoader.subtitles(presentation, language: language)
        {
            log("session", "the subtitles \"\(id)\" would be chosen, but subtitles can't be shown yet")
        }
        prepareRenditions(presentation)
        let start =
            live?.startTime(now: loop.now)
            ?? MediaTime(ticks: configuration.start.nanosecondsClamped, timescale: 1_000_000_000)
        report.position = start.duration
        for index in tracks.indices {
            tracks[index].rewind(to: tracks[index].segments.index(at: start) ?? tracks[index].segments.startIndex)
        }
        emit(
            .prepared(
                SessionInformation(
                    start: start,
                    duration: live != nil
                        ? nil : presentation.duration ?? tracks.map { $0.segments.last?.end ?? .zero }.max(),
                    isLive: presentation.isLive, tracks: tracks.map(\.information),
                    qualities: qualities(of: presentation))))
        guard !isStopped else { return }
        for index in tracks.indices {
            loadInitialization(track: index, segment: tracks[index].feedIndex)
            loadKey(track: index, segment: tracks[index].feedIndex)
        }
        feed(.playback(position: start.duration, isPlaying: false))
        for index in tracks.indices { describe(track: index, from: 0) }
        if tracks[0].renditions != nil { adaptiveTrack = 0 }
        swarm?.timelineDidLoad()
        feed(.timer)
        // What comes too slowly is given up already before playback begins.
        if adaptiveTrack != nil { look() }
    }

    /// Sets the track's renditions up that a presentation's first one can be changed for.
    private func prepareRenditions(_ presentation: Presentation) {
        guard configuration.renditionID == nil, !presentation.isLive,
            let ladder = RenditionLadder(
                around: tracks[0].information.rendition, in: presentation,
                keyIDs: Set(configuration.contentKeys.keys))
        else { return }
        tracks[0].renditions = TrackRenditions(
            ladder, first: tracks[0].information.rendition, grid: tracks[0].segments, configuration: configuration)
        tracks[0].renditions?.limits.viewport = viewport
    }

    private func qualities(of presentation: Presentation) -> [SessionInformation.Quality] {
        let ids =
            tracks[0].renditions.map { renditions in (0..<renditions.count).map(renditions.id) }
            ?? [tracks[0].information.rendition]
        return ids.compactMap { presentation.rendition($0) }.map { rendition in
            SessionInformation.Quality(
                rendition: rendition.id, bitsPerSecond: rendition.bandwidth ?? rendition.averageBandwidth ?? 0,
                width: rendition.width, height: rendition.height)
        }
    }

    /// Tells the scheduler of a track's segments from an index on: all that it doesn't know. Where each is chosen from several
    /// renditions the choice begins.
    func describe(track: Int, from first: Int) {
        let state = tracks[track]
        guard state.renditions == nil else {
            chooseRendition(state.feedIndex, of: track)
            return
        }
        let bandwidth = Double(state.information.bitsPerSecond == 0 ? 1_000_000 : state.information.bitsPerSecond)
        var sizes: [(Int, Int)] = []
        let descriptions = (first..<max(first, state.segments.endIndex)).map { index in
            guard index >= state.segments.startIndex else {
                // It has left a live presentation already; the next ones keep their indexes.
                return SegmentDescription(
                    start: state.segments.first?.start.duration ?? .zero, duration: .zero, estimatedByteCount: 1)
            }
            let segment = state.segments[index]
            if let size = Self.size(of: segment) { sizes.append((index, size)) }
            return Self.describe(segment, bitsPerSecond: bandwidth, playsProgressively: state.playsProgressively)
        }
        // Sizes first, so that the first decision knows them; the timeline takes no decision before a playhead is set.
        tellScheduler(.segments(track: track, descriptions))
        for (index, size) in sizes { learn(size, of: SegmentID(track: track, index: index)) }
    }

    /// What the manifest says of a segment.
    static func describe(
        _ segment: SegmentReference, bitsPerSecond: Double, playsProgressively: Bool
    ) -> SegmentDescription {
        let estimate = Int(min(segment.duration.seconds * bitsPerSecond / 8, 64e6))
        return SegmentDescription(
            start: segment.start.duration, duration: segment.duration.duration,
            estimatedByteCount: size(of: segment) ?? max(estimate, 1), playsProgressively: playsProgressively)
    }

    /// A segment's size where the manifest tells. One of another size can't be played; its transfer says so when it comes to that.
    private static func size(of segment: SegmentReference) -> Int? {
        segment.byteRange.map(\.count).flatMap { 1...SegmentGeometry.maximumByteCount ~= $0 ? $0 : nil }
    }

    /// Tells the scheduler of a segment's size, where the manifest tells.
    func learnSize(_ id: SegmentID) {
        if let size = Self.size(of: tracks[id.track].segment(id.index)) { learn(size, of: id) }
    }

    private func learn(_ size: Int, of id: SegmentID) {
        buffer(id).learn(byteCount: size)
        tellScheduler(.size(id, byteCount: size))
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
