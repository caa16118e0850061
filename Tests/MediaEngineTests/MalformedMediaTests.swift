import CoreModel
import MediaEngine
import Testing

extension EngineTests {
    /// Damaged media ends in playback of the rest or in a typed error, never in a trap or a hang.
    @Suite(.timeLimit(.minutes(3))) struct MalformedMediaTests {
        let media: TestMedia

        init() async throws {
            media = try await TestMedia.shared.value
        }

        @Test func unknownBytesFailWithTheContainer() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            let garbage = TestMedia.Rendition(
                initialization: nil, segments: Array(repeating: Array("<html>404 not found</html>".utf8), count: 6))
            probe.append(garbage, track: 0)
            #expect(try await probe.waitForEnd() == .failed(.unknownContainer(track: 0)))
        }

        @Test func oneUnreadableSegmentIsSkipped() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .muxed)
            var damaged = media.muxedMP4
            damaged.segments[1] = [UInt8](repeating: 0xA5, count: 5000)
            probe.append(damaged, track: 0)
            #expect(try await probe.waitForEnd() == .ended)
            let all = try await FFmpegTool.pictures(media.muxedMP4.joined).pictures.map(\.hash)
            let got = probe.pictures.map(\.hash)
            #expect(got.starts(with: all[..<50]))
            #expect(got.suffix(50).elementsEqual(all.suffix(50)))
        }

        @Test func truncatedInitialisationFails() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            var truncated = media.video
            truncated.initialization = truncated.initialization?.dropLast(300)
            probe.append(truncated, track: 0)
            let event = try await probe.waitForEnd()
            guard case .failed(.malformedContainer(track: 0, _))? = event else {
                Issue.record("\(String(describing: event))")
                return
            }
        }

        @Test func emptyTracksEnd() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            probe.engine.addTrack(id: 1, kind: .audio)
            probe.engine.append(track: 0, .endOfTrack)
            probe.append(TestMedia.Rendition(initialization: nil, segments: [[], []]), track: 1)
            #expect(try await probe.waitForEnd() == .ended)
        }

        @Test func appendBeyondTheLimitFails() async throws {
            var configuration = EngineConfiguration()
            configuration.encodedByteLimit = 100_000
            let probe = EngineProbe(configuration)
            probe.engine.addTrack(id: 0, kind: .video)
            let info = SegmentInfo(start: .zero)
            probe.engine.append(track: 0, .segmentBegan(info))
            probe.engine.append(track: 0, .bytes([UInt8](repeating: 0, count: 100_001)[...]))
            #expect(try await probe.waitForEnd() == .failed(.bufferOverflow(track: 0, limit: 100_000)))
        }

        @Test(arguments: 0..<40) func flippedBytesNeverTrapOrHang(seed: Int) async throws {
            var generator = SeededGenerator(seed: UInt64(seed))
            var rendition = seed.isMultiple(of: 2) ? media.muxedMP4 : media.transportStream
            func damage(_ bytes: inout [UInt8]) {
                guard !bytes.isEmpty else { return }
                for _ in 0..<Int.random(in: 1...60, using: &generator) {
                    let range = Bool.random(using: &generator) ? min(bytes.count, 1500) : bytes.count
                    bytes[Int.random(in: 0..<range, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                }
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
                }
            }
            if seed % 8 == 0, var initialization = rendition.initialization {
                damage(&initialization)
                rendition.initialization = initialization
            }
            for index in rendition.segments.indices { damage(&rendition.segments[index]) }
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .muxed)
            probe.append(rendition, track: 0)
            #expect(try await probe.waitForEnd(seconds: 60) != nil)
        }
    }
}
