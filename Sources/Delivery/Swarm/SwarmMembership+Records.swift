import EventLoop
import CoreModel
import HTTPTransfer
import Integrity
import Manifest
import Scheduling
import ViewerCore

/// The catalogue: which segments can be shared.
extension SwarmMembership {
    /// How far ahead of the playhead records are loaded.
    private static let recordWindow: Duration = .seconds(120)
    /// The most bytes of a catalogue's page.
    private static let maximumPageByteCount = 4 << 20

    private var catalogueURL: String {
        if let url = session.configuration.catalogueURL { return url }
        var manifest = session.configuration.url
        if !manifest.contains("://") { manifest = "https://" + manifest }
        let path = manifest.prefix { $0 != "?" && $0 != "#" }
        return path + ".pdn" + manifest.dropFirst(path.count).prefix { $0 != "#" }
    }

    func fetchCatalogue() {
        let configuration = session.configuration
        let reader = CatalogueReader(
            trusting: configuration.trustedKeys, threshold: configuration.requiredSignatures, stream: stream,
            suite: suite)
        self.reader = reader
        fetchIndex()
    }

    private func fetchIndex() {
        guard let range = reader?.requiredRange else { return }
        var request = HTTPRequest(url: catalogueURL)
        request.bytes = .range(range)
        request.maximumByteCount = CatalogueHead.maximumIndexByteCount + Self.maximumPageByteCount
        request.retry = HTTPRequest.Retry(attempts: 3)
        var skipped = 0
        session.client.start(request) { [weak self] event in
            guard let self, !isOff else { return }
            switch event {
            case .response(let response, _):
                // A server that does not do ranges sends the file from its first byte again.
                if response.status != 206 { skipped = Int(clamping: range.lowerBound) }
            case .body(let bytes):
                session.figures.bytes.cdnCatalogue += bytes.count
                let part = bytes.dropFirst(min(skipped, bytes.count))
                skipped -= min(skipped, bytes.count)
                take(part)
            case .finished: indexDidArrive(askedFor: range)
            case .failed(let error): giveUp("the catalogue could not be fetched: \(error)")
            }
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        do {
            try reader?.feed(bytes, now: now)
        } catch {
            giveUp("the catalogue can't be used: \(error)")
        }
    }

    private func indexDidArrive(askedFor range: Range<UInt64>) {
        guard let reader else { return }
        guard let head = reader.head else {
            // A file that ended before its index did is truncated.
            let isShort = UInt64(reader.receivedByteCount) < range.upperBound
            guard !isShort || reader.requiredRange.map({ $0.lowerBound < range.upperBound }) != true else {
                return giveUp("the catalogue is truncated")
            }
            return fetchIndex()
        }
        if stream == nil {
            stream = head.stream
            joinTracker()
        }
        assignKeys()
    }

    /// The tracks are known: records can be matched with segments.
    func timelineDidLoad() { assignKeys() }

    private func assignKeys() {
        guard !isOff, let reader, let head = reader.head, let presentation = session.selection?.presentation,
            !session.tracks.isEmpty, renditionKeys.isEmpty
        else { return }
        let all = reader.keys(for: presentation.descriptions)
        for (track, state) in session.tracks.enumerated() {
            let place = presentation.renditions.firstIndex { $0.id == state.information.rendition }
            let key = place.flatMap { $0 < all.count ? all[$0] : nil }
            renditionKeys.append(key)
            guard let key else {
                session.log(
                    "swarm", "the rendition \(state.information.rendition) is not in the catalogue", .warning)
                giveUp(track: track)
                continue
            }
            for (index, segment) in state.segments.enumerated() {
                let name = SegmentName(
                    stream: head.stream, epoch: head.epoch, rendition: key, position: segment.position)
                names[name] = SegmentID(track: track, index: index)
            }
        }
        guard renditionKeys.contains(where: { $0 != nil }) else {
            return giveUp("the catalogue has none of the renditions that are played")
        }
        takeBufferedPages()
        loadPages()
    }

    private func takeBufferedPages() {
        do {
            for segment in try reader?.takePages() ?? [] { adopt(segment) }
        } catch {
            giveUp("the catalogue can't be used: \(error)")
        }
    }

    /// Fetches the pages that the next minutes of playback need.
    func loadPages() {
        guard !isOff, let reader, let head = reader.head, !renditionKeys.isEmpty else { return }
        for (track, key) in renditionKeys.enumerated() {
            guard let key, !session.tracks[track].hasGivenUpRecords else { continue }
            let segments = session.tracks[track].segments
            let horizon = session.report.position + Self.recordWindow
            let start = MediaTime(ticks: session.report.position.nanosecondsClamped, timescale: 1_000_000_000)
            var index = segments.index(at: start) ?? segments.count
            while index < segments.count, segments[index].start.duration < horizon {
                defer { index += 1 }
                let id = SegmentID(track: track, index: index)
                guard records[id] == nil, !unsigned.contains(id) else { continue }
                let name = SegmentName(
                    stream: head.stream, epoch: head.epoch, rendition: key, position: segments[index].position)
                guard let page = reader.page(holding: name) else {
                    markUnsigned(id)
                    continue
                }
                if loadedPages.contains(page) {
                    markUnsigned(id)
                } else if requestedPages.insert(page).inserted {
                    fetch(page: page, range: reader.byteRange(ofPage: page))
                }
            }
        }
    }

    private func markUnsigned(_ id: SegmentID) {
        guard unsigned.insert(id).inserted else { return }
        session.feed(.noRecord(id))
    }

    private func fetch(page: Int, range: Range<UInt64>) {
        var request = HTTPRequest(url: catalogueURL)
        request.bytes = .range(range)
        request.maximumByteCount = Self.maximumPageByteCount
        request.retry = HTTPRequest.Retry(attempts: 3)
        var body: [UInt8] = []
        session.client.start(request) { [weak self] event in
            guard let self, !isOff else { return }
            switch event {
            case .response(let response, _):
                if response.status != 206 { giveUp("the CDN does not serve ranges of the catalogue") }
            case .body(let bytes):
                session.figures.bytes.cdnCatalogue += bytes.count
                body += bytes
            case .finished:
                loadedPages.insert(page)
                do {
                    for segment in try reader?.accept(page: page, body[...]) ?? [] { adopt(segment) }
                } catch {
                    giveUp("the catalogue can't be used: \(error)")
                }
            case .failed(let error): giveUp("the catalogue could not be fetched: \(error)")
            }
        }
    }

    /// Takes a segment's record: from here on its bytes are held against it and can be shared.
    func adopt(_ segment: VerifiedSegment) {
        guard let id = names[segment.name], records[id] == nil, !session.tracks[id.track].hasGivenUpRecords else {
            return
        }
        records[id] = segment
        let known = books.adopt(id, root: segment.root, chunkCount: segment.geometry.chunkCount)
        hold(id, against: segment)
        for input in known { session.feed(input) }
    }

    private func hold(_ id: SegmentID, against segment: VerifiedSegment) {
        let buffer = session.buffer(id)
        guard let mismatched = buffer.adopt(segment, suite: suite) else {
            // The CDN's resource has another size than the record says.
            return session.noteMismatch(id)
        }
        session.feed(
            .record(
                id, key: segment.root.value.words.0, byteCount: segment.geometry.byteCount, draw: draw(segment.root)))
        if !buffer.present.isEmpty || !buffer.isComplete { session.feed(.present(id, buffer.present)) }
        guard mismatched.isEmpty else { return session.noteMismatch(id) }
        didChange(id, chunks: segment.geometry.chunks)
        session.pump(id.track)
    }

    /// This viewer's place in a segment's election; last without a certificate.
    private func draw(_ root: Digest) -> Double {
        guard let certificate else { return 0.999_999 }
        return ElectionTicket.draw(nonce: certificate.nonce, segment: root, suite: suite)
    }

    /// The certificate has come or changed: the elections' draws with it.
    func redraw() {
        for (id, segment) in records.sorted(by: { $0.key < $1.key })
        where !session.tracks[id.track].hasGivenUpRecords && !forgotten.contains(id) {
            session.feed(
                .record(
                    id, key: segment.root.value.words.0, byteCount: segment.geometry.byteCount,
                    draw: draw(segment.root)))
        }
    }

    /// The store dropped a segment, whose record still holds for when it is fetched again.
    func restoreRecord(_ id: SegmentID) {
        guard let segment = records[id], !forgotten.contains(id), !session.tracks[id.track].hasGivenUpRecords else {
            return
        }
        _ = session.buffer(id).adopt(segment, suite: suite)
        for input in books.holdings(of: id, root: segment.root) { session.feed(input) }
    }

    /// Records of a track are not used any more.
    func giveUp(track: Int) {
        for index in session.tracks[track].segments.indices {
            let id = SegmentID(track: track, index: index)
            if records[id] != nil, session.tracks[track].buffers[index]?.isComplete != true {
                session.abandonRecord(of: id)
            } else {
                session.feed(.noRecord(id))
            }
        }
    }
}
