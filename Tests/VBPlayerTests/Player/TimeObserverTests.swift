import CoreModel
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import VBPlayer

/// When time observers are called, without a stream where none is needed.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TimeObserverTests {
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    private nonisolated static func observer(
        _ interval: MediaTime?, on queue: DispatchQueue, at position: MediaTime = .zero, _ block: @escaping () -> Void
    ) -> PeriodicObserver {
        PeriodicObserver(interval: interval, queue: queue, block: block) { position }
    }

    @Test func whatWaitsOnTheQueueIsDroppedByRemoval() async {
        let queue = DispatchQueue(label: "observer")
        let (removed, kept) = (Counter(), Counter())
        queue.suspend()
        let first = Self.observer(nil, on: queue) { removed.add() }
        let second = Self.observer(nil, on: queue) { kept.add() }
        for observer in [first, second] { observer.clockChanged(isRunning: true) }
        first.remove()
        queue.resume()
        #expect(await eventually { kept.value == 1 })
        first.clockChanged(isRunning: false)
        second.clockChanged(isRunning: false)
        #expect(await eventually { kept.value == 2 })
        #expect(removed.value == 0)
    }

    @Test func callsThatAQueueHasNoTimeForAreJoined() async {
        let queue = DispatchQueue(label: "observer")
        let count = Counter()
        let observer = Self.observer(nil, on: queue) { count.add() }
        queue.suspend()
        for index in 0..<50 { observer.clockChanged(isRunning: index % 2 == 0) }
        queue.resume()
        #expect(await eventually { count.value == 1 })
        await settle()
        #expect(count.value == 1)
        withExtendedLifetime(observer) {}
    }

    @Test func removalWhileOtherThreadsStartAndStopTheClockIsFinal() async throws {
        for _ in 0..<20 {
            let queue = DispatchQueue(label: "observer")
            let count = Counter()
            let observer = Self.observer(MediaTime(ticks: 1, timescale: 1000), on: queue) { count.add() }
            async let turns: Void = onOwnThread {
                for index in 0..<200 { observer.clockChanged(isRunning: index % 2 == 0) }
            }
            await Task.yield()
            observer.remove()
            // What had started is over once the queue has been passed.
            queue.sync {}
            let seen = count.value
            try await turns
            queue.sync {}
            #expect(count.value == seen)
        }
    }

    @Test(arguments: [
        CMTime.invalid, .indefinite, .positiveInfinity, .zero, CMTimeMake(value: -1, timescale: 1),
        CMTimeMake(value: .max, timescale: 1), CMTimeMake(value: .min, timescale: 1),
        CMTimeMake(value: 1, timescale: .max), CMTimeMake(value: .max, timescale: .max),
    ])
    func anyIntervalIsTaken(_ interval: CMTime) async {
        let player = VBDataPlayer.create()
        let token = player.addPeriodicTimeObserver(forInterval: interval, queue: nil) {}
        let observer = (token as? PeriodicObserverToken)?.observer
        observer?.clockChanged(isRunning: true)
        await settle(20)
        player.removeTimeObserver(token)
        let queue = DispatchQueue(label: "observer")
        for position in [MediaTime(seconds: .max), MediaTime(seconds: .min), MediaTime(ticks: 1, timescale: .max)] {
            let observer = Self.observer(interval.mediaTime.flatMap { $0 > .zero ? $0 : nil }, on: queue, at: position)
            {}
            observer.clockChanged(isRunning: true)
            queue.sync {}
            observer.remove()
        }
    }

    @Test(.enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"))
    func withoutAnIntervalStartStopAndSeekAreTold() async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url("long/manifest.mpd"))
        #expect(await eventually { player.status == .readyToPlay })
        let listener = PlayerTests.Listener()
        player.delegate = listener
        var count = 0
        let token = player.addPeriodicTimeObserver(forInterval: .zero, queue: nil) { count += 1 }
        player.play()
        #expect(await eventually { player.currentTime.seconds > 0.3 })
        await settle()
        // Stalls of a busy machine stop and start the clock as well.
        #expect(count >= 1)
        let isExplained = await eventually { count <= 1 + listener.entered + listener.exited }
        #expect(isExplained, "\(count) calls, \(listener.entered) stalls")
        var before = count
        player.pause()
        #expect(await eventually { count > before })
        await settle()
        before = count
        await player.seek(to: CMTimeMake(value: 1, timescale: 1), tolerance: .zero)
        #expect(await eventually { count > before })
        player.removeTimeObserver(token)
        before = count
        await player.seek(to: .zero, tolerance: .zero)
        await settle()
        #expect(count == before)
    }

    @Test(.enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"))
    func anObserverAddedWhileItPlaysIsCalled() async throws {
        let cdn = try await TestCDN()
        let player = VBPlayer(cdn: cdn.url("long/manifest.mpd"))
        player.play()
        #expect(await eventually { player.currentTime > .zero })
        let queue = DispatchQueue(label: "observer")
        let count = Counter()
        let tokens = (0..<20).map { _ in Self.add(count, to: player, on: queue) }
        #expect(await eventually { count.value >= 20 })
        withExtendedLifetime(tokens) {}
    }

    /// A block that is made off the main actor isn't bound to it.
    private nonisolated static func add(_ count: Counter, to player: VBPlayer, on queue: DispatchQueue) -> Any {
        player.addPeriodicTimeObserver(forInterval: CMTimeMake(value: 1, timescale: 4), queue: queue) { count.add() }
    }
}
