internal import CoreModel
internal import Scheduling
internal import SwarmProtocol
internal import ViewerCore

/// Media from the CDN.
extension SimulatedViewer {
    func startFetch(_ id: TransferID, _ index: Int, chunks: Range<Int>?, reason: Reason) {
        let geometry = geometry(index)
        let range = (chunks ?? geometry.chunks).clamped(to: geometry.chunks)
        let bytes = geometry.byteRange(ofChunks: range)
        figures.requestsCDN += 1
        let transfer = world.request(.media(id), byteCount: max(1, bytes.count), for: self)
        fetches.append(
            Fetch(
                id: id, index: index, reason: reason, chunks: range, offset: bytes.lowerBound, end: bytes.upperBound,
                startedAt: now, transfer: transfer))
        renditions?.fetchBegan(id, index, now: now)
        guard ledgers[index].hasRecord else { return }
        ledgers[index].expected.insert(range)
        didChange(index, chunks: range)
    }

    func cancelFetch(_ id: TransferID) {
        guard let place = fetches.firstIndex(where: { $0.id == id }) else { return }
        let fetch = fetches.remove(at: place)
        world.cancel(fetch.transfer)
        renditions?.fetchEnded(id, now: now)
        didEndFetch(fetch.index)
    }

    /// Bytes of a transfer have come.
    func received(_ byteCount: Int, of id: TransferID, isLast: Bool) {
        guard isOnline, let place = fetches.firstIndex(where: { $0.id == id }) else { return }
        let index = fetches[place].index
        if !fetches[place].hasResponded {
            fetches[place].hasResponded = true
            let latency = fetches[place].startedAt.duration(to: now)
            if !ledgers[index].hasRecord {
                feed(.size(SegmentID(track: 0, index: index), byteCount: geometry(index).byteCount))
            }
            feed(.cdnResponded(id, after: latency))
        }
        take(byteCount, of: id)
        guard isLast, let place = fetches.firstIndex(where: { $0.id == id }) else { return }
        fetches.remove(at: place)
        renditions?.fetchEnded(id, now: now)
        noteCompleted(index)
        feed(.cdnFinished(id))
        didEndFetch(index)
        pump()
    }

    private func take(_ byteCount: Int, of id: TransferID) {
        guard let place = fetches.firstIndex(where: { $0.id == id }) else { return }
        count(byteCount, reason: fetches[place].reason)
        world.segmentBytes[self.place(fetches[place].index)].cdn += byteCount
        renditions?.fetchReceived(id, byteCount: byteCount, now: now)
        feed(.cdnReceived(id, byteCount: byteCount))
        guard let place = fetches.firstIndex(where: { $0.id == id }) else { return }
        let index = fetches[place].index
        let start = fetches[place].offset
        let end = min(start + byteCount, fetches[place].end)
        fetches[place].offset = end
        let geometry = geometry(index)
        let size = SegmentGeometry.chunkByteCount
        var arrived = ChunkSet()
        // A chunk is there with its last byte.
        var chunk = start / size
        while chunk < geometry.chunkCount, geometry.byteRange(ofChunk: chunk).upperBound <= end {
            if let run = ledgers[index].takeFromCDN(chunk, geometry) {
                arrived.insert(run)
                heldChunkCount += run.count
            } else if ledgers[index].present.contains(chunk) {
                figures.bytesWasted += geometry.byteRange(ofChunk: chunk).count
            }
            chunk += 1
        }
        if !arrived.isEmpty {
            noteCompleted(index)
            for run in arrived.ranges { feed(.cdnArrived(id, chunks: run)) }
            if ledgers[index].hasRecord { didChange(index, chunks: geometry.chunks) }
        }
        pump()
    }

    /// The CDN does not give what was asked for.
    func failed(_ id: TransferID) {
        guard isOnline, let place = fetches.firstIndex(where: { $0.id == id }) else { return }
        let index = fetches.remove(at: place).index
        renditions?.fetchEnded(id, now: now)
        didEndFetch(index)
        feed(.cdnFailed(id, isFinal: false))
    }

    private func didEndFetch(_ index: Int) {
        guard ledgers[index].hasRecord, !ledgers[index].expected.isEmpty else { return }
        var left = ChunkSet()
        for fetch in fetches where fetch.index == index { left.insert(fetch.chunks) }
        ledgers[index].expected = left
        didChange(index, chunks: geometry(index).chunks)
    }

    /// Counts media bytes from the CDN under what caused them.
    private func count(_ byteCount: Int, reason: Reason) {
        figures.bytesCDN += byteCount
        neighbourhood.noteDownload(byteCount: byteCount, now: now)
        drive()
        if now < startupUntil {
            figures.cdnStartup += byteCount
            return
        }
        switch reason {
        case .deadline, .startup: figures.cdnHandover += byteCount
        case .alone, .unshared, .front, .backup, .elected, .peerHolds, .peerExpects, .stalled, .unwanted, .handedOver,
            .handedBack, .unreliable, .switched, .complete:
            figures.cdnElected += byteCount
        }
    }
}
