import Integrity
import EventLoop
import CoreModel
import HTTPTransfer
import Manifest
import Scheduling
import ViewerCore

/// Media from the CDN.
extension ViewerSession {
    func startFetch(_ id: TransferID, _ segment: SegmentID, chunks: Range<Int>?, reason: Reason) {
        guard let reference = reference(segment) else { return feed(.cdnFailed(id, isFinal: true)) }
        guard tracks[segment.track].isKnown(segment.index) else {
            tracks[segment.track].renditions?.plan.begun(segment.index)
            waitingFetches.append(WaitingFetch(id: id, segment: segment, chunks: chunks, reason: reason))
            return
        }
        if segment.track == adaptiveTrack {
            tracks[segment.track].renditions?.plan.fetchBegan(id, segment.index, now: loop.now)
        }
        guard !reference.isGap else {
            noteEnd(of: id)
            feed(.cdnFailed(id, isFinal: true))
            return
        }
        let buffer = buffer(segment)
        let size = buffer.byteCount
        let start = (chunks?.lowerBound ?? 0) * SegmentGeometry.chunkByteCount
        let end = chunks.map { range in
            min(range.upperBound * SegmentGeometry.chunkByteCount, size ?? .max)
        }
        let url = url(of: reference, segment)
        var request = HTTPRequest(url: url)
        request.maximumByteCount = SegmentGeometry.maximumByteCount
        let base = reference.byteRange?.lowerBound ?? 0
        if let end, !(start == 0 && end == size && reference.byteRange == nil) {
            request.bytes = .range(base + UInt64(start)..<base + UInt64(end))
        } else if let range = reference.byteRange {
            request.bytes = .range(range)
        }
        if request.bytes != .all { request.ifRange = entityTags[url] }
        figures.requests.cdn += 1
        fetches[id] = CDNFetch(
            segment: segment, reason: reason, offset: start, transfer: nil, chunks: chunks ?? 0..<4096,
            isWhole: chunks == nil)
        let transfer = client.start(request) { [weak self] event in self?.take(event, of: id) }
        fetches[id]?.transfer = transfer
        swarm?.willFetch(segment, chunks: chunks)
    }

    /// Tells the plan of renditions that a transfer is over.
    private func noteEnd(of id: TransferID) {
        if let track = adaptiveTrack { tracks[track].renditions?.plan.fetchEnded(id, now: loop.now) }
    }

    func cancelFetch(_ id: TransferID) {
        noteEnd(of: id)
        waitingFetches.removeAll { $0.id == id }
        guard let fetch = fetches.removeValue(forKey: id) else { return }
        fetch.transfer?.cancel()
        swarm?.didEndFetch(fetch.segment)
    }

    private func take(_ event: HTTPEvent, of id: TransferID) {
        guard !isStopped, fetches[id] != nil else { return }
        switch event {
        case .response(let response, let latency): take(response, after: latency, of: id)
        case .body(let bytes): take(bytes, of: id)
        case .finished: finish(id)
        case .failed(let error): fail(id, error)
        }
    }

    private func take(_ response: HTTPResponse, after latency: Duration, of id: TransferID) {
        guard let fetch = fetches[id], let reference = reference(fetch.segment) else { return }
        let base = reference.byteRange?.lowerBound ?? 0
        if let tag = response.entityTag { entityTags[url(of: reference, fetch.segment)] = tag }
        let segment = fetch.segment
        if response.status == 206 {
            // Other bytes than those asked for have no place here.
            guard case .range(let wanted)? = fetch.transfer?.request.bytes, let range = response.contentRange,
                range.first == wanted.lowerBound
            else { return refuse(id, .other("the server answered with another range than was asked for")) }
            if reference.byteRange == nil, let total = range.total {
                guard 1...UInt64(SegmentGeometry.maximumByteCount) ~= total else {
                    return refuse(id, .tooLarge(limit: SegmentGeometry.maximumByteCount))
                }
                learn(segment, byteCount: Int(total))
            }
        } else {
            // Where a range was asked for the CDN ignores ranges: the whole resource comes, from its first byte on.
            guard base <= UInt64(SegmentGeometry.maximumByteCount) else {
                return refuse(id, .other("the server ignores ranges, and the segment lies far inside the resource"))
            }
            fetches[id]?.offset = -Int(base)
            fetches[id]?.ignoresRange = fetch.transfer?.request.bytes != .all
            if reference.byteRange == nil, let length = response.contentLength {
                learn(segment, byteCount: length)
            }
        }
        // The answer may have turned out to be another version.
        guard fetches[id] != nil else { return }
        feed(.cdnResponded(id, after: latency))
        if let fetch = fetches[id], fetch.ignoresRange { feed(.cdnIgnoredRange(id, from: fetch.offset)) }
    }

