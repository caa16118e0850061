internal import CoreModel
internal import Scheduling

/// What the numbers of a decision log may be. A scheduler trusts its driver and may trap on what no driver says; a file
/// can say anything.
enum DecisionBounds {
    private static let tracks = 0..<1024
    private static let indices = 0..<1 << 24
    private static let chunks = 0...SegmentGeometry.maximumByteCount / SegmentGeometry.chunkByteCount
    private static let byteCounts = 0...1 << 40
    private static let memberLimit = 4096
    /// A timeline that counts from 1970 has positions of some 10⁹ seconds.
    private static let spans = Duration.seconds(-10_000_000_000)...(.seconds(10_000_000_000))

    /// The first value that is out of range, in words.
    static func violation(in entry: DecisionEntry) -> String? {
        switch entry.event {
        case .configuration(let configuration): violation(in: configuration)
        case .input(let input): violation(in: input)
        // Only compared.
        case .output: nil
        case .choice(let id, _, let bitsPerSecond):
            of(id) ?? ((0...1 << 40).contains(bitsPerSecond) ? nil : "the bitrate")
        }
    }

    private static func violation(in configuration: SchedulerConfiguration) -> String? {
        let spans: [(String, Duration)] = [
            ("peerWindow", configuration.peerWindow), ("frontWindow", configuration.frontWindow),
            ("aloneWindow", configuration.aloneWindow), ("handoverMargin", configuration.handoverMargin),
            ("startupSpan", configuration.startupSpan), ("startupMargin", configuration.startupMargin),
            ("handoverJitter", configuration.handoverJitter),
            ("settleTime", configuration.settleTime), ("backupDelay", configuration.backupDelay),
            ("electionSpan", configuration.electionSpan), ("claimLife", configuration.claimLife),
            ("peerStall", configuration.peerStall), ("peerQueue", configuration.peerQueue),
            ("unprovenCDNLatency", configuration.unprovenCDNLatency), ("passInterval", configuration.passInterval),
            ("segmentPatience", configuration.segmentPatience), ("maximumRetryDelay", configuration.maximumRetryDelay),
        ]
        let counts: [(String, Int)] = [
            ("windowByteCount", configuration.windowByteCount), ("startupStripes", configuration.startupStripes),
            ("maximumTransfers", configuration.maximumTransfers),
            ("maximumUrgentTransfers", configuration.maximumUrgentTransfers),
            ("backupRanks", configuration.backupRanks), ("maximumPeerStalls", configuration.maximumPeerStalls),
        ]
        return spans.first { !(.zero...Self.spans.upperBound).contains($0.1) }?.0
            ?? counts.first { !(0...1 << 40).contains($0.1) }?.0
    }

    private static func violation(in input: SchedulerInput) -> String? {
        switch input {
        case .segments(let track, let descriptions):
            if !tracks.contains(track) { return "the track" }
            return descriptions.lazy.compactMap(of).first
        case .rendition(let id, let description): return of(id) ?? of(description)
        case .record(let id, _, let byteCount, let draw):
            return of(id) ?? of(byteCount) ?? ((0...1).contains(draw) ? nil : "the draw")
        case .noRecord(let id), .completed(let id), .evicted(let id): return of(id)
        case .size(let id, let byteCount): return of(id) ?? of(byteCount)
        case .playback(let position, _), .seek(let position): return of(position)
        case .swarm(.joined(let size)): return (0...1 << 32).contains(size) ? nil : "the swarm's size"
        case .swarm(.off), .swarm(.joining): return nil
        case .front(let front):
            guard let front else { return nil }
            return of(front.leadPosition) ?? (front.members.count <= memberLimit ? nil : "the number of members")
        case .peerJoined, .peerLeft, .peerChoked: return nil
        case .peerHolds(_, let id, let holding): return of(id) ?? of(holding.verified) ?? of(holding.expected)
        case .claim(let id, _, let draw, let waited, let owners):
            return of(id) ?? ((0...1).contains(draw) ? nil : "the draw") ?? of(waited)
                ?? (owners.count <= memberLimit ? nil : "the number of owners")
        case .chunkArrived(_, let chunk, let byteCount):
            return (chunks.contains(chunk) ? nil : "the chunk") ?? of(byteCount)
        case .cdnReceived(_, let byteCount): return of(byteCount)
        case .cdnArrived(_, let chunks): return of(chunks)
        case .cdnResponded(_, let latency): return of(latency)
        case .cdnIgnoredRange(_, let first): return first.magnitude <= 1 << 40 ? nil : "the first byte"
        case .cdnFinished, .cdnFailed, .timer: return nil
        case .rejected(_, let chunks, _, let retryAfter): return of(chunks) ?? of(retryAfter)
        case .present(let id, let present): return of(id) ?? of(present)
        case .replaced(let id, let present, let byteCount): return of(id) ?? of(present) ?? byteCount.flatMap(of)
        }
    }

    private static func of(_ description: SegmentDescription) -> String? {
        let isRight =
            spans.contains(description.start) && (.zero...spans.upperBound).contains(description.duration)
            && byteCounts.contains(description.estimatedByteCount)
        return isRight ? nil : "a segment's description"
    }

    private static func of(_ id: SegmentID) -> String? {
        tracks.contains(id.track) && indices.contains(id.index) ? nil : "the segment"
    }

    private static func of(_ byteCount: Int) -> String? { byteCounts.contains(byteCount) ? nil : "the number of bytes" }

    private static func of(_ span: Duration) -> String? { spans.contains(span) ? nil : "the time" }

    private static func of(_ range: Range<Int>) -> String? {
        chunks.contains(range.lowerBound) && chunks.contains(range.upperBound) ? nil : "the range of chunks"
    }

    private static func of(_ set: ChunkSet) -> String? {
        set.ranges.last.map { chunks.contains($0.upperBound) } ?? true ? nil : "the set of chunks"
    }
}
