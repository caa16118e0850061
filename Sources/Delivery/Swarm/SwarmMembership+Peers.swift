import EventLoop
import CoreModel
import Integrity
import Manifest
import Scheduling
import SwarmProtocol
import ViewerCore

/// What is asked of peers and what comes from them.
extension SwarmMembership: PeerManagerDelegate {
    // MARK: Requests

    func request(
        _ id: RequestID, from peer: PeerKey, _ segment: SegmentID, chunks: Range<Int>, timeLeft: Duration
    ) {
        guard let peerID = books.peerID(of: peer), let record = records[segment] else {
            return session.feed(
                .rejected(id, chunks: chunks, refusal: .busy, retryAfter: .milliseconds(500)))
        }
        let buffer = session.buffer(segment)
        let stripes =
            record.geometry.stripe(
                ofChunk: chunks.lowerBound)...record.geometry.stripe(ofChunk: chunks.upperBound - 1)
        let request = ChunkRequest(
            id: ChunkRequestID(rawValue: id.rawValue), root: record.root, chunks: chunks, timeLeft: timeLeft,
            wantsLeaves: stripes.contains { buffer.leaves(ofStripe: $0) == nil })
        guard manager?.request(request, from: peerID) == true else {
            return session.feed(
                .rejected(id, chunks: chunks, refusal: .busy, retryAfter: .milliseconds(500)))
        }
        books.open(id, at: peerID, chunkCount: chunks.count)
    }

    func cancel(_ id: RequestID, at peer: PeerKey) {
        guard let peerID = books.close(id) else { return }
        manager?.cancel(ChunkRequestID(rawValue: id.rawValue), from: peerID)
    }

    func drop(_ peer: PeerKey) {
        guard let peerID = books.peerID(of: peer) else { return }
        session.log("peers", "\(peerID) answers too slowly and is dropped")
        manager?.drop(peerID, .unresponsive)
    }

    // MARK: What this side has

    /// A transfer from the CDN begins: neighbours may ask for its chunks already.
    func willFetch(_ segment: SegmentID, chunks: Range<Int>?) {
        guard let record = records[segment], !forgotten.contains(segment) else { return }
        let range = chunks?.clamped(to: record.geometry.chunks) ?? record.geometry.chunks
        expected[segment, default: ChunkSet()].insert(range)
        didChange(segment, chunks: range)
    }

    /// A transfer from the CDN ended, in whatever way.
    func didEndFetch(_ segment: SegmentID) {
        guard let record = records[segment], expected[segment] != nil else { return }
        var left = ChunkSet()
        for fetch in session.fetches.values where fetch.segment == segment {
            left.insert(fetch.chunks.clamped(to: record.geometry.chunks))
        }
        expected[segment] = left.isEmpty ? nil : left
        didChange(segment, chunks: record.geometry.chunks)
    }

    /// Chunks of a segment were verified.
    func didVerify(_ segment: SegmentID, chunks: Range<Int>? = nil) {
        guard let record = records[segment] else { return }
        didChange(segment, chunks: chunks ?? record.geometry.chunks)
    }

    func didChange(_ segment: SegmentID, chunks: Range<Int>) {
        guard let record = records[segment], !forgotten.contains(segment), let manager else { return }
        // A free rider announces nothing.
        guard session.configuration.conduct != .freeRiding else { return }
        // What is on the disk can be had as soon as it is asked for.
        let isOnDisk = session.disk?.store.holds(segment) == true
        let verified = isOnDisk ? ChunkSet(record.geometry.chunks) : session.buffer(segment).verified
        var expected = expected[segment] ?? ChunkSet()
        expected.subtract(verified)
        guard !verified.isEmpty || !expected.isEmpty else { return }
        manager.holdingsChanged(
            root: record.root, chunks: chunks, verified: verified, expected: expected,
            isComplete: verified.count == record.geometry.chunkCount)
    }

    /// Whether a segment can be had here by others.
    func isShared(_ segment: SegmentID) -> Bool {
        !isOff && records[segment] != nil && !forgotten.contains(segment)
            && !session.tracks[segment.track].hasGivenUpRecords
    }

    /// A segment is not shared any more.
    func forget(_ segment: SegmentID) {
        guard let record = records[segment], !forgotten.contains(segment) else { return }
        expected[segment] = nil
        manager?.holdingsLost(root: record.root)
    }

    func claim(_ segment: SegmentID, waited: Duration, owners: [MemberID]) {
        guard let record = records[segment], let certificate, let manager,
            let assignments = books.assignments(of: record, to: owners, by: PeerID(key.publicKey))
        else { return }
        claimSequence += 1
        manager.broadcast(
            Claim(
                root: record.root, certificate: certificate, sequence: claimSequence,
                waitedMilliseconds: UInt32(clamping: waited.inMilliseconds), assignments: assignments,
                signedBy: claimKey))
    }

    // MARK: From the manager

    func peerReady(_ peer: ReadyPeer) {
        session.feed(books.join(peer.peer, uploads: peer.uploads))
    }

    func peerGone(_ peer: PeerID, _ end: PeerEnd) {
        guard let input = books.leave(peer) else { return }
        session.log("peers", "the link to \(peer) ended: \(end)", .debug)
        session.feed(input)
    }