    /// Ends a transfer whose answer can't be used.
    private func refuse(_ id: TransferID, _ error: HTTPError) {
        fetches[id]?.transfer?.cancel()
        fail(id, error)
    }

    private func learn(_ segment: SegmentID, byteCount: Int) {
        let buffer = buffer(segment)
        guard 1...SegmentGeometry.maximumByteCount ~= byteCount, buffer.byteCount != byteCount else { return }
        if buffer.verifiedSegment != nil {
            if !askOtherHost(segment) { noteMismatch(segment, byteCount: byteCount) }
            return
        }
        guard buffer.byteCount == nil else { return }
        buffer.learn(byteCount: byteCount)
        feed(.size(segment, byteCount: byteCount))
    }

    private func take(_ bytes: ArraySlice<UInt8>, of id: TransferID) {
        guard let fetch = fetches[id] else { return }
        count(bytes.count, reason: fetch.reason)
        if let track = adaptiveTrack {
            tracks[track].renditions?.plan.fetchReceived(id, byteCount: bytes.count, now: loop.now)
        }
        feed(.cdnReceived(id, byteCount: bytes.count))
        guard fetches[id] != nil else { return }
        let offset = fetch.offset
        fetches[id]?.offset += bytes.count
        let buffer = buffer(fetch.segment)
        // Bytes outside the segment come from a CDN that ignores ranges.
        let lower = max(0, offset)
        let upper = min(offset + bytes.count, buffer.byteCount ?? .max)
        guard lower < upper else { return }
        let before = buffer.present.count
        let piece = bytes.dropFirst(lower - offset).prefix(upper - lower)
        guard let result = buffer.take(piece, at: lower) else {
            // The resource is larger than the record says: not the bytes that were signed.
            if !askOtherHost(fetch.segment) { noteMismatch(fetch.segment) }
            return
        }
        if !result.mismatched.isEmpty, askOtherHost(fetch.segment) { return }
        if result.arrived.isEmpty, before == buffer.present.count, buffer.isComplete {
            figures.bytes.wasted += piece.count
        }
        arrived(result.arrived, of: id, in: fetch.segment)
        if !result.mismatched.isEmpty { noteMismatch(fetch.segment) }
        // What lies behind the segment is of no use.
        if let fetch = fetches[id], fetch.ignoresRange, let end = buffer.byteCount, fetch.offset >= end {
            fetch.transfer?.cancel()
            finish(id)
        }
    }

    /// Passes chunks from the CDN on: to the scheduler, the player and waiting peers.
    private func arrived(_ chunks: [Int], of id: TransferID, in segment: SegmentID) {
        guard !chunks.isEmpty else { return pump(segment.track) }
        noteCompleted(segment)
        for run in ChunkSet(chunks).ranges { feed(.cdnArrived(id, chunks: run)) }
        swarm?.didVerify(segment)
        pump(segment.track)
    }

