internal import CoreModel

extension Frame {
    /// The frame's bytes: type, length and body.
    ///
    /// - Precondition: the frame keeps to ``WireLimits``; its maker is this project.
    public var encoded: [UInt8] {
        var frame = WireWriter(capacity: WireLimits.frameHeaderByteCount + 64)
        frame.integer(type.rawValue)
        frame.integer(UInt16(0))
        writeBody(to: &frame)
        let count = frame.byteCount - WireLimits.frameHeaderByteCount
        precondition(count <= WireLimits.bodyByteCount, "a \(type) frame of \(count) bytes")
        frame.replace(at: 1, with: UInt16(count))
        return frame.bytes
    }

    private func writeBody(to body: inout WireWriter) {
        switch self {
        case .hello(let hello):
            body.integer(hello.lowestVersion)
            body.integer(hello.highestVersion)
            body.integer(hello.flags.rawValue)
            body.integer(hello.listenPort)
            body.integer(hello.queueLimit)
            body.prefixed16(hello.certificate)
        case .have(let entries):
            body.integer(UInt16(entries.count))
            for entry in entries { entry.write(to: &body) }
        case .claim(let claim):
            body.integer(claim.hopCount)
            body.append(claim.claim)
        case .recordRequest(let id, let name):
            body.integer(id.rawValue)
            name.write(to: &body)
        case .record(let id, let bytes):
            body.integer(id.rawValue)
            body.append(bytes)
        case .leaves(let leaves):
            body.append(leaves.root)
            body.integer(UInt16(leaves.stripe))
            body.integer(UInt8(leaves.leaves.count))
            for leaf in leaves.leaves { body.append(leaf) }
        case .request(let request):
            body.integer(request.id.rawValue)
            body.append(request.root)
            body.integer(UInt16(request.chunks.lowerBound))
            body.integer(UInt8(request.chunks.count))
            body.milliseconds(request.timeLeft)
            body.integer(UInt8(request.wantsLeaves ? 1 : 0))
        case .data(let data):
            body.integer(data.id.rawValue)
            body.integer(UInt16(data.chunk))
            body.append(data.payload)
        case .reject(let reject):
            body.integer(reject.id.rawValue)
            body.integer(UInt16(reject.chunks.lowerBound))
            body.integer(UInt8(reject.chunks.count))
            body.integer(reject.reason.rawValue)
            body.milliseconds(reject.retryAfter)
        case .cancel(let id): body.integer(id.rawValue)
        case .choke(let retryAfter): body.milliseconds(retryAfter)
        case .unchoke: break
        case .peers(let peers):
            body.integer(UInt8(peers.count))
            for peer in peers {
                body.append(peer.address.host)
                body.integer(peer.address.port)
                body.prefixed16(peer.certificate)
            }
        case .ping(let token), .pong(let token): body.integer(token)
        case .bye(let code): body.integer(code.rawValue)
        }
    }
}

extension HaveEntry {
    fileprivate func write(to body: inout WireWriter) {
        body.append(root)
        switch change {
        case .lost: Self.writeLost(to: &body)
        case .complete: Self.writeComplete(to: &body)
        case .replace(let verified, let expected):
            body.integer(UInt8(2))
            Self.write(verified, to: &body)
            Self.write(expected, to: &body)
        case .add(let verified, let expected):
            body.integer(UInt8(3))
            Self.write(verified, to: &body)
            Self.write(expected, to: &body)
        }
    }

    // What comes behind an entry's root, for those who have no entry.

    static func writeLost(to body: inout WireWriter) { body.integer(UInt8(0)) }

    static func writeComplete(to body: inout WireWriter) { body.integer(UInt8(1)) }

    /// Sets of chunks in place of what was said before, as far as an entry can say it.
    static func writeReplacing(_ verified: ChunkSet, _ expected: ChunkSet, to body: inout WireWriter) {
        body.integer(UInt8(2))
        write(verified, to: &body)
        write(expected, to: &body)
    }

    private static func write(_ ranges: [Range<Int>], to body: inout WireWriter) {
        body.integer(UInt8(ranges.count))
        for range in ranges { write(range, to: &body) }
    }

    private static func write(_ chunks: ChunkSet, to body: inout WireWriter) {
        let place = body.byteCount
        body.integer(UInt8(0))
        var count: UInt8 = 0
        var chunk = 0
        while count < WireLimits.haveRangeCount, let run = chunks.nextRun(from: chunk) {
            write(run, to: &body)
            chunk = run.upperBound
            count += 1
        }
        body.replace(at: place, with: count)
    }

    private static func write(_ range: Range<Int>, to body: inout WireWriter) {
        // Two numbers of 16 bits.
        body.integer(UInt32(UInt16(range.lowerBound)) << 16 | UInt32(UInt16(range.count)))
    }
}

extension SegmentName {
    /// Fifty-five bytes: stream, epoch, rendition, kind, section, number, byte offset, part.
    fileprivate func write(to body: inout WireWriter) {
        body.append(stream.value)
        body.integer(epoch)
        body.integer(rendition.rawValue)
        body.integer(position.kind.rawValue)
        body.integer(position.section)
        body.integer(position.number)
        body.integer(position.byteOffset)
        body.integer(position.part)
    }
}

extension WireWriter {
    /// Appends a span in whole milliseconds, rounded up so that a short one does not become none, in 32 bits.
    fileprivate mutating func milliseconds(_ span: Duration) {
        let nanoseconds = max(0, span.nanosecondsClamped)
        let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)
        integer(UInt32(clamping: milliseconds))
    }
}
