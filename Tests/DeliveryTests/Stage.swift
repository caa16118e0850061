import CoreModel
import Cryptography
import Delivery
import EventLoop
import Foundation
import Integrity
import TrackerCore
import TrackerServer

enum StageError: Error { case noTree, hung, failed(String) }

/// What a viewer of a test came to.
struct ViewerResult: Sendable {
    var figures: ViewerFigures
    var bytes: [[UInt8]]
    var error: SessionError?
    var log: [String]

    /// What was played and what should have been, as sizes where they differ.
    func differences(from segments: [[UInt8]]) -> [String] {
        (0..<max(bytes.count, segments.count)).compactMap { index in
            let (played, wanted) = (
                index < bytes.count ? bytes[index] : nil, index < segments.count ? segments[index] : nil
            )
            guard played != wanted else { return nil }
            return "segment \(index) has \(played?.count ?? -1) bytes and not \(wanted?.count ?? -1)"
        }
    }

    /// The lines of the log that say so.
    func lines(saying text: String) -> [String] { log.filter { $0.contains(text) } }
}

/// A player that keeps every byte it is given and counts time as ``ClockPlayer`` does.
final class RecordingPlayer: SessionSink {
    private let clock: ClockPlayer
    /// The bytes of each segment.
    private(set) var segments: [[UInt8]] = []
    /// The segments that are over.
    private(set) var endedCount = 0
    /// Called after each of them.
    var onSegment: (() -> Void)?
    /// Where the player stands, in place of where its clock does.
    var position: Duration?

    init(clock: ClockPlayer) { self.clock = clock }

    func session(_ session: ViewerSession, did event: SessionEvent) {
        switch event {
        case .segmentBegan: segments.append([])
        case .bytes(_, let bytes): segments[segments.count - 1] += bytes
        case .segmentEnded:
            endedCount += 1
            onSegment?()
        default: break
        }
        clock.session(session, did: event)
    }

    func playback(at now: MonotonicInstant) -> PlaybackReport {
        var report = clock.playback(at: now)
        if let position { report.position = position }
        return report
    }

    /// Forgets what was played.
    func clear() {
        segments = []
        endedCount = 0
    }
}

/// An origin, a tracker and viewers that share one loop, as the parts of a test. Confined to the loop.
final class Stage {
    private final class Viewer {
        var session: ViewerSession?
        var player: RecordingPlayer?
        var log: [String] = []
        var timer: LoopTimer?
    }

    let loop: EventLoop
    let title: TestTitle
    let origin: TestOrigin
    private let membership = RoleKey(
        role: .membership, key: TestTitle.suite.signingKey(seed: Bytes32(words: (9, 9, 9, 9))), suite: TestTitle.suite)
    private var tracker: TrackerServer?
    private(set) var trackerURL = "ws://127.0.0.1:9/"
    private var viewers: [Viewer] = []

    private init(loop: EventLoop, title: TestTitle) throws {
        self.loop = loop
        self.title = title
        origin = try TestOrigin(loop: loop)
        origin.files = title.files
        origin.files[TestTitle.cataloguePath] = TestOrigin.File(bytes: try title.catalogue(now: Self.now))
    }

    static var now: UnixTime { UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    /// Runs a test on a loop of its own until `script` calls its last argument; fails after 50 s.
    static func run<Result: Sendable>(
        _ title: TestTitle = TestTitle(),
        _ script: @escaping @Sendable (Stage, @escaping (Result) -> Void) throws -> Void
    ) async throws -> Result {
        let loop = try EventLoop.startThread(named: "stage")
        defer { loop.stop() }
        let result: Swift.Result<Result, StageError> = await withCheckedContinuation { continuation in
            loop.execute {
                var guardTimer: LoopTimer?
                do {
                    let stage = try Stage(loop: loop, title: title)
                    func end(_ result: Swift.Result<Result, StageError>) {
                        guard guardTimer != nil else { return }
                        guardTimer = nil
                        stage.close()
                        continuation.resume(returning: result)
                    }
                    guardTimer = LoopTimer(loop: loop) { end(.failure(.hung)) }
                    guardTimer?.arm(after: .seconds(50))
                    try script(stage) { end(.success($0)) }
                } catch {
                    guardTimer = nil
                    continuation.resume(returning: .failure(.failed("\(error)")))
                }
            }
        }
        return try result.get()
    }

    func startTracker(_ change: (inout TrackerConfiguration) -> Void = { _ in }) throws {
        var configuration = TrackerConfiguration()
        configuration.maximumMemberCount = 100
        change(&configuration)
        let server = try TrackerServer(
            loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0), configuration: configuration, key: membership)
        tracker = server
        trackerURL = "ws://127.0.0.1:\(server.localAddress?.port ?? 0)/"
    }

    func stopTracker() {
        tracker?.close()
        tracker = nil
    }

    /// Plays the title; the session goes on serving others after `onEnd`.
    func play(
        _ change: (inout SessionConfiguration) -> Void = { _ in }, onEnd: @escaping (ViewerResult) -> Void
    ) {
        var configuration = SessionConfiguration(url: origin.url + TestTitle.manifestPath)
        configuration.usesPeers = true
        configuration.trackerURLs = [trackerURL]
        configuration.trustedKeys = [title.authority.verificationKey]
        configuration.streamName = title.streamName
        change(&configuration)
        let viewer = Viewer()
        viewers.append(viewer)
        let clock = ClockPlayer(loop: loop) { [weak self, unowned viewer] error in
            // Not from inside the session's own call.
            guard let self else { return }
            viewer.timer = LoopTimer(loop: loop) { [unowned viewer] in
                guard let session = viewer.session, let player = viewer.player else { return }
                onEnd(
                    ViewerResult(figures: session.figures, bytes: player.segments, error: error, log: viewer.log))
            }
            viewer.timer?.arm(after: .zero)
        }
        let player = RecordingPlayer(clock: clock)
        let session = ViewerSession(configuration: configuration, loop: loop, sink: player)
        session.onLog = { [unowned viewer] _, domain, sentence in viewer.log.append("\(domain): \(sentence)") }
        viewer.player = player
        viewer.session = session
        session.start()
    }

    /// The session of a viewer, counted from 0.
    func session(_ viewer: Int) -> ViewerSession? { viewers[viewer].session }

    /// Lets a viewer's session go without a word.
    func release(_ viewer: Int) { viewers[viewer].session = nil }

    /// Goes back to the start with a viewer that has played to the end, and plays all of it again as fast as it comes.
    func replay(_ viewer: Int, onEnd: @escaping (ViewerResult) -> Void) {
        let viewer = viewers[viewer]
        guard let session = viewer.session, let player = viewer.player else { return }
        player.clear()
        player.position = .zero
        player.onSegment = { [unowned self, unowned viewer, unowned player] in
            player.position = .milliseconds(player.endedCount * title.segmentDuration)
            guard player.endedCount == title.segments.count else { return }
            player.onSegment = nil
            // Not from inside the session's own call.
            viewer.timer = LoopTimer(loop: loop) { [unowned viewer, unowned session, unowned player] in
                onEnd(
                    ViewerResult(
                        figures: session.figures, bytes: player.segments, error: session.failure, log: viewer.log))
            }
            viewer.timer?.arm(after: .zero)
        }
        session.seek(to: .zero)
    }

    private func close() {
        for viewer in viewers {
            viewer.session?.stop()
            viewer.timer = nil
        }
        viewers = []
        tracker?.close()
        tracker = nil
        origin.close()
    }
}
