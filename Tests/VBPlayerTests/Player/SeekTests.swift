import Foundation
import Synchronization
import TestSupport
import Testing
@testable import VBPlayer

/// What a caller is promised of seeks, whatever happens in between.
@MainActor
@Suite(.serialized, .enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"), .timeLimit(.minutes(5)))
struct SeekTests {
    /// Counts calls by number, on any thread.
    private final class Calls: Sendable {
        private let counts: Mutex<[Int]>

        init(_ count: Int) { counts = Mutex([Int](repeating: 0, count: count)) }

        func add(_ index: Int) { counts.withLock { $0[index] += 1 } }
        var areOneEach: Bool { counts.withLock { $0.allSatisfy { $0 == 1 } } }
        var total: Int { counts.withLock { $0.reduce(0, +) } }
    }

    private nonisolated static func time(_ seconds: Double) -> CMTime {
        CMTime(seconds: seconds, preferredTimescale: 1000)
    }

    private nonisolated static func seek(_ player: VBPlayer, _ index: Int, _ calls: Calls) {
        let target = time(Double(index * 37 % 4000) / 1000)
        let tolerances: [CMTime] = [.zero, time(0.5), .positiveInfinity, .invalid]
        player.seek(to: target, tolerance: tolerances[index % 4]) {
            dispatchPrecondition(condition: .onQueue(.main))
            calls.add(index)
        }
    }

    @Test(arguments: ["dash/manifest.mpd", "hls-ts/master.m3u8"])
    func seeksFromManyThreadsCompleteOnceEach(_ path: String) async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url(path))
        player.play()
        let calls = Calls(160)
        // The first come before the player is ready, the last while it plays.
        try await withThrowingTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for index in thread * 20..<thread * 20 + 20 {
                        Self.seek(player, index, calls)
                        try await Task.sleep(for: .milliseconds(index % 7 * 5))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await eventually { calls.areOneEach })
        await settle(200)
        #expect(calls.areOneEach)
        await player.seek(to: Self.time(2), tolerance: .zero)
        player.pause()
        #expect(player.status == .readyToPlay && player.currentTime >= Self.time(2) && player.error == nil)
    }

    @Test func releaseCompletesTheSeeksOfAReadyPlayer() async throws {
        let cdn = try await TestCDN()
        var player: VBPlayer? = VBPlayer(cdn: cdn.url("dash/manifest.mpd"))
        #expect(await eventually { player?.status == .readyToPlay })
        let calls = Calls(10)
        for index in 0..<10 { if let player { Self.seek(player, index, calls) } }
        player = nil
        #expect(await eventually { calls.areOneEach })
        await settle(200)
        #expect(calls.areOneEach)
    }

    @Test func aFailureInPlaybackCompletesWhatWaits() async throws {
        let data = try await TestCDN.data("last.mp4")
        let player = VBDataPlayer.create()
        var order: [String] = []
        let observations = [
            player.observe(\.error) { player, _ in order.append("error \(player.error != nil)") },
            player.observe(\.status) { player, _ in order.append("status \(player.error != nil)") },
        ]
        var completions = 0
        player.seek(to: Self.time(2), tolerance: .zero) { completions += 1 }
        // A file that ends before its moov can never be played.
        try player.append(data.prefix(data.count / 2), coding: .mp4)
        player.endOfStream()
        #expect(await eventually { player.status == .failed && order.count == 2 && completions == 1 })
        #expect(order == ["error true", "status true"])
        #expect(player.error?.domain == VBErrorDomain && player.rate == 0)
        let late = #expect(throws: NSError.self) { try player.append(data, coding: .mp4) }
        #expect(late?.domain == VBErrorDomain)
        player.seek(to: .zero) { completions += 1 }
        player.play()
        #expect(await eventually { completions == 2 })
        #expect(player.rate == 0 && player.status == .failed)
        for observation in observations { observation.invalidate() }
    }

    @Test func theAsyncFormsReturnWhenOvertaken() async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url("slow/hls-ts/master.m3u8"))
        async let first: Void = player.seek(to: Self.time(3), tolerance: .zero)
        async let second: Void = player.seek(to: Self.time(1))
        player.seek(to: .zero) {}
        _ = await (first, second)
    }

    @Test func seeksLandInTheirWindow() async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url("hls-fmp4/master.m3u8"))
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<12 {
            let target = Double(Int.random(in: 0..<4000, using: &generator)) / 1000
            let tolerance = Double(Int.random(in: 0..<1500, using: &generator)) / 1000
            await player.seek(to: Self.time(target), tolerance: Self.time(tolerance))
            let landed = player.currentTime
            #expect(
                landed <= Self.time(target) && landed >= Self.time(max(0, target - tolerance)),
                "\(target) within \(tolerance) landed at \(landed.seconds)")
        }
    }
}