    private func finish(_ id: TransferID) {
        guard let fetch = fetches.removeValue(forKey: id) else { return }
        noteEnd(of: id)
        let buffer = buffer(fetch.segment)
        if buffer.byteCount == nil, fetch.isWhole, fetch.offset > 0 {
            buffer.learn(byteCount: fetch.offset)
            feed(.size(fetch.segment, byteCount: fetch.offset))
        }
        let last = buffer.finishPlain()
        noteCompleted(fetch.segment)
        for run in ChunkSet(last).ranges { feed(.cdnArrived(id, chunks: run)) }
        let end = min(fetch.chunks.upperBound * SegmentGeometry.chunkByteCount, buffer.byteCount ?? 0)
        let start = fetch.chunks.lowerBound * SegmentGeometry.chunkByteCount
        if fetch.offset < end {
            // An answer that is whole by its own account and shorter than what was asked for; never again at once.
            let name = SessionError.redacted(reference(fetch.segment)?.url ?? "")
            log("cdn", "\(name): the answer ends \(end - fetch.offset) bytes early", .warning)
            let received = max(0, fetch.offset - start)
            tracks[fetch.segment.track].lastErrors[fetch.segment.index] = .truncated(received: received)
            feed(.cdnFailed(id, isFinal: false))
        } else {
            tracks[fetch.segment.track].lastErrors[fetch.segment.index] = nil
            tracks[fetch.segment.track].failingSince[fetch.segment.index] = nil
            feed(.cdnFinished(id))
        }
        swarm?.didEndFetch(fetch.segment)
        pump(fetch.segment.track)
    }

    private func fail(_ id: TransferID, _ error: HTTPError) {
        guard let fetch = fetches.removeValue(forKey: id) else { return }
        noteEnd(of: id)
        let reference = reference(fetch.segment)
        let name = SessionError.redacted(reference.map { url(of: $0, fetch.segment) } ?? "")
        log("cdn", "\(name): \(error)", .warning)
        tracks[fetch.segment.track].lastErrors[fetch.segment.index] = error
        swarm?.didEndFetch(fetch.segment)
        if reference?.otherURL != nil, tracks[fetch.segment.track].otherHosts[fetch.segment.index] != .failed {
            let isFirst = tracks[fetch.segment.track].otherHosts[fetch.segment.index] == nil
            tracks[fetch.segment.track].otherHosts[fetch.segment.index] = isFirst ? .asked : .failed
            return feed(isFirst ? .cdnFinished(id) : .cdnFailed(id, isFinal: false))
        }
        let isFinal =
            switch error {
            case .status(let status): (400..<500).contains(status) && status != 408 && status != 429
            default: !error.isRetryable
            }
        if isFinal, replaceLost(fetch.segment) { return }
        feed(.cdnFailed(id, isFinal: live == nil ? isFinal : isFinal && hasFailedForLong(fetch.segment)))
    }

    /// Counts media bytes from the CDN under what caused them.
    private func count(_ byteCount: Int, reason: Reason) {
        figures.bytes.cdn += byteCount
        swarm?.manager?.noteDownload(byteCount: byteCount)
        if loop.now < startupUntil {
            figures.cdnStartup += byteCount
            return
        }
        switch reason {
        case .deadline, .startup: figures.cdnHandover += byteCount
        default: figures.cdnElected += byteCount
        }
    }

    // MARK: - Another host

    /// Where a segment is asked for: at the other host once the first one has failed.
    private func url(of reference: SegmentReference, _ segment: SegmentID) -> String {
        guard tracks[segment.track].otherHosts[segment.index] == .asked else { return reference.url }
        return reference.otherURL ?? reference.url
    }

    /// The CDN's bytes differ from a valid record: asks another host for what isn't verified, once, where the manifest
    /// names one.
    private func askOtherHost(_ segment: SegmentID) -> Bool {
        guard reference(segment)?.otherURL != nil, tracks[segment.track].otherHosts[segment.index] == nil else {
            return false
        }
        tracks[segment.track].otherHosts[segment.index] = .asked
        log("integrity", "segment \(segment) from the CDN differs from its signed record; another host is asked")
        let buffer = buffer(segment)
        buffer.discardUnverified()
        feed(.present(segment, buffer.present))
        for (id, fetch) in fetches where fetch.segment == segment {
            cancelFetch(id)
            feed(.cdnFinished(id))
        }
        return true
    }

