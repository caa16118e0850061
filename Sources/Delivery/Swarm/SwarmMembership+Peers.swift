import EventLoop
import CoreModel
import Integrity
import Scheduling
import SwarmProtocol

/// What is asked of peers and what comes from them.
extension SwarmMembership: PeerManagerDelegate {
    // MARK: Requests

    func request(
        _ id: RequestID, from peer: PeerKey, _ segment: SegmentID, chunks: Range<Int>, timeLeft: Duration
    ) {
        guard let peerID = peerIDs[peer], let record = records[segment] else {
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
        openRequests[id] = peerID
    }

    func cancel(_ id: RequestID, at peer: PeerKey) {
        guard let peerID = openRequests.removeValue(forKey: id) else { return }
        manager?.cancel(ChunkRequestID(rawValue: id.rawValue), from: peerID)
    }

    func drop(_ peer: PeerKey) {
        guard let peerID = peerIDs[peer] else { return }
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
        let verified = session.buffer(segment).verified
        var expected = expected[segment] ?? ChunkSet()
        expected.subtract(verified)
        guard !verified.isEmpty || !expected.isEmpty else { return }
        manager.holdingsChanged(
            root: record.root, chunks: chunks, verified: verified, expected: expected,
            isComplete: verified.count == record.geometry.chunkCount)
    }

    /// A segment is not shared any more.
    func forget(_ segment: SegmentID) {
        guard let record = records[segment], !forgotten.contains(segment) else { return }
        expected[segment] = nil
        manager?.holdingsLost(root: record.root)
    }

    func claim(_ segment: SegmentID, waited: Duration, owners: [MemberID]) {
        guard let record = records[segment], let certificate, let manager else { return }
        let identities = Dictionary(
            peerIDs.values.map { ($0.memberID, $0) } + [(PeerID(key.publicKey).memberID, PeerID(key.publicKey))],
            uniquingKeysWith: { first, _ in first })
        let shares = Scheduling.Front(members: owners).shares(
            ofStripes: record.geometry.stripeCount, key: record.root.value.words.0)
        let assignments = shares.compactMap { share in
            identities[owners[share.owner]].map { Claim.Assignment(owner: $0, stripes: share.stripes) }
        }
        guard assignments.count == shares.count else { return }
        claimSequence += 1
        manager.broadcast(
            Claim(
                root: record.root, certificate: certificate, sequence: claimSequence,
                waitedMilliseconds: UInt32(clamping: waited.inMilliseconds), assignments: assignments,
                signedBy: claimKey))
    }

    // MARK: From the manager

    func peerReady(_ peer: ReadyPeer) {
        let key = PeerKey(rawValue: nextPeerKey)
        nextPeerKey += 1
        peerKeys[peer.peer] = key
        peerIDs[key] = peer.peer
        holdings[peer.peer] = HoldingTable()
        session.feed(.peerJoined(key, member: peer.peer.memberID, uploads: peer.uploads))
    }

    func peerGone(_ peer: PeerID, _ end: PeerEnd) {
        guard let key = peerKeys.removeValue(forKey: peer) else { return }
        session.log("peers", "the link to \(peer) ended: \(end)", .debug)
        peerIDs[key] = nil
        holdings[peer] = nil
        openRequests = openRequests.filter { $0.value != peer }
        session.feed(.peerLeft(key))
    }

    func peer(_ peer: PeerID, did event: LinkEvent) {
        guard let key = peerKeys[peer] else { return }
        switch event {
        case .have(let entries): take(entries, from: peer, key)
        case .leaves(let root, let stripe, let leaves): take(leaves, stripe: stripe, of: root, from: peer)
        case .chunk(let id, let root, let chunk, let payload):
            take(payload, chunk: chunk, of: root, request: RequestID(rawValue: id.rawValue), from: peer)
        case .rejected(let id, _, let chunks, let reason, let retryAfter):
            session.figures.requests.rejected += 1
            let refusal: Scheduling.Refusal =
                switch reason {
                case .absent: .absent
                case .late, .cancelled: .late
                case .busy, .choked, .capped: .busy
                }
            session.feed(
                .rejected(RequestID(rawValue: id.rawValue), chunks: chunks, refusal: refusal, retryAfter: retryAfter))
        case .requestTimedOut(let id, _, let ranges):
            session.figures.requests.timedOut += 1
            // The scheduler has no such request any more: what still comes of it has to be told as what is there.
            openRequests[RequestID(rawValue: id.rawValue)] = nil
            for chunks in ranges {
                session.feed(
                    .rejected(
                        RequestID(rawValue: id.rawValue), chunks: chunks, refusal: .late,
                        retryAfter: .milliseconds(500)))
            }
        case .choked(let retryAfter):
            session.feed(.peerChoked(key, until: session.loop.now.advanced(by: retryAfter)))
        case .unchoked: session.feed(.peerChoked(key, until: nil))
        case .recordRequested(let id, let name):
            let bytes = names[name].flatMap { records[$0] }?.signed.encoded ?? []
            manager?.answerRecord(id, with: bytes[...], to: peer)
        case .candidate, .established, .claim, .record, .peers, .roundTrip, .closed: break
        }
    }

    func received(_ claim: Claim, from peer: PeerID) -> Bool {
        guard let segments = segmentsByRoot[claim.root], let record = segments.first.flatMap({ records[$0] }) else {
            // Of nothing that is known here: it can't be judged, and may be made up.
            return false
        }
        let draw = ElectionTicket.draw(nonce: claim.certificate.nonce, segment: claim.root, suite: suite)
        let waited = Duration.milliseconds(Int64(claim.waitedMilliseconds))
        let span = session.configuration.scheduling.electionSpan
        guard Election.isDue(waited: waited, draw: draw, size: swarmSize, span: span) else { return false }
        // The order of a front follows from the assignments: its rotation is known.
        let owners = claim.assignments.map(\.owner.memberID)
        guard !owners.isEmpty, owners.count <= record.geometry.stripeCount else { return false }
        let shift = Int(record.root.value.words.0 % UInt64(owners.count))
        var members = owners
        for (place, owner) in owners.enumerated() { members[(place + shift) % owners.count] = owner }
        for id in segments {
            session.feed(
                .claim(id, claimer: claim.claimer.memberID, draw: draw, waited: waited, owners: members))
        }
        return true
    }

    // MARK: Bytes

    private func take(_ entries: [HaveEntry], from peer: PeerID, _ key: PeerKey) {
        for entry in entries {
            var holding = holdings[peer]?[entry.root] ?? Holding()
            let segments = segmentsByRoot[entry.root] ?? []
            switch entry.change {
            case .lost: holding = Holding()
            case .complete:
                let count = segments.first.flatMap { records[$0] }?.geometry.chunkCount ?? WireLimits.chunkCount
                holding = Holding(verified: ChunkSet(0..<count))
            case .replace(let verified, let expected):
                holding = Holding()
                for range in verified { holding.verified.insert(range) }
                for range in expected { holding.expected.insert(range) }
            case .add(let verified, let expected):
                for range in verified { holding.verified.insert(range) }
                for range in expected { holding.expected.insert(range) }
                holding.expected.subtract(holding.verified)
            }
            holdings[peer]?[entry.root] = holding
            for id in segments { session.feed(.peerHolds(key, id, holding)) }
        }
    }

    private func take(_ leaves: [Digest], stripe: Int, of root: Digest, from peer: PeerID) {
        for id in segmentsByRoot[root] ?? [] {
            let buffer = session.buffer(id)
            do {
                let result = try buffer.take(leaves: leaves, stripe: stripe)
                guard !result.arrived.isEmpty else { continue }
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
        for id in segmentsByRoot[root] ?? [] {
            let buffer = session.buffer(id)
            do {
                guard try buffer.take(chunk: payload, at: chunk) else { continue }
            } catch {
                guard error.provesMisconduct else { continue }
                session.figures.chunksRejected += 1
                session.figures.bytes.wasted += payload.count
                return convict(peer, "a chunk that is not the segment's: \(error)")
            }
            isWanted = true
            if openRequests[request] != nil {
                session.feed(.chunkArrived(request, chunk: chunk, byteCount: payload.count))
            } else {
                session.feed(.present(id, buffer.present))
            }
            didVerify(id, chunks: chunk..<chunk + 1)
            session.pump(id.track)
        }
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
        guard session.configuration.conduct != .freeRiding, let id = segmentsByRoot[root]?.first,
            !forgotten.contains(id)
        else { return .unavailable }
        if let bytes = session.tracks[id.track].buffers[id.index]?.chunk(at: chunk) {
            guard session.configuration.conduct == .polluting else { return .available(bytes) }
            var altered = Array(bytes)
            altered[altered.count / 2] ^= 0x40
            return .available(altered[...])
        }
        return expected[id]?.contains(chunk) == true ? .expected : .unavailable
    }

    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? {
        guard let id = segmentsByRoot[root]?.first else { return nil }
        return session.tracks[id.track].buffers[id.index]?.leaves(ofStripe: stripe)
    }
}
