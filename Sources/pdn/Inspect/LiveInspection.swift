import CommandLineSupport
import CoreModel
import Delivery
import EventLoop
import HTTPTransfer
import Manifest

/// `pdn inspect --live N`: follows a live manifest and shows what each refresh brings.
final class LiveInspection: @unchecked Sendable {  // Made and used on the loop; what ends it carries values only.
    /// How it ended.
    struct Outcome: Sendable {
        var refreshes: [JSONValue]
        var isReady: Bool
    }

    private let loop: EventLoop
    private let client: HTTPClient
    private let limit: Int
    private let printsLines: Bool
    private let startedAt: MonotonicInstant
    private var loader: LiveLoader?
    private var timer: LoopTimer?
    private var showTimer: LoopTimer?
    private var refreshes: [JSONValue] = []
    private var grown: [(id: Rendition.ID, count: Int)] = []
    private var notes: [String] = []
    private var requestCount = 0
    private var onEnd: ((Outcome) -> Void)?

    /// How long may pass without anything to show.
    private static let patience: Duration = .seconds(60)

    private init(loop: EventLoop, limit: Int, printsLines: Bool, onEnd: @escaping (Outcome) -> Void) {
        self.loop = loop
        self.limit = limit
        self.printsLines = printsLines
        self.onEnd = onEnd
        client = HTTPClient(loop: loop)
        startedAt = loop.now
    }

    /// Follows the best variant of a presentation, whose playlists are loaded, for `limit` refreshes that brought something.
    static func run(
        _ presentation: Presentation, limit: Int, printsLines: Bool, loop: EventLoop
    ) async -> Outcome {
        await withCheckedContinuation { continuation in
            loop.execute {
                let inspection = LiveInspection(loop: loop, limit: limit, printsLines: printsLines) {
                    continuation.resume(returning: $0)
                }
                inspection.start(presentation)
            }
        }
    }

    /// The renditions to follow: those of the last variant that is wholly known.
    static func renditions(of presentation: Presentation) -> [Rendition.ID] {
        let variant = presentation.variants.last
        let ids = [variant?.video, variant?.audio].compactMap { $0 }
        return ids.isEmpty ? presentation.renditions.prefix(1).map(\.id) : ids
    }

    private func start(_ presentation: Presentation) {
        let follower = LiveFollower(
            presentation, following: Self.renditions(of: presentation), loadedAt: loop.now, wallClock: WallClock.now,
            now: loop.now)
        // The closures keep the inspection alive until one of them ends it.
        loader = LiveLoader(
            follower, client: client, loop: loop,
            onBytes: { [self] _, isRequest in requestCount += isRequest ? 1 : 0 },
            onEvent: { [self] event in take(event) })
        timer = LoopTimer(loop: loop) { [self] in end() }
        timer?.arm(after: Self.patience)
        showTimer = LoopTimer(loop: loop) { [self] in show() }
        loader?.start()
    }

    private func take(_ event: LiveEvent) {
        switch event {
        case .ready: break
        case .grown(let id, let count):
            grown.append((id, count))
            // One refresh of an MPD brings something to several renditions.
            showTimer?.arm(after: .milliseconds(1))
        case .restarted(let id, let epoch): notes.append("\(id): the encoder began again (epoch \(epoch))")
        case .jumped(let id, let missing): notes.append("\(id): \(missing) segments are missing")
        case .ignoredOlder(let id): notes.append("\(id): an older state was left aside")
        case .stale: notes.append("nothing new comes")
        case .recovered: notes.append("something new came again")
        case .problem(let problem): notes.append(problem)
        case .ended:
            notes.append("the presentation has ended")
            show()
            end()
        }
    }

    /// One refresh: what it brought, and where the presentation stands.
    private func show() {
        guard onEnd != nil, let follower = loader?.follower else { return }
        let seconds = startedAt.duration(to: loop.now).inSeconds
        var members: [(name: String, value: JSONValue)] = [
            ("at", .number((seconds * 1_000).rounded() / 1_000)), ("requests", .integer(requestCount)),
            (
                "renditions",
                .array(
                    grown.map { id, count in
                        [
                            "id": .string(id), "new_segments": .integer(count),
                            "last": JSONValue(follower.timeline(of: id)?.segments.last?.position.number),
                            "epoch": JSONValue(
                                UInt64(follower.timeline(of: id)?.segments.last?.epoch ?? 0)),
                        ]
                    })
            ),
        ]
        var line = "refresh \(refreshes.count + 1) at \(Self.text(seconds))"
        for (id, count) in grown { line += ", \(id) +\(count)" }
        if let window = follower.window(at: loop.now) {
            let latency = follower.targetLatency.inSeconds
            members.append(("window", [JSONValue(window.start), JSONValue(window.end)]))
            members.append(("edge", .number(window.edge.seconds)))
            members.append(("target_latency", .number(latency)))
            line += ", window \(Self.text(window.start.seconds)) to \(Self.text(window.end.seconds))"
            line += ", edge \(Self.text(window.edge.seconds)), latency to play at \(Self.text(latency))"
        }
        members.append(("notes", .array(notes.map { .string($0) })))
        refreshes.append(.object(members))
        if printsLines {
            Terminal.print(line)
            for note in notes { Terminal.print("  \(note)") }
        }
        (grown, notes) = ([], [])
        timer?.arm(after: Self.patience)
        if refreshes.count >= limit { end() }
    }

    private func end() {
        guard let notify = onEnd else { return }
        onEnd = nil
        for note in notes where printsLines { Terminal.print("  \(note)") }
        let isReady = loader?.follower.isReady ?? false
        // Not from inside the loader's own call.
        timer = LoopTimer(loop: loop) { [self] in
            loader?.stop()
            (loader, timer, showTimer) = (nil, nil, nil)
            client.close()
            notify(Outcome(refreshes: refreshes, isReady: isReady))
        }
        timer?.arm(after: .zero)
    }

    private static func text(_ seconds: Double) -> String {
        let tenths = Int(min(max(seconds, -1e15), 1e15) * 10)
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10) s"
    }
}
