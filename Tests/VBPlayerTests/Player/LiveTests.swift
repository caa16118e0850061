import Delivery
import Foundation
import TestSupport
import Testing

@testable import VBPlayer

/// Live streams of a real encoder.
@MainActor
@Suite(.serialized, .enabled(if: LiveOrigin.isAvailable, "nginx and ffmpeg are needed"), .timeLimit(.minutes(5)))
struct LiveTests {
    /// Waits until a viewer stands somewhere; what it said last is in the issue otherwise.
    private func wait(
        _ viewer: LiveViewer, _ what: Comment, seconds: Double = 90, until holds: (LiveViewer.Standing) -> Bool
    ) async -> LiveViewer.Standing {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var standing = await viewer.standing()
        while !holds(standing) {
            guard ContinuousClock.now < deadline, viewer.ending == nil else {
                Issue.record("\(what): \(standing), \(viewer.lines.suffix(5)), \(String(describing: viewer.ending))")
                return standing
            }
            try? await Task.sleep(for: .milliseconds(100))
            standing = await viewer.standing()
        }
        return standing
    }

    private func waitForEnd(_ viewer: LiveViewer) async -> Bool {
        await eventually(within: 90) { viewer.ending != nil }
    }

    @Test(
        "Plays at the latency without a stall, and to the end when the stream ends", arguments: LiveOrigin.Kind.allCases
    )
    func steady(_ kind: LiveOrigin.Kind) async throws {
        let origin = try await LiveOrigin(kind)
        let encoder = try await origin.encode(seconds: 20, waitingFor: 8)
        // More than the manifests ask for, so that a busy machine does not decide.
        let viewer = try LiveViewer(origin.url, latency: .seconds(6))
        let standing = await wait(viewer, "playing") { $0.figures.playedSeconds > 5 }
        #expect(standing.figures.stalls == 0)
        // Acceptance holds it to half a second.
        #expect(
            abs(standing.error) < 4,
            "latency \(standing.figures.liveLatencySeconds ?? -1), not \(standing.targetLatency)")
        #expect(await waitForEnd(viewer))
        #expect(viewer.ending == .some(nil))
        let end = await viewer.standing()
        #expect(end.figures.stalls == 0 && end.framesDecoded > 15 * 25)
        await viewer.stop()
        _ = encoder
    }

    @Test(
        "An encoder that hangs for some seconds: the latency bridges it, and is what it was afterwards",
        arguments: [LiveOrigin.Kind.hls, .dash])
    func stale(_ kind: LiveOrigin.Kind) async throws {
        let origin = try await LiveOrigin(kind)
        let encoder = try await origin.encode(seconds: 300, waitingFor: 10)
        let viewer = try LiveViewer(origin.url, latency: .seconds(8))
        _ = await wait(viewer, "playing") { $0.figures.playedSeconds > 2 }
        encoder.send(SIGSTOP)
        try await Task.sleep(for: .seconds(4))
        encoder.send(SIGCONT)
        let before = await viewer.standing()
        let after = await wait(viewer, "back at the latency") {
            $0.figures.playedSeconds > before.figures.playedSeconds + 6 && abs($0.error) < 0.5
        }
        #expect(after.figures.stalls == 0)
        await viewer.stop()
    }

    @Test(
        "An encoder that starts again under the names of its first run: playback goes on with the second",
        arguments: [LiveOrigin.Kind.hls, .dash])
    func restart(_ kind: LiveOrigin.Kind) async throws {
        let origin = try await LiveOrigin(kind)
        let first = try await origin.encode(seconds: 300)
        let viewer = try LiveViewer(origin.url)
        _ = await wait(viewer, "playing") { $0.figures.playedSeconds > 3 }
        first.send(SIGKILL)
        try origin.clear()
        let second = try await origin.encode(seconds: 300, waitingFor: 2)
        _ = await wait(viewer, "the restart is seen") { _ in viewer.lines.contains { $0.contains("began again") } }
        let seen = await viewer.standing()
        let later = await wait(viewer, "playing the second run at the latency") {
            $0.figures.playedSeconds > seen.figures.playedSeconds + 6 && abs($0.error) < 0.5
        }
        #expect(later.framesDecoded > seen.framesDecoded + 4 * 25)
        await viewer.stop()
        _ = second
    }

    @Test("A player of a live stream: no duration, seeks within the window and nowhere else, the end")
    func player() async throws {
        let origin = try await LiveOrigin(.hls)
        let encoder = try await origin.encode(seconds: 26, waitingFor: 10)
        let player = VBPlayer(cdn: origin.url)
        player.play()
        #expect(await eventually { player.status == .readyToPlay && player.currentTime.seconds > 0 })
        #expect(player.duration.isIndefinite)
        let start = player.currentTime.seconds
        #expect(start > 4)
        #expect(await eventually { player.currentTime.seconds > start + 1 })
        // Into the past of the window, and playback goes on there.
        let past = player.currentTime.seconds - 4
        await player.seek(to: CMTime(seconds: past, preferredTimescale: 1_000), tolerance: .zero)
        #expect(player.currentTime.seconds < past + 2)
        #expect(await eventually { player.currentTime.seconds > past + 1 })
        // The future doesn't exist yet.
        let before = player.currentTime.seconds
        await player.seek(to: CMTime(seconds: before + 1_000, preferredTimescale: 1_000), tolerance: .zero)
        #expect(player.currentTime.seconds < before + 10 && player.error == nil)
        let last = player.currentTime.seconds
        #expect(await eventually { player.rate == 0 && player.currentTime.seconds > last })
        #expect(player.currentTime.seconds > 24)
        _ = encoder
    }
}
