import CoreModel
import MediaEngine
import Synchronization
import Testing

extension EngineTests {
    /// The engine adds next to nothing to what the libraries need for the first picture.
    @Suite(.timeLimit(.minutes(5)), .serialized) struct LatencyTests {
        let media: TestMedia

        init() async throws {
            media = try await TestMedia.shared.value
        }

        /// Seconds from making an engine to its first picture.
        private func engineLatency(_ rendition: TestMedia.Rendition, kind: TrackKind) async -> Double {
            let shown = Mutex<ContinuousClock.Instant?>(nil)
            let sink = FrameSink { _ in
                shown.withLock { if $0 == nil { $0 = ContinuousClock.now } }
            }
            let start = ContinuousClock.now
            let engine = MediaEngine(sink: sink) { _ in }
            engine.addTrack(id: 0, kind: kind)
            if let initialization = rendition.initialization {
                engine.append(track: 0, .initialization(initialization))
            }
            engine.append(track: 0, .segmentBegan(SegmentInfo(start: .zero)))
            engine.append(track: 0, .bytes(rendition.segments[0][...]))
            engine.append(track: 0, .segmentEnded)
            while shown.withLock({ $0 }) == nil { await Task.yield() }
            engine.shutdown()
            return (shown.withLock { $0 }.map { $0 - start } ?? .zero) / .seconds(1)
        }

        private func bareLatency(_ rendition: TestMedia.Rendition) throws -> Double {
            let bytes = (rendition.initialization ?? []) + rendition.segments[0]
            let start = ContinuousClock.now
            _ = try BareDecoder.firstPicture(of: bytes)
            return (ContinuousClock.now - start) / .seconds(1)
        }

        @Test(arguments: [true, false]) func firstPictureComesAsFastAsTheLibrariesAllow(isTransportStream: Bool)
            async throws
        {
            let rendition = isTransportStream ? media.transportStream : media.muxedMP4
            var (engine, bare): ([Double], [Double]) = ([], [])
            for _ in 0..<30 {
                bare.append(try bareLatency(rendition))
                engine.append(await engineLatency(rendition, kind: .muxed))
            }
            let (best, floor) = (engine.min() ?? 0, bare.min() ?? 0)
            print("first picture: engine \(best * 1000) ms, bare \(floor * 1000) ms, ratio \(best / floor)")
            // Loose, for loaded machines and unoptimised builds; the benchmark holds the engine to 1.3.
            #expect(best < floor * 2 + 0.05)
        }
    }
}
