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
        guard !isOff, let reader, reader.head != nil, let presentation = session.selection?.presentation,
            !session.tracks.isEmpty, renditionKeys == nil
        else { return }
        let all = reader.keys(for: presentation.descriptions)
        var keys: [Rendition.ID: RenditionKey] = [:]
        for (rendition, key) in zip(presentation.renditions, all) { keys[rendition.id] = key }
        renditionKeys = keys
        for (track, state) in session.tracks.enumerated() {
            for rendition in state.loadedRenditions { assignNames(to: rendition, track: track) }
        }
        guard session.tracks.contains(where: { $0.loadedRenditions.contains { keys[$0] != nil } }) else {
            return giveUp("the catalogue has none of the renditions that are played")
        }
        takeBufferedPages()
        loadPages()
    }

    /// The names of a rendition's segments.
    private func assignNames(to rendition: Rendition.ID, track: Int) {
        guard let key = renditionKeys?[rendition], let head = reader?.head else {
            session.log("swarm", "the rendition \(rendition) is not in the catalogue", .warning)
            if session.tracks[track].renditions == nil { giveUp(track: track) }
            return
        }
        for index in session.tracks[track].segments.indices {
            guard let position = session.tracks[track].segment(index, in: rendition)?.position else { continue }
            let name = SegmentName(stream: head.stream, epoch: head.epoch, rendition: key, position: position)
            names[name] = SegmentID(track: track, index: index)
        }
    }

    /// The segments of another rendition are known.
    func timelineDidLoad(of rendition: Rendition.ID, track: Int) {
        guard !isOff, renditionKeys != nil else { return }
        assignNames(to: rendition, track: track)
        loadPages()
    }

    /// The name of a segment in a rendition, where both are known.
    private func name(of id: SegmentID, in rendition: Rendition.ID) -> SegmentName? {
        guard let head = reader?.head, let key = renditionKeys?[rendition],
            let position = session.tracks[id.track].segment(id.index, in: rendition)?.position
        else { return nil }
        return SegmentName(stream: head.stream, epoch: head.epoch, rendition: key, position: position)
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
        guard !isOff, let reader, renditionKeys != nil else { return }
        for track in session.tracks.indices where !session.tracks[track].hasGivenUpRecords {
            let segments = session.tracks[track].segments
            let horizon = session.report.position + Self.recordWindow
            let start = MediaTime(ticks: session.report.position.nanosecondsClamped, timescale: 1_000_000_000)
            let first = segments.index(at: start) ?? segments.endIndex
            var index = first
            while index < segments.endIndex, segments[index].start.duration < horizon {
                defer { index += 1 }
                let id = SegmentID(track: track, index: index)
                guard session.tracks[track].isKnown(index), records[id] == nil, !unsigned.contains(id) else { continue }
                guard let name = name(of: id, in: session.tracks[track].rendition(index)),
                    let page = reader.page(holding: name)
                else {
                    markUnsigned(id)
                    continue
                }
                if loadedPages.contains(page) { markUnsigned(id) } else { load(page: page) }
            }
            if session.tracks[track].renditions != nil { loadPages(ahead: first..<index, of: track) }
        }
    }

    /// Fetches the pages of what isn't chosen: choices rest on what peers hold of each rendition, and once made need the record.
    private func loadPages(ahead window: Range<Int>, of track: Int) {
        for rendition in session.tracks[track].loadedRenditions where renditionKeys?[rendition] != nil {
            for index in window where lookedUp[rendition, default: []].insert(index).inserted {
                guard let name = name(of: SegmentID(track: track, index: index), in: rendition),
                    let page = reader?.page(holding: name), !loadedPages.contains(page)
                else { continue }
                load(page: page)
            }
        }
    }

    private func load(page: Int) {
        guard let reader, requestedPages.insert(page).inserted else { return }
        fetch(page: page, range: reader.byteRange(ofPage: page))
    }

    // MARK: Renditions

    /// It is chosen in which rendition a segment is played.
    func didChoose(_ id: SegmentID) {
        guard !isOff, renditionKeys != nil, records[id] == nil else { return }
        guard !session.tracks[id.track].hasGivenUpRecords,
            let name = name(of: id, in: session.tracks[id.track].rendition(id.index))
        else { return markUnsigned(id) }
        if let segment = spareRecords.removeValue(forKey: name) { return adopt(segment) }
        guard let page = reader?.page(holding: name), !loadedPages.contains(page) else { return markUnsigned(id) }
        load(page: page)
    }

    /// A segment is wanted in another rendition: what is there of it is not shared any more.
    func disown(_ id: SegmentID) {
        unsigned.remove(id)
        expected[id] = nil
        guard let record = records.removeValue(forKey: id) else { return }
        books.disown(id, root: record.root)
        if forgotten.remove(id) == nil { manager?.holdingsLost(root: record.root) }
        spareRecords[record.name] = record
    }

    /// What peers have of a segment in each of its track's renditions, as far as the catalogue has told; empty without peers.
    func offers(_ id: SegmentID) -> [SegmentOffer] {
        guard !isOff, books.peerCount > 0, let renditions = session.tracks[id.track].renditions else { return [] }
        return (0..<renditions.count).map { rung in
            guard let name = name(of: id, in: renditions.id(rung)) else { return SegmentOffer(peerShare: 0) }
            let record = spareRecords[name] ?? records[id].flatMap { $0.name == name ? $0 : nil }
            return SegmentOffer(
                peerShare: record.map { books.heldShare(of: $0.root, chunkCount: $0.geometry.chunkCount) } ?? 0)
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
        guard let id = names[segment.name], !session.tracks[id.track].hasGivenUpRecords else { return }
        let rendition = session.tracks[id.track].rendition(id.index)
        guard session.tracks[id.track].isKnown(id.index), renditionKeys?[rendition] == segment.name.rendition else {
            spareRecords[segment.name] = segment
            return
        }
        guard records[id] == nil else { return }
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
