import CoreModel
import Testing

@testable import MediaEngine

extension EngineTests {
    /// MP4 data in any split, checked before it is decoded.
    @Suite(.timeLimit(.minutes(5))) struct DataFeedTests {
        let media: TestMedia

        init() async throws {
            media = try await TestMedia.shared.value
        }

        enum Shape: CaseIterable, Sendable {
            case fragmented, moovFirst, moovLast
        }

        private func bytes(_ shape: Shape) -> [UInt8] {
            switch shape {
            case .fragmented: media.muxedMP4.joined
            case .moovFirst: media.fileMoovFirst
            case .moovLast: media.fileMoovLast
            }
        }

        @Test(arguments: Shape.allCases, [UInt64(0), 1, 2]) func anySplitGivesTheSameFrames(
            shape: Shape, seed: UInt64
        ) async throws {
            let bytes = bytes(shape)
            let probe = EngineProbe()
            let feed = MediaDataFeed(engine: probe.engine)
            let splitter = RandomSplitter(seed: seed)
            for piece in seed == 0 ? [bytes[...]] : splitter.split(bytes) {
                try feed.append(Array(piece), coding: .mp4)
            }
            feed.endOfStream()
            #expect(try await probe.waitForEnd() == .ended)
            let expected = try await FFmpegTool.pictures(bytes)
            #expect(probe.pictures.map(\.hash) == expected.pictures.map(\.hash))
            #expect(probe.engine.statistics.audioSamplesDecoded == (try await FFmpegTool.sampleCount(bytes)))
            #expect(feed.bufferedDuration == .zero)
        }

        @Test func durationsThatNanosecondsCantHoldAreNoTrap() {
            for seconds in [Int64.max, 1 << 52, 1 << 33] {
                let claimed = FragmentDurations(video: MediaTime(seconds: seconds), audio: MediaTime(seconds: -seconds))
                #expect(claimed.part(1, of: 2).video > .zero)
                #expect(claimed.part(2, of: 2) == claimed)
            }
        }

        @Test func audioAndVideoApartPlayTogether() async throws {
            let probe = EngineProbe()
            let feed = MediaDataFeed(engine: probe.engine)
            try feed.append(media.video.joined, coding: .mp4Video)
            try feed.append(media.audio.joined, coding: .mp4Audio)
            feed.endOfStream()
            #expect(try await probe.waitForEnd() == .ended)
            #expect(probe.pictures.count == 200)
            #expect(
                probe.engine.statistics.audioSamplesDecoded == (try await FFmpegTool.sampleCount(media.audio.joined)))
        }

        @Test func bufferedDurationIsWhatWasAppendedLessWhatWasDecoded() async throws {
            let probe = EngineProbe(EngineConfiguration())
            let feed = MediaDataFeed(engine: probe.engine)
            #expect(feed.bufferedDuration == .zero)
            try feed.append(try #require(media.video.initialization), coding: .mp4Video)
            #expect(feed.bufferedDuration == .zero)
            try feed.append(media.video.segments[0], coding: .mp4Video)
            try feed.append(media.video.segments[1], coding: .mp4Video)
            #expect(feed.bufferedDuration > MediaTime(seconds: 3))
            #expect(feed.bufferedDuration <= MediaTime(seconds: 4))
            #expect(try await probe.wait { $0.isFirstFrame } != nil)
            let half = media.video.segments[2].count / 2
            try feed.append(Array(media.video.segments[2][..<half]), coding: .mp4Video)
            #expect(feed.bufferedDuration > MediaTime(seconds: 4))
            probe.engine.shutdown()
        }

        @Test func malformedDataThrowsAndWhatCameBeforePlaysOn() async throws {
            let probe = EngineProbe()
            let feed = MediaDataFeed(engine: probe.engine)
            #expect(throws: DataError.notMP4) {
                try feed.append(Array("this is no movie at all".utf8), coding: .mp4Video)
            }
            #expect(throws: DataError.missingInitialization) {
                try feed.append(media.video.segments[0], coding: .mp4Video)
            }
            let initialization = try #require(media.video.initialization)
            #expect(throws: DataError.noTrack(.mp4Audio)) { try feed.append(initialization, coding: .mp4Audio) }
            try feed.append(initialization, coding: .mp4Video)
            try feed.append(media.video.segments[0], coding: .mp4Video)
            var broken = media.video.segments[1]
            let moof = try #require(broken.indices.first { broken[$0...].starts(with: Array("trun".utf8)) })
            broken[moof + 8] = 0xFF  // 4 billion samples.
            #expect(throws: DataError.self) { try feed.append(broken, coding: .mp4Video) }
            #expect(throws: DataError.self) { try feed.append([0, 0, 0, 3, 1, 2, 3, 4, 5], coding: .mp4Video) }
            for segment in media.video.segments.dropFirst() { try feed.append(segment, coding: .mp4Video) }
            feed.endOfStream()
            #expect(try await probe.waitForEnd() == .ended)
            let expected = try await FFmpegTool.pictures(media.video.joined).pictures
            #expect(probe.pictures.map(\.hash) == expected.map(\.hash))
            #expect(throws: DataError.afterEndOfStream) { try feed.append(initialization, coding: .mp4Video) }
        }

        @Test func seekDropsWhatIsBufferedAndForgetsTheEnd() async throws {
            let probe = EngineProbe(EngineConfiguration())
            let feed = MediaDataFeed(engine: probe.engine)
            try feed.append(media.video.joined, coding: .mp4Video)
            feed.endOfStream()
            #expect(try await probe.wait { $0.isFirstFrame } != nil)
            let target = MediaTime(ticks: 45, timescale: 10)
            feed.seek(id: 2, to: target)
            #expect(feed.bufferedDuration == .zero)
            for segment in media.video.segments[2...] { try feed.append(segment, coding: .mp4Video) }
            #expect(try await probe.wait { $0 == .seekCompleted(id: 2, time: target) } != nil)
            #expect(probe.newest?.time == MediaTime(ticks: 112, timescale: 25))
            feed.endOfStream()
            probe.engine.play()
            #expect(try await probe.waitForEnd() == .ended)
            probe.engine.shutdown()
        }

        @Test func fileThatEndsBeforeItsMoovFails() async throws {
            let probe = EngineProbe()
            let feed = MediaDataFeed(engine: probe.engine)
            try feed.append(Array(media.fileMoovLast.dropLast(3000)), coding: .mp4)
            feed.endOfStream()
            #expect(try await probe.waitForEnd() == .failed(.incompleteFile(track: 0)))
        }

        @Test func flippedBytesNeverTrapTheWalker() {
            var generator = SeededGenerator(seed: 7)
            for _ in 0..<300 {
                var bytes = media.muxedMP4.initialization ?? []
                bytes += media.muxedMP4.segments[0].prefix(3000)
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let index = Int.random(in: 0..<min(bytes.count, 2500), using: &generator)
                    bytes[index] = UInt8.random(in: 0...255, using: &generator)
                }
                var walker = MP4Walker(coding: .mp4, fileByteLimit: 1 << 20)
                for piece in RandomSplitter(seed: generator.next()).split(bytes) {
                    guard (try? walker.append(piece)) != nil else { break }  // Any refusal will do.
                }
            }
        }
    }
}
