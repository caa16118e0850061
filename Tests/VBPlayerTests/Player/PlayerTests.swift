import Foundation
import Glibc
import MediaEngine
import Synchronization
import TestSupport
import Testing
@testable import VBPlayer

/// A player in front of a real CDN. Serial: each test plays in real time.
@MainActor
@Suite(.serialized, .enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"), .timeLimit(.minutes(5)))
struct PlayerTests {
    nonisolated static let addresses = [
        "hls-fmp4/master.m3u8", "hls-ts/master.m3u8", "dash/manifest.mpd", "hls-fmp4/media.m3u8",
    ]

    private func readyPlayer(_ cdn: TestCDN, _ path: String = "dash/manifest.mpd") async throws -> VBPlayer {
        let player = VBPlayer(cdn: cdn.url(path))
        try #require(await eventually { player.status != .unknown })
        try #require(player.status == .readyToPlay, "\(player.error?.localizedDescription ?? "")")
        return player
    }

    private func time(_ seconds: Double) -> CMTime { CMTime(seconds: seconds, preferredTimescale: 1000) }

    // MARK: - From start to end

    final class Listener: VBPlayerDelegate {
        var entered = 0
        var exited = 0
        var finished = 0
        var rateAtEnd: Float = -1
        func playerDidEnterStall(_ player: VBPlayer) {
            dispatchPrecondition(condition: .onQueue(.main))
            entered += 1
        }
        func playerDidExitStall(_ player: VBPlayer) {
            dispatchPrecondition(condition: .onQueue(.main))
            exited += 1
        }
        func playerDidFinishPlaying(_ player: VBPlayer) {
            dispatchPrecondition(condition: .onQueue(.main))
            finished += 1
            rateAtEnd = player.rate
        }
    }

    @Test(arguments: addresses) func aStreamPlaysToItsEnd(_ path: String) async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url(path))
        let listener = Listener()
        player.delegate = listener
        var posted: [ObjectIdentifier] = []
        let notification = NotificationCenter.default.addObserver(
            forName: .VBPlayerDidFinishPlaying, object: player, queue: nil
        ) { notification in
            dispatchPrecondition(condition: .onQueue(.main))
            let object = (notification.object as? VBPlayer).map(ObjectIdentifier.init)
            MainActor.assumeIsolated { posted += object.map { [$0] } ?? [] }
        }
        var statuses: [VBPlayerStatus] = []
        let observation = player.observe(\.status, options: [.initial, .new]) { object, change in
            dispatchPrecondition(condition: .onQueue(.main))
            statuses += change.newValue.map { [$0] } ?? []
        }
        #expect(player.status == .unknown && player.duration.isIndefinite && player.currentTime == .zero)
        player.play()
        #expect(player.rate == 1)
        try #require(await eventually { player.status != .unknown })
        #expect(player.status == .readyToPlay, "\(player.error?.localizedDescription ?? "")")
        #expect(abs(player.duration.seconds - TestCDN.duration) < 0.2)
        #expect(await eventually { listener.finished > 0 })
        await settle(100)
        #expect(listener.finished == 1 && posted == [ObjectIdentifier(player)] && listener.rateAtEnd == 0)
        #expect(listener.entered == listener.exited)
        #expect(player.rate == 0 && abs(player.currentTime.seconds - player.duration.seconds) < 0.2)
        #expect(statuses == [.unknown, .readyToPlay] && player.error == nil)
        player.play()
        #expect(player.rate == 0)
        observation.invalidate()
        NotificationCenter.default.removeObserver(notification)
    }

    @Test func rateIsPlayAndPause() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn)
        var refusals: [Int] = []
        let notification = NotificationCenter.default.addObserver(
            forName: .VBPlayerDidRefuseCommand, object: player, queue: nil
        ) { notification in
            let code = (notification.userInfo?[VBPlayerErrorKey] as? NSError)?.code
            MainActor.assumeIsolated { refusals += code.map { [$0] } ?? [] }
        }
        player.rate = 1
        #expect(player.rate == 1)
        #expect(await eventually { player.currentTime.seconds > 0.1 })
        player.rate = 2
        player.rate = -1
        #expect(player.rate == 1)
        player.rate = 0
        let stopped = player.currentTime
        await settle(150)
        #expect(player.rate == 0 && player.currentTime == stopped)
        #expect(refusals == [VBErrorCode.unsupportedRate.rawValue, VBErrorCode.unsupportedRate.rawValue])
        NotificationCenter.default.removeObserver(notification)
    }

    @Test func aSlowCDNStallsAndRecovers() async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url("slow/dash/manifest.mpd"))
        let listener = Listener()
        player.delegate = listener
        var posted: [Notification.Name: Int] = [:]
        let names = [Notification.Name.VBPlayerDidEnterStall, .VBPlayerDidExitStall]
        let notifications = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: player, queue: nil) { notification in
                dispatchPrecondition(condition: .onQueue(.main))
                let name = notification.name
                MainActor.assumeIsolated { posted[name, default: 0] += 1 }
            }
        }
        player.play()
        #expect(await eventually(within: 120) { listener.finished > 0 || player.status == .failed })
        #expect(listener.finished == 1, "\(player.error?.localizedDescription ?? "")")
        #expect(listener.entered > 0 && listener.entered == listener.exited)
        #expect(posted == [.VBPlayerDidEnterStall: listener.entered, .VBPlayerDidExitStall: listener.exited])
        for notification in notifications { NotificationCenter.default.removeObserver(notification) }
    }

    // MARK: - Seeks

    @Test func completionIsCalledOnceForEachOfManySeeks() async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url("hls-fmp4/master.m3u8"))
        var calls = [Int](repeating: 0, count: 30)
        for index in calls.indices {
            player.seek(to: time(Double(index % 4)), tolerance: .zero) {
                dispatchPrecondition(condition: .onQueue(.main))
                calls[index] += 1
            }
            #expect(calls[index] == 0)
            if index == 9 { try #require(await eventually { player.status != .unknown }) }
            if index % 7 == 0 { await settle(20) }
        }
        #expect(await eventually { calls.allSatisfy { $0 == 1 } })
        await settle(200)
        #expect(calls.allSatisfy { $0 == 1 })
        #expect(player.currentTime == time(1))
    }

    @Test func exactSeeksLandOnTheFrameOnScreen() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn, "hls-fmp4/master.m3u8")
        let layer = VBDisplayLayer()
        player.setDisplayLayer(layer)
        for seconds in [2.5, 0.019, 3.99, 1.0, 0.999] {
            await player.seek(to: time(seconds), tolerance: .zero)
            let frame = try #require(layer.frames.newest)
            #expect(frame.time.seconds <= seconds && seconds < (frame.time + frame.duration).seconds)
            #expect(frame.time == time((seconds * 25 + 1e-6).rounded(.down) / 25))
        }
    }

    @Test func tolerantSeeksLandBefore() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn, "dash/manifest.mpd")
        await player.seek(to: time(2.5))
        #expect(player.currentTime.seconds <= 2.5 && player.currentTime.seconds >= 2)
        await player.seek(to: time(2.5), tolerance: .positiveInfinity)
        #expect(player.currentTime.seconds <= 2.5)
        await player.seek(to: time(3.3), tolerance: time(0.1))
        #expect(player.currentTime.seconds <= 3.3 && player.currentTime.seconds >= 3.2)
        await player.seek(to: .positiveInfinity, tolerance: .zero)
        #expect(abs(player.currentTime.seconds - TestCDN.duration) < 0.1)
        await player.seek(to: time(-9), tolerance: .zero)
        #expect(player.currentTime == .zero)
        await player.seek(to: .invalid)
        #expect(player.currentTime == .zero)
    }

    @Test func playingGoesOnAfterASeekAndAfterTheEnd() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn)
        let listener = Listener()
        player.delegate = listener
        player.play()
        await player.seek(to: time(3.6), tolerance: .zero)
        #expect(player.rate == 1)
        #expect(await eventually { listener.finished == 1 })
        await player.seek(to: time(3.5), tolerance: .zero)
        #expect(player.rate == 0)
        player.play()
        #expect(await eventually { listener.finished == 2 })
        // Nor need the seek be over when the command comes.
        player.seek(to: time(3.5), tolerance: .zero) {}
        player.play()
        #expect(await eventually { listener.finished == 3 })
    }

    @Test func seekBeforeReadyIsRemembered() async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url("hls-ts/master.m3u8"))
        var isDone = false
        player.seek(to: time(2), tolerance: .zero) { isDone = true }
        #expect(await eventually { isDone })
        #expect(player.status == .readyToPlay && player.currentTime == time(2))
    }

    // MARK: - Notifications

    /// The main queue of a test process is not drained by its main thread, as in a program with an asynchronous `main`.
    @Test func observersOnTheMainOperationQueueAreToldOnIt() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn)
        var names: [Notification.Name] = []
        let observed: [Notification.Name] = [.VBPlayerDidRefuseCommand, .VBPlayerDidFinishPlaying]
        let tokens = observed.map { name in
            NotificationCenter.default.addObserver(forName: name, object: player, queue: .main) { notification in
                let name = notification.name
                MainActor.assumeIsolated { names.append(name) }
            }
        }
        player.rate = 2
        #expect(await eventually { names == [.VBPlayerDidRefuseCommand] })
        await player.seek(to: time(3.5), tolerance: .zero)
        player.play()
        #expect(await eventually { names == observed })
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    // MARK: - Time observers

    @Test func periodicObserversFollowMediaTime() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn, "long/manifest.mpd")
        var times: [Double] = []
        let token = player.addPeriodicTimeObserver(forInterval: time(0.25), queue: nil) { [unowned player] in
            dispatchPrecondition(condition: .onQueue(.main))
            times.append(player.currentTime.seconds)
        }
        await settle(100)
        #expect(times.isEmpty)
        player.play()
        #expect(await eventually { times.last ?? 0 > 1.2 })
        player.pause()
        await settle()
        let count = times.count
        // The start, at most a call for each quarter, none twice, and the stop; a busy queue leaves quarters out.
        #expect(times == times.sorted() && count >= 3, "\(times)")
        let quarters = times.dropFirst().dropLast().map { ($0 * 4 + 1e-6).rounded(.down) }
        #expect(quarters.allSatisfy { $0 >= 1 } && Set(quarters).count == quarters.count, "\(times)")
        await settle(300)
        #expect(times.count == count)
        await player.seek(to: time(3), tolerance: .zero)
        await settle()
        #expect(times.count == count + 1 && times.last == 3)
        player.removeTimeObserver(token)
    }

    @Test func noBlockStartsAfterRemoval() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn)
        var removed = 0
        var inside = 0
        var dropped = 0
        var own: Any?
        let first = player.addPeriodicTimeObserver(forInterval: time(0.05), queue: .main) { removed += 1 }
        own = player.addPeriodicTimeObserver(forInterval: time(0.05), queue: nil) {
            inside += 1
            player.removeTimeObserver(own ?? 0)
        }
        var forgotten: Any? = player.addPeriodicTimeObserver(forInterval: time(0.05), queue: nil) { dropped += 1 }
        player.play()
        #expect(await eventually { removed > 2 && dropped > 2 })
        player.removeTimeObserver(first)
        forgotten = nil
        let (removedCount, droppedCount) = (removed, dropped)
        await settle(300)
        #expect(removed == removedCount && dropped == droppedCount && inside == 1)
        player.removeTimeObserver(first)
        player.removeTimeObserver("no observer")
        withExtendedLifetime(forgotten) {}
    }

    @Test func observersCanHaveAQueueOfTheirOwn() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn)
        let queue = DispatchQueue(label: "observer")
        let count = Counter()
        let token = Self.count(count, of: player, on: queue)
        player.play()
        #expect(await eventually { count.value > 3 })
        player.removeTimeObserver(token)
    }

    final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    /// A block that is made off the main actor isn't bound to it.
    private nonisolated static func count(_ counter: Counter, of player: VBPlayer, on queue: DispatchQueue) -> Any {
        player.addPeriodicTimeObserver(forInterval: CMTimeMake(value: 1, timescale: 10), queue: queue) {
            dispatchPrecondition(condition: .onQueue(queue))
            counter.add()
        }
    }

    // MARK: - Pictures

    @Test func layersGetPicturesAndCanBeSwapped() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn)
        let first = VBDisplayLayer()
        var ready: [Bool] = []
        let observation = first.observe(\.isReadyForDisplay, options: [.new]) {
            ready += $1.newValue.map { [$0] } ?? []
        }
        player.setDisplayLayer(first)
        #expect(await eventually { first.isReadyForDisplay })
        #expect(first.bounds == CGRect(x: 0, y: 0, width: 320, height: 180) && first.displayRect == first.bounds)
        first.bounds = CGRect(x: 0, y: 0, width: 320, height: 320)
        #expect(first.displayRect == CGRect(x: 0, y: 70, width: 320, height: 180))
        let frame = try #require(first.frames.newest)
        #expect(frame.width == 320 && frame.height == 180 && frame.pixelFormat == .yuv420 && frame.planeCount == 3)
        let plane = frame.withPlane(1) { ($0.rowByteCount, $0.rowCount, $0.stride >= 160) }
        #expect(plane?.0 == 160 && plane?.1 == 90 && plane?.2 == true && frame.withPlane(3) { _ in } == nil)
        let second = VBDisplayLayer()
        let count = Mutex(0)
        second.frames.setHandler { _ in
            dispatchPrecondition(condition: .notOnQueue(.main))
            count.withLock { $0 += 1 }
        }
        player.play()
        #expect(await eventually { first.frames.newest?.time ?? .zero > .zero })
        second.frames.setHandler(nil)
        player.setDisplayLayer(second)
        // From the start again, however much of the stream went by meanwhile.
        await player.seek(to: .zero)
        player.play()
        #expect(second.isReadyForDisplay && !first.isReadyForDisplay && first.frames.newest == nil)
        second.frames.setHandler { _ in
            dispatchPrecondition(condition: .notOnQueue(.main))
            count.withLock { $0 += 1 }
        }
        #expect(await eventually { count.withLock { $0 } > 3 })
        await settle()
        #expect(ready == [true, false] && first.frames.newest == nil)
        player.setDisplayLayer(nil)
        #expect(!second.isReadyForDisplay)
        observation.invalidate()
    }

    @Test func aLayerMayComeBeforeThePictures() async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url("hls-ts/master.m3u8"))
        let layer = VBDisplayLayer()
        player.setDisplayLayer(layer)
        #expect(!layer.isReadyForDisplay)
        #expect(await eventually { layer.isReadyForDisplay && player.status == .readyToPlay })
    }

    @Test func aLayerShowsWhoeverTookItLast() async throws {
        let cdn = try await TestCDN()
        var first: VBPlayer? = try await readyPlayer(cdn)
        let second = try await readyPlayer(cdn)
        let layer = VBDisplayLayer()
        first?.setDisplayLayer(layer)
        second.setDisplayLayer(layer)
        #expect(layer.isReadyForDisplay)
        await second.seek(to: time(2), tolerance: .zero)
        first?.play()
        #expect(await eventually { first?.currentTime ?? .zero > time(0.2) })
        #expect(layer.frames.newest?.time == time(2))
        first = nil
        await settle()
        #expect(layer.isReadyForDisplay && layer.frames.newest?.time == time(2))
    }

    @Test func theDelegateIsHeldWeaklyAndCanBeExchanged() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn)
        var first: Listener? = Listener()
        let second = Listener()
        player.delegate = first
        weak let released = first
        first = nil
        #expect(released == nil && player.delegate == nil)
        player.delegate = second
        await player.seek(to: time(3.8), tolerance: .zero)
        player.play()
        #expect(await eventually { second.finished == 1 })
    }

    @Test func whatAPlayerGaveDoesNotHoldIt() async throws {
        let cdn = try await TestCDN()
        var player: VBPlayer? = try await readyPlayer(cdn)
        let layer = VBDisplayLayer()
        player?.setDisplayLayer(layer)
        let listener = Listener()
        player?.delegate = listener
        let held: [Any?] = [
            player?.addPeriodicTimeObserver(forInterval: time(0.1), queue: nil) {}, player?.statusUpdates,
            player?.observe(\.status) { _, _ in },
        ]
        player?.play()
        player?.seek(to: time(1)) {}
        #expect(await eventually { player?.currentTime ?? .zero > time(1) })
        weak let released = player
        player = nil
        #expect(await eventually { released == nil })
        #expect(!layer.isReadyForDisplay && layer.frames.newest == nil)
        withExtendedLifetime((held, listener)) {}
    }

    // MARK: - Status

    @Test func aReaderOnAnyThreadSeesTheNewValueAtOnce() async throws {
        let state = ObservedState(0)
        var told: [Int] = []
        _ = state.add(Cancellation()) { _, change in MainActor.assumeIsolated { told.append(change.new) } }
        // The main queue is held up meanwhile, so that nobody has been told.
        let seen = Mutex(0)
        let isDone = DispatchSemaphore(value: 0)
        state.update { $0 = 7 }
        Thread.detachNewThread {
            seen.withLock { $0 = state.visible }
            isDone.signal()
        }
        isDone.wait()
        #expect(seen.withLock { $0 } == 7 && told.isEmpty)
        #expect(await eventually { told == [7] })
    }

    @Test func statusUpdatesStartWithTheCurrentValueAndFinishOnRelease() async throws {
        let cdn = try await TestCDN()
        var player: VBPlayer? = VBPlayer(cdn: cdn.url("dash/manifest.mpd"))
        let early = try #require(player?.statusUpdates)
        let collected = Task { await Self.collect(early) }
        #expect(await eventually { player?.status == .readyToPlay })
        let late = try #require(player?.statusUpdates)
        player = nil
        #expect(await collected.value == [.unknown, .readyToPlay])
        #expect(await Self.collect(late) == [.readyToPlay])
    }

    private static func collect(_ stream: AsyncStream<VBPlayerStatus>) async -> [VBPlayerStatus] {
        var values: [VBPlayerStatus] = []
        for await value in stream { values.append(value) }
        return values
    }

    @Test func releaseCompletesSeeks() async throws {
        let cdn = try await TestCDN()
        var player: VBPlayer? = VBPlayer(cdn: cdn.url("slow/dash/manifest.mpd"))
        var count = 0
        player?.seek(to: time(3)) { count += 1 }
        weak let released = player
        player = nil
        #expect(await eventually { count == 1 && released == nil })
        await settle(100)
        #expect(count == 1)
    }

    // MARK: - Failures

    struct Fault: CustomTestStringConvertible, Sendable {
        var path: String
        var code: VBErrorCode
        var testDescription: String { path }
    }

    @Test(arguments: [
        Fault(path: "none.mpd", code: .notFound), Fault(path: "first.mp4", code: .malformedManifest),
        Fault(path: "hls-fmp4/init.mp4", code: .malformedManifest),
    ])
    func aBadManifestFails(_ fault: Fault) async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url(fault.path))
        var seen: [Bool] = []
        let observation = player.observe(\.status, options: [.new]) { player, change in
            seen.append(change.newValue == .failed && player.error != nil)
        }
        var errors = 0
        let errorObservation = player.observe(\.error) { _, _ in errors += 1 }
        var completions = 0
        player.seek(to: .zero) { completions += 1 }
        #expect(await eventually(within: 120) { !seen.isEmpty })
        #expect(seen == [true])
        #expect(errors == 1)
        #expect(player.status == .failed && player.rate == 0)
        #expect(player.error?.domain == VBErrorDomain && player.error?.code == fault.code.rawValue, "\(player.error!)")
        #expect(player.error?.userInfo[NSUnderlyingErrorKey] != nil)
        player.play()
        player.seek(to: .zero) { completions += 1 }
        #expect(await eventually { completions == 2 })
        #expect(player.rate == 0)
        observation.invalidate()
        errorObservation.invalidate()
    }

    @Test func aPortThatRefusesFailsSoon() async throws {
        let player = VBPlayer(cdn: "http://127.0.0.1:\(try LoopbackPort.free())/a.mpd")
        #expect(await eventually(within: 120) { player.status == .failed })
        #expect(player.error?.code == VBErrorCode.unreachable.rawValue)
    }

    @Test(.enabled(if: geteuid() == 0, "only root may listen on port 80"))
    func withoutASchemeHTTPIsUsedOnlyWhereHTTPSIsRefused() async throws {
        // Nobody listens on port 443 of this address.
        let address = "127.80.7.\(UInt8(truncatingIfNeeded: getpid()) | 1)"
        let cdn = try await TestCDN(defaultPortOf: address)
        let plain = VBPlayer(cdn: "\(address)/dash/manifest.mpd")
        let withPDN = VBPlayer(cdn: "\(address)/dash/manifest.mpd", settings: [VBEnablePDNKey: true])
        let withToken = VBPlayer(cdn: "\(address)/dash/manifest.mpd", settings: [VBViewerTokenKey: "abc"])
        // This port answers, though not in TLS: that is no reason to go without.
        let answering = VBPlayer(cdn: "127.0.0.1:\(cdn.port)/dash/manifest.mpd")
        let players = [plain, withPDN, withToken, answering]
        #expect(await eventually(within: 120) { players.allSatisfy { $0.status != .unknown } })
        #expect(plain.status == .readyToPlay, "\(plain.error?.localizedDescription ?? "")")
        for player in players.dropFirst() { #expect(player.status == .failed) }
        #expect(withPDN.error?.code == VBErrorCode.unreachable.rawValue)
        #expect(
            answering.error?.code == VBErrorCode.insecureConnection.rawValue, "\(String(describing: answering.error))")
    }

    @Test func aServerThatNeverAnswersFailsInTime() async throws {
        #expect(PresentationCore.readyTimeout < .seconds(30))
        let silent = try SilentServer()
        let controller = PlayerController(takesEarlySeeks: false)
        let player = VBPlayer(controller: controller)
        controller.start(
            PresentationCore(
                configuration: PlayerSettings().sessionConfiguration(url: "http://127.0.0.1:\(silent.port)/a.mpd"),
                log: SessionLog(levels: [:]), sink: FrameSink(), readyTimeout: .milliseconds(300)
            ) { [weak controller] event in controller?.take(event) })
        #expect(await eventually { player.status == .failed })
        #expect(player.error?.code == VBErrorCode.timedOut.rawValue)
    }

    @Test func eachDomainSaysWhatItsLevelIncludes() async throws {
        let cdn = try await TestCDN()
        let lines = Mutex<[String]>([])
        let controller = PlayerController(takesEarlySeeks: false)
        let player = VBPlayer(controller: controller)
        let log = SessionLog(levels: [.player: .debug, .engine: .info]) { line in lines.withLock { $0.append(line) } }
        controller.start(
            PresentationCore(
                configuration: PlayerSettings().sessionConfiguration(url: cdn.url("dash/manifest.mpd")), log: log,
                sink: FrameSink()
            ) { [weak controller] event in controller?.take(event) })
        #expect(await eventually { player.status == .readyToPlay })
        player.play()
        #expect(await eventually { lines.withLock { $0.contains { $0.contains("clock runs") } } })
        let written = lines.withLock { $0 }
        #expect(
            written.contains("VBPlayer player: play") && written.contains { $0.hasPrefix("VBPlayer player: ready") })
        #expect(written.contains { $0.hasPrefix("VBPlayer engine: the first picture") })
        // Nothing of a domain without a level, nor beyond a domain's level.
        #expect(written.allSatisfy { $0.hasPrefix("VBPlayer player:") || $0.hasPrefix("VBPlayer engine:") })
        #expect(!written.contains { $0.contains("the segment at") })
    }

    @Test func statisticsTellOfTheSession() async throws {
        let cdn = try await TestCDN()
        let player = try await readyPlayer(cdn)
        let data = try #require(await player.statistics())
        let figures = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect((figures["bytes"] as? [String: Any])?["cdn"] as? Int ?? 0 > 0)
        #expect(await VBDataPlayer.create().statistics() == nil)
        let failed = VBPlayer(cdn: "")
        #expect(await eventually { failed.status == .failed })
        #expect(await failed.statistics() == nil)
    }

    @Test func wrongSettingsAndArgumentsFail() async throws {
        let players = [
            VBPlayer(cdn: "https://127.0.0.1/a.mpd", settings: [VBEnablePDNKey: "yes"]), VBPlayer(args: "speed=3"),
            VBPlayer(cdn: ""),
        ]
        #expect(await eventually { players.allSatisfy { $0.status == .failed } })
        #expect(players[0].error?.localizedDescription.contains("VBEnablePDNKey") ?? false)
        #expect(players[1].error?.localizedDescription.contains("speed") ?? false)
        #expect(players[2].error?.code == VBErrorCode.wrongAddress.rawValue)
    }

    @Test func argumentsPlay() async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(args: "cdn=\"\(cdn.url("dash/manifest.mpd"))\" enable-pdn=false")
        #expect(await eventually { player.status == .readyToPlay })
    }
}
