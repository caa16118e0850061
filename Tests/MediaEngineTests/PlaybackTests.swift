import CoreModel
import Foundation
import Testing

@testable import MediaEngine

extension EngineTests {
    /// The clock, in real time: what is due is shown, what is missing stops it.
    @Suite(.timeLimit(.minutes(5))) struct PlaybackTests {
        let media: TestMedia

        init() async throws {
            media = try await TestMedia.shared.value
        }

        private func segments(_ rendition: TestMedia.Rendition, _ range: Range<Int>) -> TestMedia.Rendition {
            TestMedia.Rendition(initialization: rendition.initialization, segments: Array(rendition.segments[range]))
        }

        @Test func everyFrameIsShownAtItsTimeAndTheEndComesOnce() async throws {
            let probe = EngineProbe(EngineConfiguration())
            probe.engine.addTrack(id: 0, kind: .video)
            probe.engine.addTrack(id: 1, kind: .audio)
            probe.append(segments(media.video, 0..<1), track: 0, mediaOffset: .zero)
            probe.append(segments(media.audio, 0..<1), track: 1, mediaOffset: .zero)
            let start = ContinuousClock.now
            probe.engine.play()
            #expect(try await probe.waitForEnd() == .ended)
            let elapsed = ContinuousClock.now - start
            #expect(elapsed > .milliseconds(1950))
            #expect(probe.shown.count + probe.engine.statistics.framesDropped == 50)
            #expect(probe.shown == probe.shown.sorted())
            #expect(probe.engine.position >= MediaTime(seconds: 2))
            #expect(probe.engine.rate == 0)
            try await Task.sleep(for: .milliseconds(50))
            #expect(probe.events.count { $0 == .ended } == 1)
            let ready = EngineEvent.ready(
                EngineInfo(pictureSize: PictureSize(width: 320, height: 180), hasVideo: true, hasAudio: true))
            #expect(probe.events.contains(ready) && probe.events.contains(.firstFrame(time: .zero)))
            probe.engine.shutdown()
        }

        @Test func enoughDataPlaysWithoutAStall() async throws {
            // A machine that is too busy to decode stalls by right: it gets three tries.
            for _ in 0..<3 {
                let probe = EngineProbe(EngineConfiguration())
                probe.engine.addTrack(id: 0, kind: .muxed)
                probe.append(segments(media.muxedMP4, 0..<1), track: 0)
                probe.engine.play()
                #expect(try await probe.waitForEnd() == .ended)
                probe.engine.shutdown()
                if probe.engine.statistics.stalls == 0 { return }
            }
            Issue.record("playback stalled three times")
        }

        @Test func theFirstFrameIsShownWhilePaused() async throws {
            let probe = EngineProbe(EngineConfiguration())
            probe.engine.addTrack(id: 0, kind: .muxed)
            probe.append(media.transportStream, track: 0)
            #expect(try await probe.wait { $0.isFirstFrame } == .firstFrame(time: .zero))
            try await Task.sleep(for: .milliseconds(100))
            #expect(probe.shown == [.zero])
            #expect(probe.engine.position == .zero)
            #expect(
                probe.engine.info
                    == EngineInfo(
                        pictureSize: PictureSize(width: 320, height: 180), hasVideo: true, hasAudio: true))
            probe.engine.shutdown()
        }

        @Test func decodingAheadIsBoundedWhilePaused() async throws {
            let probe = EngineProbe(EngineConfiguration())
            probe.engine.addTrack(id: 0, kind: .muxed)
            probe.append(media.muxedMP4, track: 0)
            #expect(try await probe.wait { $0.isFirstFrame } != nil)
            try await Task.sleep(for: .milliseconds(200))
            let limit = EngineConfiguration().decodedFrameLimit
            #expect(probe.pictures.count <= limit + 2)
            #expect(probe.engine.bufferedDuration(track: 0) > MediaTime(seconds: 6))
            probe.engine.shutdown()
        }

        @Test func missingDataStallsAndNewDataEndsTheStall() async throws {
            let probe = EngineProbe(EngineConfiguration())
            probe.engine.addTrack(id: 0, kind: .video)
            probe.append(segments(media.video, 0..<1), track: 0, mediaOffset: .zero, ends: false)
            probe.engine.play()
            // A machine that is too busy to decode stalls earlier, too.
            let border = MediaTime(ticks: 17, timescale: 10)
            let stall = try await probe.wait { event in
                if case .stallBegan(let position) = event { position > border } else { false }
            }
            guard case .stallBegan(let position)? = stall else {
                Issue.record("no stall")
                return
            }
            // The decoder holds its last frames back until it knows that none comes before them.
            #expect(position <= MediaTime(seconds: 2))
            #expect(probe.engine.position == position)
            probe.append(
                TestMedia.Rendition(initialization: nil, segments: Array(media.video.segments[..<2])), track: 0,
                from: 1,
                mediaOffset: .zero)
            #expect(try await probe.wait { $0 == .stallEnded(position: position) } != nil)
            #expect(try await probe.waitForEnd() == .ended)
            #expect(probe.engine.statistics.stalls >= 1)
            #expect(probe.shown.count + probe.engine.statistics.framesDropped == 100)
            probe.engine.shutdown()
        }

