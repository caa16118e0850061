import CoreModel
import Foundation
import MediaEngine
import Synchronization
import Testing
@testable import VBPlayer

@MainActor
@Suite(.serialized, .enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"), .timeLimit(.minutes(5)))
struct DataPlayerTests {
    /// Writes down what is decoded.
    final class Record: FrameObserver {
        private let lines = Mutex<[String]>([])
        var frames: [String] { lines.withLock { $0 } }
        func videoFrameDecoded(_ frame: VideoFrame) {
            let line = FrameHasher()?.line(for: frame) ?? ""
            lines.withLock { $0.append(line) }
        }
    }

    private func time(_ seconds: Double) -> CMTime { CMTime(seconds: seconds, preferredTimescale: 1000) }

    /// Plays data that comes in pieces of the given sizes, in turn, and gives the frames.
    private func frames(of file: String, coding: VBDataCoding, sizes: [Int]) async throws -> [String] {
        let data = try await TestCDN.data(file)
        let record = Record()
        let player = VBDataPlayer(observer: record)
        let listener = PlayerTests.Listener()
        player.delegate = listener
        player.play()
        var (offset, index) = (0, 0)
        while offset < data.count {
            let end = min(data.count, offset + sizes[index % sizes.count])
            try player.append(data[offset..<end], coding: coding)
            (offset, index) = (end, index + 1)
        }
        player.endOfStream()
        #expect(await eventually { listener.finished == 1 || player.status == .failed })
        #expect(player.error == nil, "\(player.error?.localizedDescription ?? "")")
        return record.frames
    }

    struct Shape: CustomTestStringConvertible, Sendable {
        var file: String
        var coding = VBDataCoding.mp4
        var testDescription: String { file }
    }

    @Test(arguments: [
        Shape(file: "fragmented.mp4"), Shape(file: "video.mp4", coding: .mp4Video), Shape(file: "first.mp4"),
        Shape(file: "last.mp4"),
    ])
    func anySplitGivesTheSameFrames(_ shape: Shape) async throws {
        async let whole = frames(of: shape.file, coding: shape.coding, sizes: [.max / 2])
        async let small = frames(of: shape.file, coding: shape.coding, sizes: [1, 7, 1024, 3])
        async let large = frames(of: shape.file, coding: shape.coding, sizes: [65_536, 11])
        let expected = try await whole
        #expect(expected.count == 100)
        #expect(try await small == expected)
        #expect(try await large == expected)
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
        let record = Record()
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
