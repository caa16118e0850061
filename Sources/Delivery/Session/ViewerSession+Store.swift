import CoreModel
import Integrity
import Manifest
import Scheduling
import ViewerCore

/// What is kept of the media, in memory and on the disk.
extension ViewerSession {
    /// The memory that the media takes.
    var heldByteCount: Int {
        tracks.reduce(0) { sum, track in sum + track.buffers.values.reduce(0) { $0 + $1.heldByteCount } }
    }

    /// Keeps the media in memory within its bound: what lies furthest behind the playhead goes first, to the disk where
    /// there is one.
    func evict() {
        guard !isStopped else { return }
        let held = heldByteCount
        let (limit, hasDisk) = (configuration.storeByteCount, disk?.isAccepting ?? false)
        guard MemoryRelief.isNeeded(heldByteCount: held, limit: limit, hasDisk: hasDisk) else { return }
        var candidates: [MemoryRelief.Candidate] = []
        for (track, state) in tracks.enumerated() {
            for (index, buffer) in state.buffers
            where index != state.feedIndex && buffer.heldByteCount > 0 && state.segments.indices.contains(index) {
                let id = SegmentID(track: track, index: index)
                let isOnDisk = disk?.store.holds(id) ?? false
                let hasRoom = disk?.store.hasRoom(chunkCount: buffer.present.count) ?? false
                // What lies ahead is kept, unless it can be had again at once: also what the player has been given, for it
                // would be fetched again.
                let isBehind = index < state.feedIndex && state.segments[index].end.duration <= report.position
                guard isBehind || isOnDisk else { continue }
                if let disk, disk.store.isMoving(id) || disk.store.isReadBack(id) { continue }
                candidates.append(
                    MemoryRelief.Candidate(
                        id: id, start: state.segments[index].start.duration, byteCount: buffer.heldByteCount,
                        isOnDisk: isOnDisk, canMove: buffer.isVerified && hasRoom && swarm?.isShared(id) == true))
            }
        }
        let steps = MemoryRelief.steps(
            heldByteCount: held, movingByteCount: disk?.store.movingByteCount ?? 0, limit: limit, hasDisk: hasDisk,
            candidates: candidates)
        for step in steps {
            switch step {
            case .unload(let id):
                unload(id)
                disk?.unloaded(id)
            case .move(let id): move(id)
            case .lose(let id): lose(id)
            }
        }
    }

    private func move(_ id: SegmentID) {
        guard let count = tracks[id.track].buffers[id.index]?.verifiedSegment?.geometry.chunkCount else { return }
        _ = disk?.move(id, chunkCount: count)
    }

    /// Gives the memory of a segment that is on the disk back, or of a part of it.
    func unload(_ id: SegmentID, _ chunks: Range<Int>? = nil) {
        // What the player is being given stays.
        guard id.index != tracks[id.track].feedIndex, let buffer = tracks[id.track].buffers[id.index],
            let geometry = buffer.verifiedSegment?.geometry
        else { return }
        buffer.unload(chunks ?? geometry.chunks)
    }

    /// Drops a segment: neighbours are told, and it comes from elsewhere when it is played again.
    private func lose(_ id: SegmentID) {
        swarm?.forget(id)
        tracks[id.track].buffers[id.index] = nil
        tracks[id.track].lost.insert(id.index)
        tracks[id.track].renditions?.plan.evicted(id.index)
        feed(.evicted(id))
        swarm?.restoreRecord(id)
    }

    // MARK: From the disk

    /// A segment is on the disk whole.
    func didMove(_ id: SegmentID) {
        tracks[id.track].lost.remove(id.index)
        figures.bytes.diskWritten += tracks[id.track].buffers[id.index]?.byteCount ?? 0
        // The player may have come back to it meanwhile.
        if id.index < tracks[id.track].feedIndex { unload(id) }
    }

    /// A segment is not on the disk any more.
    func didLose(_ id: SegmentID) {
        guard let buffer = tracks[id.track].buffers[id.index], !buffer.isComplete else { return }
        lose(id)
    }

    /// Chunks of a segment came back from the disk and are verified.
    func didRead(_ id: SegmentID, chunks: Range<Int>) {
        swarm?.didVerify(id, chunks: chunks)
        pump(id.track)
        evict()
    }
}