    // MARK: - Bytes that differ from a valid record

    /// The CDN serves this viewer other bytes than a valid record says: they are played and never shared.
    ///
    /// - Parameter byteCount: The size of the CDN's version, where it is another than the record's.
    func noteMismatch(_ segment: SegmentID, byteCount: Int? = nil) {
        guard tracks[segment.track].mismatchedSegments.insert(segment.index).inserted else { return }
        figures.recordMismatches += 1
        log(
            "integrity", "segment \(segment) from the CDN differs from its signed record; it is played and not shared",
            .warning)
        abandonRecord(of: segment, byteCount: byteCount)
        guard tracks[segment.track].mismatchedSegments.count >= 2, !tracks[segment.track].hasGivenUpRecords else {
            return pump(segment.track)
        }
        tracks[segment.track].hasGivenUpRecords = true
        log(
            "integrity",
            "two segments of \(tracks[segment.track].information.rendition) differ: its records are not used")
        swarm?.giveUp(track: segment.track)
        pump(segment.track)
    }

    /// Holds a segment against no record any more and shares it with nobody.
    func abandonRecord(of segment: SegmentID, byteCount: Int? = nil) {
        let track = tracks[segment.track]
        let played: Int =
            if track.feedIndex == segment.index { track.feedOffset } else {
                segment.index < track.feedIndex ? SegmentGeometry.maximumByteCount : 0
            }
        swarm?.forget(segment)
        swarm?.forgotten.insert(segment)
        disk?.discard(segment)
        let buffer = buffer(segment)
        buffer.abandonRecord(playedByteCount: played, byteCount: byteCount)
        feed(.replaced(segment, present: buffer.present, byteCount: buffer.byteCount))
    }

    // MARK: - Initialisation sections

    /// Fetches the initialisation section that a segment needs.
    func loadInitialization(track: Int, segment: Int) {
        guard tracks[track].segments.indices.contains(segment), tracks[track].isKnown(segment),
            let initialization = tracks[track].segment(segment).initialization,
            tracks[track].initializations[initialization] == nil
        else { return }
        tracks[track].initializations[initialization] = .loading
        var request = HTTPRequest(url: initialization.url)
        if let range = initialization.byteRange { request.bytes = .range(range) }
        // A CDN that knows no ranges sends the whole resource.
        request.maximumByteCount = initialization.byteRange == nil ? 4 << 20 : SegmentGeometry.maximumByteCount
        request.retry = HTTPRequest.Retry(attempts: 5)
        figures.requests.cdn += 1
        var body: [UInt8] = []
        var window = RangeWindow(initialization.byteRange)
        client.start(request) { [weak self] event in
            guard let self, !isStopped else { return }
            switch event {
            case .response(let response, _): window.begin(response)
            case .body(let bytes):
                count(bytes.count, reason: .startup)
                body += window.clip(bytes)
            case .finished:
                do throws(HTTPError) { try window.finish() } catch {
                    tracks[track].initializations[initialization] = .failed
                    return fail(.unreachable(url: initialization.url, error))
                }
                tracks[track].initializations[initialization] = .ready(body)
                figures.distinct[initialization.url + (initialization.byteRange.map { "#\($0)" } ?? "")] = body.count
                figures.delivered += body.count
                pump(track)
            case .failed(let error):
                tracks[track].initializations[initialization] = .failed
                fail(.unreachable(url: initialization.url, error))
            }
        }
    }
}

extension ChunkSet {
    /// A set of single chunks.
    init(_ chunks: [Int]) {
        self.init()
        for chunk in chunks { insert(chunk) }
    }
}
