internal import CoreModel
package import Scheduling

/// Says in words why a viewer went to the CDN and why it stalled, from its decision log alone.
///
/// Each sentence stands for one event of the log; whoever wants to see more finds its line there.
package struct Explanation: Sendable, Equatable {
    /// What a sentence is about.
    package enum Subject: Sendable, Equatable {
        /// The scheduler asked the CDN.
        case fetch(SegmentID, Reason)
        /// Playback stopped for want of data.
        case stall(SegmentID)
        /// Another bitrate than before was chosen.
        case choice(SegmentID, BitrateReason)
    }

    /// One event and its reason.
    package struct Sentence: Sendable, Equatable, CustomStringConvertible {
        /// The line of the log, from 1.
        package var line: Int
        /// The time since the log's start.
        package var time: Duration
        package var subject: Subject
        package var text: String

        package var description: String { "\(DecisionWords.seconds(time)): \(text)" }
    }

    /// The sentences, in the order of the log.
    package private(set) var sentences: [Sentence] = []

    /// Explains a log.
    package init(_ log: DecisionLog) {
        var picture = DecisionPicture()
        for (index, entry) in log.entries.enumerated() {
            if let (subject, text) = Self.sentence(on: entry, picture) {
                sentences.append(
                    Sentence(
                        line: DecisionLog.line(ofEntry: index), time: log.startsAt.duration(to: entry.time),
                        subject: subject, text: text))
            }
            picture.note(entry)
        }
    }

    private static func sentence(on entry: DecisionEntry, _ picture: DecisionPicture) -> (Subject, String)? {
        switch entry.event {
        case .output(.fetch(_, let id, let chunks, let reason)):
            return (.fetch(id, reason), fetch(id, chunks, reason, entry.time, picture))
        case .input(.playback(let position, false)) where picture.isPlaying:
            guard let id = picture.starved(at: position) else { return nil }
            return (.stall(id), stall(id, position, entry.time, picture))
        case .choice(let id, let decision, let bitsPerSecond):
            guard let words = choice(bitsPerSecond, decision, after: picture.chosenRate(ofTrack: id.track)) else {
                return nil
            }
            return (.choice(id, decision.reason), "from segment \(id) on \(words)")
        case .configuration, .input, .output: return nil
        }
    }

    /// What a choice changes; `nil` where it is what was chosen before.
    private static func choice(_ bitsPerSecond: Int, _ decision: BitrateDecision, after last: Int?) -> String? {
        guard bitsPerSecond != last else { return nil }
        let change = last.map { " in place of \(DecisionWords.rate($0))" } ?? ""
        return "\(DecisionWords.rate(bitsPerSecond))\(change) "
            + "(\(decision.reason.rawValue): \(DecisionWords.reason(decision.reason)))"
    }

    private static func fetch(
        _ id: SegmentID, _ chunks: Range<Int>?, _ reason: Reason, _ now: MonotonicInstant, _ picture: DecisionPicture
    ) -> String {
        let segment = picture.segment(id)
        let what = chunks.map { "\(DecisionWords.chunks($0)) of segment \(id)" } ?? "all of segment \(id)"
        let range = chunks ?? 0..<segment.chunkCount
        return "\(what) asked of the CDN (\(reason.rawValue): \(DecisionWords.reason(reason))); "
            + "\(need(id, now, picture)); \(peers(id, range, now, picture))"
    }

    private static func stall(
        _ id: SegmentID, _ position: Duration, _ now: MonotonicInstant, _ picture: DecisionPicture
    ) -> String {
        let segment = picture.segment(id)
        let there = segment.present.runLength(from: 0)
        let missing = max(0, segment.chunkCount - segment.present.count)
        let transfers = picture.transfers(of: id)
        let asked =
            transfers.isEmpty
            ? "nothing of it was asked of the CDN"
            : transfers.map {
                "\(DecisionWords.seconds($0.startedAt.duration(to: now))) ago the CDN was asked "
                    + "(\($0.reason.rawValue)) and had sent \($0.arrived) chunks"
            }.joined(separator: ", ")
        return "playback stopped at \(DecisionWords.seconds(position)) in segment \(id): \(there) of "
            + "\(segment.chunkCount) chunks were there from its start, \(missing) were missing; \(asked); "
            + "\(picture.requestedCount(of: id)) chunks were asked of peers; "
            + peers(id, there..<segment.chunkCount, now, picture)
    }

    /// How long the viewer could wait.
    private static func need(_ id: SegmentID, _ now: MonotonicInstant, _ picture: DecisionPicture) -> String {
        let segment = picture.segment(id)
        let left = segment.reached - picture.playhead(now)
        let state = picture.isPlaying ? "needed in" : "playback stands; needed in"
        return left > .zero ? "\(state) \(DecisionWords.seconds(left))" : "needed at once"
    }

    /// What the peers held of a run of chunks.
    private static func peers(
        _ id: SegmentID, _ chunks: Range<Int>, _ now: MonotonicInstant, _ picture: DecisionPicture
    ) -> String {
        guard !picture.peers.isEmpty else { return "there was no peer" }
        let uploaders = picture.peers.filter(\.uploads)
        guard !uploaders.isEmpty else { return "none of \(picture.peers.count) peers uploads" }
        var (all, some, expecting, resting) = (0, 0, 0, 0)
        for peer in uploaders {
            guard let holding = peer.holdings[id] else { continue }
            let wanted = chunks.count
            let verified = wanted - holding.verified.missing(in: chunks).reduce(0) { $0 + $1.count }
            let expected = wanted - holding.expected.missing(in: chunks).reduce(0) { $0 + $1.count }
            switch (verified, expected) {
            case (wanted, _): all += 1
            case (1..., _): some += 1
            case (_, 1...): expecting += 1
            case (_, _): break
            }
            if verified + expected > 0, peer.restsUntil > now { resting += 1 }
        }
        let parts = [(all, "held them all"), (some, "held a part"), (expecting, "expected some")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let head = parts.isEmpty ? "none of them" : parts.joined(separator: ", ")
        let patience = resting > 0 ? ", \(resting) of these asked for patience" : ""
        return "of \(picture.peers.count) peers \(head)\(patience)"
    }
}
