import Foundation
import Synchronization
import Testing
@testable import VBPlayer

/// What a player holds of the system, seen from /proc; each test looks from a process of its own.
@Suite(.serialized, .enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"), .timeLimit(.minutes(5)))
struct ResourceTests {
    @Test func releaseEndsThreadsSocketsAndFiles() async throws {
        let cdn = try await TestCDN()
        let url = cdn.url("slow/hls-fmp4/master.m3u8")
        await #expect(processExitsWith: .success) { [url = url as String] in
            await ResourceTests.playAndRelease(url, playsOn: false)
            let before = ProcessView.descriptors()
            for playsOn in [true, false] { await ResourceTests.playAndRelease(url, playsOn: playsOn) }
            #expect(await eventually { ProcessView.descriptors() == before })
        }
    }

    @MainActor private static func playAndRelease(_ url: String, playsOn: Bool) async {
        let foreign = Set(ProcessView.sockets())
        func sockets() -> Set<ProcessView.Socket> { Set(ProcessView.sockets()).subtracting(foreign) }
        var player: VBPlayer? = VBPlayer(cdn: url)
        player?.play()
        if playsOn {
            #expect(await eventually { player?.currentTime ?? .zero > .zero })
            #expect(
                ProcessView.playerThreads().count >= 3 && !sockets().isEmpty, "\(ProcessView.threads()) \(sockets())")
        } else {
            #expect(await eventually { !sockets().isEmpty })
        }
        player = nil
        #expect(await eventually { ProcessView.playerThreads().isEmpty && sockets().isEmpty })
    }

    /// The last reference, held where a callback can let it go.
    private final class Holder: Sendable {
        private let player = Mutex<VBPlayer?>(nil)
        var isEmpty: Bool { player.withLock { $0 == nil } }
        func hold(_ newPlayer: VBPlayer) { player.withLock { $0 = newPlayer } }
        func release() {
            let last = player.withLock { player in
                defer { player = nil }
                return player
            }
            withExtendedLifetime(last) {}
        }
        func use(_ body: (VBPlayer) -> Void) { if let player = player.withLock({ $0 }) { body(player) } }
    }

    @Test(arguments: ["frame", "observer", "completion", "feed"])
    func theLastReferenceMayGoInACallback(_ place: String) async throws {
        let cdn = try await TestCDN()
        let url = cdn.url("dash/manifest.mpd")
        await #expect(processExitsWith: .success) { [url = url as String, place = place as String] in
            await ResourceTests.release(url, in: place)
        }
    }

    @MainActor private static func release(_ url: String, in place: String) async {
        let foreign = Set(ProcessView.sockets())
        let holder = Holder()
        let layer = VBDisplayLayer()
        holder.hold(VBPlayer(cdn: url))
        holder.use { observe($0, holder, layer, place) }
        let isReleased = await eventually { holder.isEmpty }
        holder.use { Issue.record("never called: status \($0.status), rate \($0.rate), \($0.error as Any)") }
        #expect(isReleased)
        holder.release()
        await nothingIsLeft(beside: foreign)
    }

    /// The test library has sockets of its own, which may close meanwhile.
    @MainActor private static func nothingIsLeft(beside foreign: Set<ProcessView.Socket>) async {
        func left() -> Set<ProcessView.Socket> { Set(ProcessView.sockets()).subtracting(foreign) }
        #expect(
            await eventually { ProcessView.playerThreads().isEmpty && left().isEmpty },
            "\(ProcessView.threads()) \(left())")
    }

    /// Off the main actor, so that the blocks aren't bound to it.
    private nonisolated static func observe(
        _ player: VBPlayer, _ holder: Holder, _ layer: VBDisplayLayer, _ place: String
    ) {
        player.setDisplayLayer(layer)
        switch place {
        case "frame": layer.frames.setHandler { _ in holder.release() }
        case "observer":
            let queue = DispatchQueue(label: "observer")
            let token = UncheckedBox(
                player.addPeriodicTimeObserver(forInterval: .zero, queue: queue) { holder.release() })
            queue.asyncAfter(deadline: .now() + 100) { withExtendedLifetime(token) {} }
        case "completion": player.seek(to: CMTimeMake(value: 2, timescale: 1)) { holder.release() }
        default:
            let waiting = Task {
                for await status in player.statusUpdates where status == .readyToPlay { return }
            }
            Task {
                await waiting.value
                holder.release()
            }
        }
        player.play()
    }

    @Test func onlyWhatTheSettingsNameIsLogged() async throws {
        let cdn = try await TestCDN()
        let url = cdn.url("dash/none.mpd")
        for (levels, isLogged) in [(["network": "trace", "delivery": "trace"], true), ([:], false)] {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                [url = url as String, levels = levels as [String: String]] in
                await ResourceTests.fail(url, levels)
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("VBPlayer ") == isLogged, "\(text)")
        }
    }

    @MainActor private static func fail(_ url: String, _ levels: [String: String]) async {
        let player = VBPlayer(cdn: url, settings: [VBLogLevelsKey: levels])
        #expect(await eventually { player.status == .failed })
    }

    @Test func offIsOff() async throws {
        let cdn = try await TestCDN()
        let url = cdn.url("dash/manifest.mpd")
        await #expect(processExitsWith: .success) { [url = url as String] in await ResourceTests.watchSockets(url) }
    }

    @MainActor private static func watchSockets(_ url: String) async {
        let port = UInt16(url.split(separator: ":")[2].prefix { $0 != "/" })
        // A tracker and a trusted key alone switch nothing on.
        let settings: [String: Any] = [
            VBTrackerURLsKey: ["ws://127.0.0.1:9"], VBTrustedAuthorityKeysKey: [String(repeating: "ab", count: 32)],
        ]
        let foreign = Set(ProcessView.sockets())
        let player = VBPlayer(cdn: url, settings: settings)
        player.play()
        var seen: Set<ProcessView.Socket> = []
        let isOver = await eventually {
            seen.formUnion(Set(ProcessView.sockets()).subtracting(foreign))
            return player.rate == 0
        }
        #expect(isOver && !seen.isEmpty && player.status == .readyToPlay)
        #expect(seen.allSatisfy { $0.table == "tcp" && $0.remotePort == port }, "\(seen)")
    }

    @Test @MainActor func programsThatTheAppStartsGetNoSocket() async throws {
        let cdn = try await TestCDN()
        let url = cdn.url("slow/hls-fmp4/master.m3u8")
        let port = UInt16(url.split(separator: ":")[2].prefix { $0 != "/" })
        let player = VBPlayer(cdn: url)
        player.play()
        func sockets() -> [ProcessView.Socket] { ProcessView.sockets().filter { $0.remotePort == port } }
        #expect(await eventually { !sockets().isEmpty })
        #expect(sockets().allSatisfy { !$0.isInherited })
    }

    @Test func aPlayerReleasedBeforeItBeganLeavesNothing() async throws {
        await #expect(processExitsWith: .success) {
            let foreign = Set(ProcessView.sockets())
            for _ in 0..<20 { _ = VBPlayer(cdn: "http://127.0.0.1:9/a.mpd") }
            for _ in 0..<20 { _ = VBDataPlayer.create() }
            await ResourceTests.nothingIsLeft(beside: foreign)
        }
    }
}
