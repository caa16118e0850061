import CoreModel
import Testing

@testable import Manifest

/// Runs a follower in virtual time against a server that is a function of time.
struct LiveStage {
    /// What a server says.
    enum Reply {
        case text(String)
        case answer(LiveAnswer)
        case gone
        /// The answer comes so much later.
        case after(Duration, LiveAnswer)
    }

    /// A request that the follower made.
    struct Load {
        var seconds: Double
        var url: String
        var purpose: LiveRequest.Purpose
    }

    var follower: LiveFollower
    var now: MonotonicInstant
    var events: [LiveEvent] = []
    var loads: [Load] = []
    private var pending: [(at: MonotonicInstant, id: LiveRequest.ID, reply: Reply, url: String)] = []

    /// The machine's clock at the origin, in Unix seconds.
    static let wallClock: Int64 = 1_700_000_000
    static let manifestURL = "http://h/live/m"

    init(
        _ text: String, url: String = manifestURL, following: [Rendition.ID]? = nil,
        configuration: LiveConfiguration = LiveConfiguration(), wallClock: Int64 = wallClock, date: UnixTime? = nil
    ) throws {
        now = MonotonicInstant(nanoseconds: 0)
        let presentation = try Presentation.parse(Array(text.utf8), url: url)
        follower = LiveFollower(
            presentation, following: following ?? presentation.renditions.map(\.id), configuration: configuration,
            loadedAt: now, date: date, wallClock: UnixTime(seconds: wallClock), now: now)
    }

    /// Seconds since the beginning.
    var seconds: Double { Double(now.nanoseconds) / 1e9 }

    /// Runs for a time; the server is asked with the follower's request and the seconds since the beginning.
    mutating func run(_ duration: Duration, limit: Int = 10_000, server: (LiveRequest, Double) -> Reply) {
        let end = now.advanced(by: duration)
        var steps = 0
        while steps < limit {
            steps += 1
            switch follower.poll(now: now) {
            case .event(let event): events.append(event)
            case .fetch(let request):
                loads.append(Load(seconds: seconds, url: request.url, purpose: request.purpose))
                let reply = server(request, seconds)
                var at = now
                if case .after(let delay, _) = reply { at = now.advanced(by: delay) }
                pending.append((at, request.id, reply, request.url))
            case .wait(let until):
                pending.sort { $0.at < $1.at }
                let next = [until, pending.first?.at].compactMap { $0 }.min() ?? .distantFuture
                guard next <= end else {
                    now = max(now, end)
                    return
                }
                now = max(now, next)
                if let first = pending.first, first.at <= now {
                    pending.removeFirst()
                    deliver(first.id, first.reply, first.url)
                } else {
                    follower.handle(.timer, now: now)
                }
            }
        }
        Issue.record("the follower does not come to rest: \(loads.count) loads")
    }

    private mutating func deliver(_ id: LiveRequest.ID, _ reply: Reply, _ url: String) {
        switch reply {
        case .text(let text):
            follower.handle(.answer(id, LiveAnswer(bytes: Array(text.utf8), finalURL: url)), now: now)
        case .answer(let answer), .after(_, let answer): follower.handle(.answer(id, answer), now: now)
        case .gone: follower.handle(.failed(id, isGone: true), now: now)
        }
    }

    /// The segments of a rendition.
    func segments(_ id: Rendition.ID = "main") -> [SegmentReference] {
        follower.timeline(of: id).map { Array($0.segments) } ?? []
    }

    /// A live media playlist of two-second segments.
    static func playlist(
        _ numbers: ClosedRange<Int>, sequence: Int? = nil, name: (Int) -> String = { "s\($0).ts" }, head: String = "",
        target: Int = 2, before: (Int) -> String = { _ in "" }, tail: String = ""
    ) -> String {
        let list = numbers.map { "\(before($0))#EXTINF:\(target),\n\(name($0))\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-MEDIA-SEQUENCE:\(sequence ?? numbers.lowerBound)\n"
            + head + list + tail
    }
}
