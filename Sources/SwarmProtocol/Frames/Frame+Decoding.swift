public import CoreModel

extension Frame {
    /// Reads one frame from the front of a message's plaintext. Payloads are slices of it, not copies.
    ///
    /// - Throws: ``WireError`` for anything that the protocol document does not allow; the link is then to be closed.
    public init(reading reader: inout WireReader) throws(WireError) {
        let number = try reader.integer(UInt8.self)
        guard let type = FrameType(rawValue: number) else { throw .invalid(field: "frame type") }
        var body = WireReader(try reader.prefixed16("frame", limit: WireLimits.bodyByteCount))
        self = try Self.read(type, &body)
        try body.finish()
    }

    private static func read(_ type: FrameType, _ body: inout WireReader) throws(WireError) -> Frame {
        switch type {
        case .hello: return .hello(try hello(&body))
        case .have: return .have(try haveEntries(&body))
        case .claim:
            let hops = try body.integer(UInt8.self)
            guard hops < WireLimits.claimHopCount else { throw .invalid(field: "claim hops") }
            let claim = body.rest()
            guard (1...WireLimits.claimByteCount).contains(claim.count) else { throw .invalid(field: "claim") }
            return .claim(ClaimFrame(hopCount: hops, claim: claim))
        case .recordRequest:
            return .recordRequest(RecordRequestID(rawValue: try body.integer()), try body.segmentName())
        case .record: return .record(RecordRequestID(rawValue: try body.integer()), body.rest())
        case .leaves: return .leaves(try leaves(&body))
        case .request: return .request(try request(&body))
        case .data: return .data(try data(&body))
        case .reject: return .reject(try reject(&body))
        case .cancel: return .cancel(ChunkRequestID(rawValue: try body.integer()))
        case .choke: return .choke(retryAfter: try body.milliseconds(limit: WireLimits.retryAfter))
        case .unchoke: return .unchoke
        case .peers: return .peers(try peers(&body))
        case .ping: return .ping(try body.integer())
        case .pong: return .pong(try body.integer())
        case .bye: return .bye(ByeCode(rawValue: try body.integer()) ?? .done)
        }
    }

    private static func hello(_ body: inout WireReader) throws(WireError) -> HelloFrame {
        let lowest = try body.integer(UInt8.self)
        let highest = try body.integer(UInt8.self)
        guard lowest > 0, lowest <= highest else { throw .invalid(field: "versions") }
        return HelloFrame(
            lowestVersion: lowest, highestVersion: highest, flags: HelloFrame.Flags(rawValue: try body.integer()),
            listenPort: try body.integer(), queueLimit: try body.integer(),
            certificate: try body.prefixed16("certificate", limit: WireLimits.certificateByteCount))
    }

    private static func haveEntries(_ body: inout WireReader) throws(WireError) -> [HaveEntry] {
        let count = Int(try body.integer(UInt16.self))
        guard count <= WireLimits.haveEntryCount else {
            throw .tooLarge(field: "have entries", value: count, limit: WireLimits.haveEntryCount)
        }
        guard count > 0 else { throw .invalid(field: "have entries") }
        var entries: [HaveEntry] = []
        // Of what there can be: an entry has 33 bytes at least.
        entries.reserveCapacity(min(count, body.remaining / 33))
        for _ in 0..<count {
            let root = try body.digest()
            let change: HaveEntry.Change
            switch try body.integer(UInt8.self) {
            case 0: change = .lost
            case 1: change = .complete
            case 2: change = .replace(verified: try body.chunkRanges(), expected: try body.chunkRanges())
            case 3: change = .add(verified: try body.chunkRanges(), expected: try body.chunkRanges())
            default: throw .invalid(field: "have change")
            }
            entries.append(HaveEntry(root: root, change: change))
        }
        return entries
    }

    private static func leaves(_ body: inout WireReader) throws(WireError) -> LeavesFrame {
        let root = try body.digest()
        let stripe = Int(try body.integer(UInt16.self))
        guard stripe < WireLimits.stripeCount else { throw .invalid(field: "stripe") }
        let count = Int(try body.integer(UInt8.self))
        guard (1...SegmentGeometry.chunksPerStripe).contains(count) else { throw .invalid(field: "leaf count") }
        var leaves: [Digest] = []
        for _ in 0..<count { leaves.append(try body.digest()) }
        return LeavesFrame(root: root, stripe: stripe, leaves: leaves)
    }

