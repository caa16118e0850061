import CoreModel
import Foundation
import TestSupport
import Testing
@testable import VBPlayer

/// What the bytes that are appended may look like. Each test plays in real time, so they play at the same time.
@MainActor
@Suite(.enabled(if: TestCDN.isAvailable, "nginx and ffmpeg are needed"), .timeLimit(.minutes(5)))
struct DataShapeTests {
    /// Plays data that comes in pieces of the given sizes, in turn, and gives the frames.
    private func frames(of file: String, coding: VBDataCoding, sizes: [Int]) async throws -> [String] {
        let data = try await TestCDN.data(file)
        let record = FrameRecord()
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

    @Test(arguments: ["fragmented.mp4", "first.mp4", "last.mp4"], 1...2)
    func randomSplitsGiveTheSameFrames(_ file: String, _ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        // Mostly small pieces, among them empty ones, and now and then a large one.
        let sizes = (0..<500).map { _ in
            Int.random(in: 0..<(Int.random(in: 0..<8, using: &generator) == 0 ? 40_000 : 600), using: &generator)
        }
        async let whole = frames(of: file, coding: .mp4, sizes: [.max / 2])
        async let split = frames(of: file, coding: .mp4, sizes: sizes + [1])
        let expected = try await whole
        #expect(expected.count == 100)
        #expect(try await split == expected)
    }

    /// Bytes that must be refused between two boxes.
    struct Damage: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]
    }

    @Test(arguments: [
        Damage(testDescription: "a size below the header's", bytes: [0, 0, 0, 4] + Array("mdat".utf8)),
        Damage(testDescription: "a type of no characters", bytes: [0, 0, 0, 16, 1, 2, 3, 4]),
        Damage(
            testDescription: "a long size below the header's",
            bytes: [0, 0, 0, 1] + Array("mdat".utf8) + Array(repeating: 0, count: 8)),
        Damage(
            testDescription: "a moof of terabytes",
            bytes: [0, 0, 0, 1] + Array("moof".utf8) + [0, 0, 0xFF, 0, 0, 0, 0, 0]),
        Damage(
            testDescription: "a moof with nonsense inside",
            bytes: [0, 0, 0, 16] + Array("moof".utf8) + [0, 0, 0, 99, 0x74, 0x72, 0x61, 0x66]),
        Damage(testDescription: "a moov without tracks", bytes: [0, 0, 0, 8] + Array("moov".utf8)),
        Damage(testDescription: "text", bytes: Array("<html><body>404</body></html>".utf8)),
    ])
    func malformedDataBetweenFragmentsIsRefusedAndCanBeFollowed(_ damage: Damage) async throws {
        let data = try await TestCDN.data("fragmented.mp4")
        // The second fragment's start: what comes before is complete.
        let starts = data.indices.dropLast(4).filter { data[$0..<$0 + 4].elementsEqual("moof".utf8) }.map { $0 - 4 }
        try #require(starts.count > 2)
        let record = FrameRecord()
        let player = VBDataPlayer(observer: record)
        let listener = PlayerTests.Listener()
        player.delegate = listener
        try player.append(data[..<starts[1]], coding: .mp4)
        let buffered = player.bufferedDuration()
        let error = #expect(throws: NSError.self) { try player.append(Data(damage.bytes), coding: .mp4) }
        #expect(error?.domain == VBErrorDomain && error?.code == VBErrorCode.malformedMedia.rawValue)
        #expect(player.status != .failed && player.error == nil && player.bufferedDuration() <= buffered)
        try player.append(data[starts[1]...], coding: .mp4)
        player.endOfStream()
        player.play()
        #expect(await eventually { listener.finished == 1 || player.status == .failed })
        #expect(record.frames.count == 100 && player.error == nil)
    }
}
