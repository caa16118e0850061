import Integrity
import EventLoop
import CoreModel
import Cryptography
import Manifest
import Scheduling
import ViewerCore

/// Media to the player, in order.
extension ViewerSession {
    /// With less than this in hand a player is about to stall.
    private static let starvingSpan: Duration = .milliseconds(500)

    func pumpAll() {
        for track in tracks.indices { pump(track) }
    }

    /// Hands the player what is there of a track, up to a bounded time ahead.
    ///
    /// The player may look at the session from inside an event. What it asks for then comes after what it is being handed.
    func pump(_ track: Int) {
        guard pumps[track] == nil else {
            pumps[track] = true
            return
        }
        repeat {
            pumps[track] = false
            handOver(track)
        } while pumps[track] == true && !isStopped
        pumps[track] = nil
    }

    private func handOver(_ track: Int) {
        while !isStopped, tracks.indices.contains(track) {
            let state = tracks[track]
            guard state.feedIndex < state.segments.endIndex else {
                if state.isEnded, !state.hasEnded {
                    tracks[track].hasEnded = true
                    emit(.trackEnded(track: track))
                }
                return
            }
            // What has left a live presentation before it was played is passed over.
            guard state.feedIndex >= state.segments.startIndex else {
                advance(track, to: state.segments.startIndex)
                continue
            }
            guard state.isKnown(state.feedIndex) else { return }
            let segment = state.segment(state.feedIndex)
            let ahead = report.position + configuration.feedAhead
            guard segment.start.duration <= ahead else { return }
            if segment.isGap || state.skipped.contains(state.feedIndex) {
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
        case .ready(let encrypted):
            guard let bytes = readable(encrypted, of: needed) else { return false }
            tracks[track].currentInitialization = needed
            emit(.initialization(track: track, bytes))
            return true
        case .loading, .failed: return false
        case nil:
            loadInitialization(track: track, segment: tracks[track].feedIndex)
            return false
        }
    }

    /// Whether the player waits for what it has not been handed, or soon will: then it gets the CDN's bytes as they come,
    /// and not only once their stripe is whole and has been held against its record. They are held back as long as another
    /// host could still be asked for them; where none can be, they would be played in the end whatever the record says.
    private func isStarving(_ segment: SegmentReference, _ buffer: SegmentBuffer, _ track: Int) -> Bool {
        guard segment.otherURL == nil || tracks[track].otherHosts[tracks[track].feedIndex] != nil else { return false }
        guard report.isPlaying else { return true }
        let fraction = Double(tracks[track].feedOffset) / Double(max(buffer.byteCount ?? .max, 1))
        let end = segment.start.duration + segment.duration.duration * fraction
        return end - report.position < Self.starvingSpan
    }

    /// Hands over what is new of a segment; true when it is over.
    private func feedSegment(_ segment: SegmentReference, track: Int) -> Bool {
        let index = tracks[track].feedIndex
        guard let buffer = tracks[track].buffers[index] else { return false }
        if let disk {
            let id = SegmentID(track: track, index: index)
            if !buffer.isComplete, disk.store.holds(id) {
                disk.play(id, from: buffer.present.runLength(from: 0))
            } else {
                disk.stopPlaying(track: track)
            }
        }
        let available =
            isHeldBack(segment, buffer, of: track)
            ? 0 : isStarving(segment, buffer, track) ? buffer.contiguousReceivedByteCount : buffer.contiguousByteCount
        if !tracks[track].hasBegun {
            guard available > 0, let reading = reading(segment.encryption, url: segment.url) else { return false }
            tracks[track].hasBegun = true
            var sampleKeys: SampleKeys?
            switch reading {
            case .asTheyAre: break
            case .resource(let cipher): tracks[track].cipher = cipher
            case .samples(let keys): sampleKeys = keys
            }
            // Where nothing follows nothing is cut: pictures that are shown late for their order reach past the end.
            let segments = tracks[track].segments
            let isLastSection = segments.last?.section == segment.section
            emit(
                .segmentBegan(
                    track: track,
                    SegmentTiming(
                        start: segment.start, duration: segment.duration, mediaOffset: segment.mediaOffset,
                        section: segment.section, quality: tracks[track].renditions?.plan.rung(index) ?? 0,
                        windowStart: segment.presentationWindow?.start,
                        windowEnd: isLastSection ? nil : segment.presentationWindow?.end, byteCount: buffer.byteCount,
                        sampleKeys: sampleKeys)))
            guard !isStopped, tracks[track].feedIndex == index else { return false }
        }
        let from = tracks[track].feedOffset
        if available > from {
            tracks[track].feedOffset = available
            if !tracks[track].delivered.contains(index) {
                figures.delivered += available - from
            } else if !tracks[track].lost.contains(index) {
                figures.bytes.store += available - from
            }
            let cipher = tracks[track].cipher
            for piece in buffer.pieces(in: from..<available) {
                let clear = cipher.map { $0.decrypt(piece)[...] } ?? piece
                // A block that isn't whole is held back.
                if !clear.isEmpty { emit(.bytes(track: track, clear)) }
                guard !isStopped, tracks[track].feedIndex == index else { return false }
            }
        }
        guard buffer.isComplete else { return false }
        if tracks[track].delivered.insert(index).inserted {
            figures.segments += 1
            if track == 0 { figures.deliveredSeconds += segment.duration.seconds }
            let size = buffer.byteCount ?? available
            let name =
                buffer.verifiedSegment.map { "\($0.root)" }
                ?? segment.url + (segment.byteRange.map { "#\($0)" } ?? "")
            figures.distinct[name] = size
            if figures.deliveredSeconds > 0 {
                figures.meanBitrate = Int(Double(figures.delivered) * 8 / figures.deliveredSeconds)
            }
        }
        if let cipher = tracks[track].cipher {
            let rest = finishDecryption(cipher, of: segment, track: track)
            if !rest.isEmpty { emit(.bytes(track: track, rest[...])) }
            guard !isStopped, tracks[track].feedIndex == index else { return false }
        }
        noteSwitch(index, of: track)
        emit(.segmentEnded(track: track))
        advance(track)
        return true
    }

    private func advance(_ track: Int, to index: Int? = nil) {
        tracks[track].feedIndex = index ?? tracks[track].feedIndex + 1
        tracks[track].feedOffset = 0
        tracks[track].hasBegun = false
        tracks[track].cipher = nil
        loadKey(track: track, segment: tracks[track].feedIndex)
        loadInitialization(track: track, segment: tracks[track].feedIndex)
        evict()
    }
}
