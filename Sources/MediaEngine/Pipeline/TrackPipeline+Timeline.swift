import CoreModel

/// Where a stream lies on the presentation's timeline.
extension TrackPipeline {
    func place(_ stream: ElementaryStream) {
        let placed = monitor.withLock { state -> MediaTime? in
            guard !state.isCancelled(generation), let placement = stream.placement else { return nil }
            guard let found = offset(for: stream, state) else {
                state.tracks[track][stream.kind]?.awaitsAnchor = true
                state.presenter.signal()
                return nil
            }
            state.tracks[track][stream.kind]?.awaitsAnchor = false
            switch found {
            case .known(let offset): return offset
            case .new:
                let offset = state.sections.anchor(
                    section: placement.info.section, mediaTime: placement.mediaTime, start: placement.info.start)
                for other in state.tracks { other.condition.signal() }
                return offset
            }
        }
        if let placed { stream.place(at: placed) }
    }

    enum FoundOffset {
        case known(MediaTime)
        /// The stream may anchor its section.
        case new
    }

    /// The offset of a stream that waits to be placed; nil while a video track must anchor the section first.
    func offset(for stream: ElementaryStream, _ state: borrowing EngineState) -> FoundOffset? {
        guard let placement = stream.placement else { return nil }
        // Another track may have been anchored a turn of the 33-bit clock away.
        for turns in [MediaTime.zero, Self.turn, -Self.turn] {
            let time = placement.mediaTime + turns
            if let offset = state.sections.offset(
                section: placement.info.section, mediaTime: time, start: placement.info.start)
            {
                return .known(offset + turns)
            }
        }
        if stream.kind == .audio {
            for (index, other) in state.tracks.enumerated() where index != track && other.mayHoldVideo { return nil }
            if kind == .muxed, state.tracks[track].video != nil, !stream.isEnding,
                !streams.contains(where: { $0.kind == .video })
            {
                return nil
            }
        }
        return .new
    }

    private static let turn = MediaTime(ticks: 1 << 33, timescale: 90_000)
}