        @Test func theClockDoesNotStartOnTheFirstPictureAlone() async throws {
            let probe = EngineProbe(EngineConfiguration())
            probe.engine.addTrack(id: 0, kind: .muxed)
            probe.engine.play()
            let segment = media.transportStream.segments[0]
            let info = SegmentInfo(start: .zero, duration: MediaTime(seconds: Int64(TestMedia.segmentSeconds)))
            probe.engine.append(track: 0, .segmentBegan(info))
            // A packet at a time, as over a slow link, until the clock runs; then nothing more.
            for start in stride(from: 0, to: segment.count, by: 188) where !probe.events.contains(where: \.isPlaying) {
                probe.engine.append(track: 0, .bytes(segment[start..<min(start + 188, segment.count)]))
                try await Task.sleep(for: .milliseconds(2))
            }
            let stall = try await probe.wait { $0.isStallBegan }
            guard case .stallBegan(let position)? = stall else {
                Issue.record("no stall")
                return
            }
            #expect(position.duration >= EngineConfiguration().startThreshold)
            probe.engine.shutdown()
        }

        @Test func pauseStopsTheClockAndPlayGoesOn() async throws {
            let probe = EngineProbe(EngineConfiguration())
            probe.engine.addTrack(id: 0, kind: .video)
            probe.append(media.video, track: 0, mediaOffset: .zero)
            probe.engine.play()
            #expect(try await probe.wait { $0.isPlaying } != nil)
            while probe.engine.position < MediaTime(ticks: 1, timescale: 10) {
                try await Task.sleep(for: .milliseconds(2))
            }
            probe.engine.pause()
            let position = probe.engine.position
            #expect(position >= MediaTime(ticks: 1, timescale: 10))
            try await Task.sleep(for: .milliseconds(150))
            #expect(probe.engine.position == position)
            #expect(probe.engine.rate == 0)
            probe.engine.play()
            try await Task.sleep(for: .milliseconds(100))
            #expect(probe.engine.position > position)
            probe.engine.shutdown()
        }

        @Test func seekWhilePlayingGoesOnPlaying() async throws {
            let probe = EngineProbe(EngineConfiguration())
            probe.engine.addTrack(id: 0, kind: .muxed)
            probe.append(media.muxedMP4, track: 0)
            probe.engine.play()
            #expect(try await probe.wait { $0.isPlaying } != nil)
            let target = MediaTime(ticks: 73, timescale: 10)
            probe.engine.seek(id: 9, to: target)
            probe.append(media.muxedMP4, track: 0, from: 3)
            #expect(try await probe.wait { $0 == .seekCompleted(id: 9, time: target) } != nil)
            #expect(try await probe.waitForEnd() == .ended)
            probe.engine.shutdown()
        }

        @Test(arguments: [true, false]) func threadsEndSoonAfterShutdownOrRelease(explicitly: Bool) async throws {
            let id = explicitly ? 777 : 778
            var probe: EngineProbe? = EngineProbe(EngineConfiguration())
            probe?.engine.addTrack(id: id, kind: .muxed)
            probe?.append(media.transportStream, track: id, ends: false)
            probe?.engine.play()
            #expect(try await probe?.wait { $0.isPlaying } != nil)
            #expect(Self.threadNames.contains("engine-track\(id)"))
            weak let core = probe?.engine.core
            if explicitly { probe?.engine.shutdown() } else { probe = nil }
            let deadline = ContinuousClock.now + .seconds(1)
            while ContinuousClock.now < deadline, Self.threadNames.contains("engine-track\(id)") {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(!Self.threadNames.contains("engine-track\(id)"))
            guard !explicitly else { return }
            while ContinuousClock.now < deadline, core != nil { try await Task.sleep(for: .milliseconds(5)) }
            #expect(core == nil, "a thread still holds the engine")
        }

        private static var threadNames: [String] {
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            return tasks.compactMap { task in
                (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8))?
                    .trimmingCharacters(in: .newlines)
            }
        }
    }
}
