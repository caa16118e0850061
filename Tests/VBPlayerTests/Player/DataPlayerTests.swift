import CoreModel
import Foundation
import MediaEngine
import Synchronization
import TestSupport
import Testing
@testable import VBPlayer

@MainActor
@Suite(.serialized, .enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"), .timeLimit(.minutes(5)))
struct DataPlayerTests {
    private func time(_ seconds: Double) -> CMTime { CMTime(seconds: seconds, preferredTimescale: 1000) }

    @Test func audioAlonePlays() async throws {
        let data = try await TestCDN.data("audio.mp4")
        let player = VBDataPlayer.create()
        let listener = PlayerTests.Listener()
        player.delegate = listener
        for start in stride(from: 0, to: data.count, by: 777) {
            try player.append(data[start..<min(start + 777, data.count)], coding: .mp4Audio)
        }
        #expect(await eventually { player.status == .readyToPlay })
        player.play()
        player.endOfStream()
        player.endOfStream()
        #expect(await eventually { listener.finished == 1 })
        #expect(abs(player.currentTime.seconds - 4) < 0.2 && player.bufferedDuration() == .zero)
    }

    @Test func codingsCanBeAppendedFromThreadsAtTheSameTime() async throws {
        let (video, audio) = (try await TestCDN.data("video.mp4"), try await TestCDN.data("audio.mp4"))
        let record = FrameRecord()
        let player = VBDataPlayer(observer: record)
        let listener = PlayerTests.Listener()
        player.delegate = listener
        player.play()
        async let first: Void = onOwnThread { try Self.append(video, to: player, coding: .mp4Video) }
        async let second: Void = onOwnThread { try Self.append(audio, to: player, coding: .mp4Audio) }
        _ = try await (first, second)
        player.endOfStream()
        #expect(await eventually { listener.finished == 1 || player.status == .failed })
        #expect(player.error == nil && record.frames.count == 100)
    }

    private nonisolated static func append(_ data: Data, to player: VBDataPlayer, coding: VBDataCoding) throws {
        for start in stride(from: 0, to: data.count, by: 500) {
            try player.append(data[start..<min(start + 500, data.count)], coding: coding)
            _ = player.bufferedDuration()
        }
    }

    @Test func anEndWithoutDataIsNoEnd() async throws {
        let player = VBDataPlayer.create()
        player.endOfStream()
        player.play()
        await settle()
        #expect(player.status == .unknown && player.error == nil && player.currentTime == .zero)
        var isDone = false
        player.seek(to: .zero) { isDone = true }
        let data = try await TestCDN.data("fragmented.mp4")
        try player.append(data, coding: .mp4)
        #expect(await eventually { isDone && player.status == .readyToPlay })
    }

    @Test func audioAndVideoCanComeApart() async throws {
        let (video, audio) = (try await TestCDN.data("video.mp4"), try await TestCDN.data("audio.mp4"))
        let player = VBDataPlayer.createDataPlayer()
        let listener = PlayerTests.Listener()
        player.delegate = listener
        #expect(player.duration.isIndefinite && player.currentTime == .zero && player.bufferedDuration() == .zero)
        try await Task.detached {
            try player.append(video, coding: .mp4Video)
            try player.append(audio, coding: .mp4Audio)
        }.value
        #expect(await eventually { player.status == .readyToPlay })
        #expect(player.duration.isIndefinite)
        let buffered = player.bufferedDuration().seconds
        #expect(buffered > 1 && buffered < 4.1)
        player.play()
        #expect(await eventually { player.currentTime.seconds > 0.5 })
        #expect(await eventually { player.bufferedDuration().seconds < buffered })
        player.endOfStream()
        #expect(await eventually { listener.finished == 1 })
        #expect(abs(player.currentTime.seconds - 4) < 0.2)
    }

    @Test func malformedDataThrowsAndLosesNothing() async throws {
        let data = try await TestCDN.data("fragmented.mp4")
        let record = FrameRecord()
        let player = VBDataPlayer(observer: record)
        let listener = PlayerTests.Listener()
        player.delegate = listener
        #expect(throws: NSError.self) { try player.append(Data("no media at all, by no means".utf8), coding: .mp4) }
        try player.append(data, coding: .mp4)
        // A box that claims to be shorter than its own header.
        let error = #expect(throws: NSError.self) {
            try player.append(Data([0, 0, 0, 2]) + Data("moof".utf8), coding: .mp4)
        }
        #expect(error?.domain == VBErrorDomain && error?.code == VBErrorCode.malformedMedia.rawValue)
        player.endOfStream()
        let late = #expect(throws: NSError.self) { try player.append(data, coding: .mp4) }
        #expect(late?.code == VBErrorCode.wrongMoment.rawValue)
        player.play()
        #expect(await eventually { listener.finished == 1 || player.status == .failed })
        #expect(record.frames.count == 100 && player.error == nil)
    }

    @Test func aSeekDropsWhatIsBufferedAndForgetsTheEnd() async throws {
        let data = try await TestCDN.data("fragmented.mp4")
        let player = VBDataPlayer.create()
        let listener = PlayerTests.Listener()
        player.delegate = listener
        try player.append(data, coding: .mp4)
        player.endOfStream()
        #expect(await eventually { player.status == .readyToPlay })
        var completions = 0
        player.seek(to: time(2.5), tolerance: .zero) { completions += 1 }
        #expect(player.bufferedDuration() == .zero)
        player.play()
        await settle(200)
        #expect(completions == 0 && listener.finished == 0)
        try player.append(data, coding: .mp4)
        #expect(await eventually { completions == 1 })
        #expect(player.currentTime.seconds >= 2.48)
        player.endOfStream()
        #expect(await eventually { listener.finished == 1 })
        #expect(completions == 1)
    }

    @Test func dataThatRunsOutStalls() async throws {
        let data = try await TestCDN.data("fragmented.mp4")
        let player = VBDataPlayer.create()
        let listener = PlayerTests.Listener()
        player.delegate = listener
        player.play()
        try player.append(data, coding: .mp4)
        #expect(await eventually { listener.entered == 1 })
        #expect(player.rate == 1 && listener.exited == 0)
        player.pause()
        #expect(await eventually { listener.exited == 1 })
    }
}
