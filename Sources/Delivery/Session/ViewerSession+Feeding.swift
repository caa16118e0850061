import Integrity
import EventLoop
import CoreModel
import Manifest
import Scheduling

/// Media to the player, in order.
extension ViewerSession {
    func pumpAll() {
        for track in tracks.indices { pump(track) }
    }

    /// Hands the player what is there of a track, up to a bounded time ahead.
    func pump(_ track: Int) {
        while !isStopped, tracks.indices.contains(track) {
            let state = tracks[track]
            guard state.feedIndex < state.segments.count else {
                if !state.hasEnded {
                    tracks[track].hasEnded = true
                    emit(.trackEnded(track: track))
                }
                return
            }
            let segment = state.segments[state.feedIndex]
            let ahead = report.position + configuration.feedAhead
            guard segment.start.duration <= ahead else { return }
            if segment.isGap {
                advance(track)
                continue
            }
            guard hasInitialization(for: segment, track: track), feedSegment(segment, track: track) else { return }
        }
    }

    /// Hands over the initialisation section when the segment needs another than the player has; false while it is
    /// awaited.
    private func hasInitialization(for segment: SegmentReference, track: Int) -> Bool {
        guard let needed = segment.initialization, needed != tracks[track].currentInitialization else { return true }
        switch tracks[track].initializations[needed] {
        case .ready(let bytes):
            tracks[track].currentInitialization = needed
            emit(.initialization(track: track, bytes))
            return true
        case .loading, .failed: return false
        case nil:
            loadInitialization(track: track, segment: tracks[track].feedIndex)
            return false
        }
    }

    /// Hands over what is new of a segment; true when it is over.
    private func feedSegment(_ segment: SegmentReference, track: Int) -> Bool {
        let index = tracks[track].feedIndex
        guard let buffer = tracks[track].buffers[index] else { return false }
        let available = buffer.contiguousByteCount
        if !tracks[track].hasBegun {
            guard available > 0 else { return false }
            tracks[track].hasBegun = true
            // Where nothing follows nothing is cut: pictures that are shown late for their order reach past the end.
            let segments = tracks[track].segments
            let isLastSection = segments[segments.count - 1].section == segment.section
            emit(
                .segmentBegan(
                    track: track,
                    SegmentTiming(
                        start: segment.start, duration: segment.duration, mediaOffset: segment.mediaOffset,
                        section: segment.section, windowStart: segment.presentationWindow?.start,
                        windowEnd: isLastSection ? nil : segment.presentationWindow?.end, byteCount: buffer.byteCount)))
        }
        let from = tracks[track].feedOffset
        if available > from {
            let isReplay = tracks[track].delivered.contains(index)
            tracks[track].feedOffset = available
            if isReplay { figures.bytes.store += available - from } else { figures.delivered += available - from }
            for piece in buffer.pieces(in: from..<available) {
                emit(.bytes(track: track, piece))
                guard !isStopped, tracks[track].feedIndex == index else { return false }
            }
        }
        guard buffer.isComplete else { return false }
        if tracks[track].delivered.insert(index).inserted {
            figures.segments += 1
            figures.deliveredSeconds += segment.duration.seconds
            let size = buffer.byteCount ?? available
            let name =
                buffer.verifiedSegment.map { "\($0.root)" }
                ?? segment.url + (segment.byteRange.map { "#\($0)" } ?? "")
            figures.distinct[name] = size
            if figures.deliveredSeconds > 0 {
                figures.meanBitrate = Int(Double(figures.delivered) * 8 / figures.deliveredSeconds)
            }
        }
        emit(.segmentEnded(track: track))
        advance(track)
        return true
    }

    private func advance(_ track: Int) {
        tracks[track].feedIndex += 1
        tracks[track].feedOffset = 0
        tracks[track].hasBegun = false
        loadInitialization(track: track, segment: tracks[track].feedIndex)
        evict()
    }

    /// Keeps the media in memory within its bound: what lies furthest behind the playhead goes first.
    private func evict() {
        var held = tracks.reduce(0) { sum, track in sum + track.buffers.values.reduce(0) { $0 + $1.heldByteCount } }
        guard held > configuration.storeByteCount else { return }
        var candidates: [(start: Duration, id: SegmentID)] = []
        for (track, state) in tracks.enumerated() {
            for index in state.buffers.keys where index < state.feedIndex {
                candidates.append((state.segments[index].start.duration, SegmentID(track: track, index: index)))
            }
        }
        for candidate in candidates.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
            guard held > configuration.storeByteCount else { return }
            let id = candidate.id
            guard let buffer = tracks[id.track].buffers[id.index] else { continue }
            held -= buffer.heldByteCount
            swarm?.forget(id)
            tracks[id.track].buffers[id.index] = nil
            feed(.evicted(id))
            swarm?.restoreRecord(id)
        }
    }
}