    func peer(_ peer: PeerID, did event: LinkEvent) {
        switch event {
        case .leaves(let root, let stripe, let leaves): return take(leaves, stripe: stripe, of: root, from: peer)
        case .chunk(let id, let root, let chunk, let payload):
            return take(payload, chunk: chunk, of: root, request: RequestID(rawValue: id.rawValue), from: peer)
        case .recordRequested(let id, let name):
            let record =
                names[name].flatMap { records[$0] }.flatMap { $0.name == name ? $0 : nil } ?? spareRecords[name]
            let bytes = record?.signed.encoded ?? []
            manager?.answerRecord(id, with: bytes[...], to: peer)
        case .rejected: session.figures.requests.rejected += 1
        case .requestTimedOut: session.figures.requests.timedOut += 1
        case .have, .choked, .unchoked, .candidate, .established, .claim, .record, .peers, .roundTrip, .closed: break
        }
        for input in books.take(event, from: peer, now: session.loop.now) { session.feed(input) }
    }

    func received(_ claim: Claim, from peer: PeerID) -> Bool {
        guard let record = books.segments(of: claim.root).first.flatMap({ records[$0] }) else {
            // Of nothing that is known here: it can't be judged, and may be made up.
            return false
        }
        let inputs = books.judge(
            claim, stripeCount: record.geometry.stripeCount, swarmSize: swarmSize,
            span: session.configuration.scheduling.electionSpan, suite: suite)
        for input in inputs { session.feed(input) }
        return !inputs.isEmpty
    }

    // MARK: Bytes

    private func take(_ leaves: [Digest], stripe: Int, of root: Digest, from peer: PeerID) {
        for id in books.segments(of: root) {
            let buffer = session.buffer(id)
            do {
                let result = try buffer.take(leaves: leaves, stripe: stripe)
                guard !result.arrived.isEmpty else { continue }
                session.noteCompleted(id)
                session.feed(.present(id, buffer.present))
                if !result.mismatched.isEmpty { session.noteMismatch(id) }
                didVerify(id)
                session.pump(id.track)
            } catch {
                return convict(peer, "leaves that don't belong to the segment: \(error)")
            }
        }
    }

    private func take(
        _ payload: ArraySlice<UInt8>, chunk: Int, of root: Digest, request: RequestID, from peer: PeerID
    ) {
        var isWanted = false
        for id in books.segments(of: root) where session.disk?.store.holds(id) != true {
            let buffer = session.buffer(id)
            do {
                guard try buffer.take(chunk: payload, at: chunk) else {
                    // The CDN was sooner; the peer has kept its word all the same.
                    if books.isOpen(request), buffer.present.contains(chunk) {
                        session.feed(.chunkArrived(request, chunk: chunk, byteCount: payload.count))
                    }
                    continue
                }
            } catch {
                guard error.provesMisconduct else { continue }
                session.figures.chunksRejected += 1
                session.figures.bytes.wasted += payload.count
                return convict(peer, "a chunk that is not the segment's: \(error)")
            }
            isWanted = true
            if id.track == session.adaptiveTrack { session.notePeer(byteCount: payload.count, completing: id) }
            if books.isOpen(request) {
                session.feed(.chunkArrived(request, chunk: chunk, byteCount: payload.count))
            } else {
                session.feed(.present(id, buffer.present))
            }
            didVerify(id, chunks: chunk..<chunk + 1)
            session.pump(id.track)
        }
        books.tookChunk(of: request)
        if isWanted {
            session.figures.chunksVerified += 1
            session.figures.bytes.peers += payload.count
        } else {
            session.figures.bytes.wasted += payload.count
        }
    }

    /// Bans a peer on proof.
    private func convict(_ peer: PeerID, _ proof: String) {
        session.log("peers", "\(peer) sent \(proof); it is banned", .warning)
        session.figures.peersBanned += 1
        manager?.ban(peer)
    }
}

extension SwarmMembership: ChunkSource {
    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability {
        guard session.configuration.conduct != .freeRiding, let id = books.segments(of: root).first,
            !forgotten.contains(id)
        else { return .unavailable }
        if let bytes = session.tracks[id.track].buffers[id.index]?.chunk(at: chunk) {
            guard session.configuration.conduct == .polluting else { return .available(bytes) }
            var altered = Array(bytes)
            altered[altered.count / 2] ^= 0x40
            return .available(altered[...])
        }
        if expected[id]?.contains(chunk) == true { return .expected }
        return session.disk?.store.holds(id, chunk: chunk) == true ? .stored : .unavailable
    }

    func bringBack(_ chunks: Range<Int>, root: Digest) -> Bool {
        guard let id = books.segments(of: root).first else { return false }
        return session.disk?.want(id, chunks: chunks) == true
    }

    /// Whether any peer waits for any of these chunks.
    func isAwaited(_ segment: SegmentID, chunks: Range<Int>) -> Bool {
        guard let record = records[segment] else { return false }
        return manager?.awaits(root: record.root, chunks: chunks) == true
    }

    func start(ofSegment root: Digest) -> Duration? {
        books.segments(of: root).first.flatMap { session.reference($0)?.start.duration }
    }

    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? {
        guard let id = books.segments(of: root).first else { return nil }
        return session.tracks[id.track].buffers[id.index]?.leaves(ofStripe: stripe)
    }
}
