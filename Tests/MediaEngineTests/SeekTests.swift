import CoreModel
import MediaEngine
import Testing

extension EngineTests {
    @Suite(.timeLimit(.minutes(5))) struct SeekTests {
        let media: TestMedia

        init() async throws {
            media = try await TestMedia.shared.value
        }

        enum Packaging: CaseIterable, Sendable {
            case transportStream, muxedMP4, cmafVideo
        }

        private func rendition(_ packaging: Packaging) -> TestMedia.Rendition {
            switch packaging {
            case .transportStream: media.transportStream
            case .muxedMP4: media.muxedMP4
            case .cmafVideo: media.video
            }
        }

        private func probe(_ packaging: Packaging) async throws -> EngineProbe {
            let probe = EngineProbe(EngineConfiguration())
            probe.engine.addTrack(id: 0, kind: packaging == .cmafVideo ? .video : .muxed)
            probe.append(rendition(packaging), track: 0, mediaOffset: packaging == .cmafVideo ? .zero : nil)
            #expect(try await probe.wait { $0.isFirstFrame } == .firstFrame(time: .zero))
            return probe
        }

        @Test(arguments: Packaging.allCases) func exactSeekLandsOnTheFrameThatHoldsTheTime(packaging: Packaging)
            async throws
        {
            let rendition = rendition(packaging)
            let (expected, timescale) = try await FFmpegTool.pictures(rendition.joined)
            let first = try #require(expected.first).time
            let probe = try await probe(packaging)
            var generator = SeededGenerator(seed: 50)
            for id in 0..<UInt64(50) {
                let milliseconds = Int64.random(in: 0..<Int64(TestMedia.seconds * 1000), using: &generator)
                let time = MediaTime(ticks: milliseconds, timescale: 1000)
                probe.engine.seek(id: id, to: time)
                let segment = Int(milliseconds) / (TestMedia.segmentSeconds * 1000)
                probe.append(
                    rendition, track: 0, from: segment, mediaOffset: packaging == .cmafVideo ? .zero : nil, ends: true)
                #expect(try await probe.wait { $0 == .seekCompleted(id: id, time: time) } != nil)
                let wanted = expected.last { MediaTime(ticks: $0.time - first, timescale: timescale) <= time }
                #expect(probe.newest?.hash == wanted?.hash, "seek to \(milliseconds) ms")
                #expect(probe.engine.position == time)
            }
            probe.engine.shutdown()
        }

        @Test func exactSeekPlaysOnFromTheTargetWithoutGap() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            probe.engine.seek(id: 1, to: MediaTime(ticks: 51, timescale: 10))
            probe.append(media.video, track: 0, from: 2, mediaOffset: .zero)
            #expect(try await probe.waitForEnd() == .ended)
            let expected = try await FFmpegTool.pictures(media.video.joined).pictures
            #expect(probe.pictures.map(\.hash) == expected.dropFirst(127).map(\.hash))
            #expect(probe.events.contains(.seekCompleted(id: 1, time: MediaTime(ticks: 51, timescale: 10))))
        }

        @Test func separateAudioFollowsTheVideoToTheTarget() async throws {
            let probe = EngineProbe(EngineConfiguration())
            probe.engine.addTrack(id: 0, kind: .video)
            probe.engine.addTrack(id: 1, kind: .audio)
            let target = MediaTime(ticks: 63, timescale: 10)
            probe.engine.seek(id: 1, to: target)
            probe.engine.play()
            probe.append(media.audio, track: 1, from: 3, mediaOffset: .zero)
            probe.append(media.video, track: 0, from: 3, mediaOffset: .zero)
            #expect(try await probe.wait { $0 == .seekCompleted(id: 1, time: target) } != nil)
            #expect(try await probe.wait { $0.isPlaying } == .playing(position: target))
            #expect(try await probe.waitForEnd() == .ended)
            let first = try #require(probe.blocks.first)
            #expect(first <= target && first > target - MediaTime(ticks: 1024, timescale: 48_000))
            probe.engine.shutdown()
        }

        @Test func impreciseSeekLandsOnTheRandomAccessPoint() async throws {
            let probe = try await probe(.cmafVideo)
            probe.engine.seek(id: 3, to: MediaTime(ticks: 51, timescale: 10), tolerance: nil)
            probe.append(media.video, track: 0, from: 2, mediaOffset: .zero)
            #expect(try await probe.wait { $0 == .seekCompleted(id: 3, time: MediaTime(seconds: 4)) } != nil)
            #expect(probe.newest?.time == MediaTime(seconds: 4))
            probe.engine.shutdown()
        }

        @Test func seekWithToleranceLandsAtMostThatFarBefore() async throws {
            let probe = try await probe(.cmafVideo)
            probe.engine.seek(
                id: 4, to: MediaTime(ticks: 51, timescale: 10), tolerance: MediaTime(ticks: 1, timescale: 2))
            probe.append(media.video, track: 0, from: 2, mediaOffset: .zero)
            let event = try await probe.wait { if case .seekCompleted(4, _) = $0 { true } else { false } }
            #expect(event == .seekCompleted(id: 4, time: MediaTime(ticks: 46, timescale: 10)))
            probe.engine.shutdown()
        }

        @Test func overtakenSeeksAreCancelledAndTheLastOneCompletes() async throws {
            let probe = try await probe(.muxedMP4)
            for id in 10..<UInt64(14) {
                probe.engine.seek(id: id, to: MediaTime(seconds: Int64(id) - 10))
            }
            probe.append(media.muxedMP4, track: 0, from: 1)
            #expect(try await probe.wait { $0 == .seekCompleted(id: 13, time: MediaTime(seconds: 3)) } != nil)
            let answers = probe.events.filter {
                switch $0 {
                case .seekCancelled, .seekCompleted: true
                case .ready, .firstFrame, .playing, .stallBegan, .stallEnded, .ended, .failed: false
                }
            }
            #expect(
                answers == [
                    .seekCancelled(id: 10), .seekCancelled(id: 11), .seekCancelled(id: 12),
                    .seekCompleted(id: 13, time: MediaTime(seconds: 3)),
                ])
            probe.engine.shutdown()
        }

        @Test func seekBeyondTheEndShowsTheLastFrame() async throws {
            let probe = try await probe(.cmafVideo)
            probe.engine.seek(id: 5, to: MediaTime(seconds: 100))
            probe.append(media.video, track: 0, from: 3, mediaOffset: .zero)
            #expect(try await probe.wait { $0 == .seekCompleted(id: 5, time: MediaTime(seconds: 8)) } != nil)
            let last = try #require(try await FFmpegTool.pictures(media.video.joined).pictures.last)
            #expect(probe.newest?.hash == last.hash)
            probe.engine.play()
            #expect(try await probe.wait { $0 == .ended } == .ended)
            probe.engine.shutdown()
        }
    }
}