    private static func request(_ body: inout WireReader) throws(WireError) -> ChunkRequest {
        let id = ChunkRequestID(rawValue: try body.integer())
        let root = try body.digest()
        let chunks = try body.chunkRun(limit: WireLimits.requestChunkCount)
        let timeLeft = try body.milliseconds(limit: WireLimits.timeLeft)
        let flags = try body.integer(UInt8.self)
        guard flags <= 1 else { throw .invalid(field: "request flags") }
        return ChunkRequest(id: id, root: root, chunks: chunks, timeLeft: timeLeft, wantsLeaves: flags == 1)
    }

    private static func data(_ body: inout WireReader) throws(WireError) -> DataFrame {
        let id = ChunkRequestID(rawValue: try body.integer())
        let chunk = Int(try body.integer(UInt16.self))
        let payload = body.rest()
        guard (1...SegmentGeometry.chunkByteCount).contains(payload.count) else {
            throw .invalid(field: "chunk length")
        }
        return DataFrame(id: id, chunk: chunk, payload: payload)
    }

    private static func reject(_ body: inout WireReader) throws(WireError) -> RejectFrame {
        let id = ChunkRequestID(rawValue: try body.integer())
        let chunks = try body.chunkRun(limit: WireLimits.requestChunkCount)
        guard let reason = RejectReason(rawValue: try body.integer()) else { throw .invalid(field: "reject reason") }
        let retryAfter = try body.milliseconds(limit: WireLimits.retryAfter)
        return RejectFrame(id: id, chunks: chunks, reason: reason, retryAfter: retryAfter)
    }

    private static func peers(_ body: inout WireReader) throws(WireError) -> [PeerEntry] {
        let count = Int(try body.integer(UInt8.self))
        guard (1...WireLimits.peerCount).contains(count) else { throw .invalid(field: "peer count") }
        var peers: [PeerEntry] = []
        for _ in 0..<count {
            let address = NetworkAddress(host: try body.bytes16(), port: try body.integer())
            guard address.port != 0 else { throw .invalid(field: "peer port") }
            peers.append(PeerEntry(address: address, certificate: try body.certificate()))
        }
        return peers
    }
}

extension WireReader {
    fileprivate mutating func certificate() throws(WireError) -> ArraySlice<UInt8> {
        let bytes = try prefixed16("certificate", limit: WireLimits.certificateByteCount)
        guard !bytes.isEmpty else { throw .invalid(field: "certificate") }
        return bytes
    }

    /// Reads a first chunk in 16 bits and a count in 8.
    fileprivate mutating func chunkRun(limit: Int) throws(WireError) -> Range<Int> {
        let first = Int(try integer(UInt16.self))
        let count = Int(try integer(UInt8.self))
        guard (1...limit).contains(count), first + count <= WireLimits.chunkCount else {
            throw .invalid(field: "chunks")
        }
        return first..<first + count
    }

    /// Reads a list of runs: ascending, apart, none empty.
    fileprivate mutating func chunkRanges() throws(WireError) -> [Range<Int>] {
        let count = Int(try integer(UInt8.self))
        guard count <= WireLimits.haveRangeCount else {
            throw .tooLarge(field: "have ranges", value: count, limit: WireLimits.haveRangeCount)
        }
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(count)
        for _ in 0..<count {
            let first = Int(try integer(UInt16.self))
            let length = Int(try integer(UInt16.self))
            guard length > 0, first + length <= WireLimits.chunkCount, first > ranges.last?.upperBound ?? -1 else {
                throw .invalid(field: "have range")
            }
            ranges.append(first..<first + length)
        }
        return ranges
    }

    /// Reads a span of milliseconds; more than `limit` counts as `limit`.
    fileprivate mutating func milliseconds(limit: Duration) throws(WireError) -> Duration {
        min(.milliseconds(Int64(try integer(UInt32.self))), limit)
    }

    fileprivate mutating func segmentName() throws(WireError) -> SegmentName {
        let stream = StreamID(try bytes16())
        let epoch = try integer(UInt32.self)
        let rendition = RenditionKey(rawValue: try integer())
        guard let kind = SegmentPosition.Kind(rawValue: try integer()) else { throw .invalid(field: "position kind") }
        let position = SegmentPosition(
            kind: kind, section: try integer(), number: try integer(), byteOffset: try integer(), part: try integer())
        return SegmentName(stream: stream, epoch: epoch, rendition: rendition, position: position)
    }
}
