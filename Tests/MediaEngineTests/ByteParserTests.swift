import CoreModel
import Testing

@testable import MediaEngine

extension EngineTests {
    /// The small parsers in front of the libraries.
    @Suite struct ByteParserTests {
        @Test func x264StatesItsReorderingDepth() async throws {
            let media = try await TestMedia.shared.value
            let initialization = try #require(media.video.initialization)
            let name = Array("avcC".utf8)
            let start = try #require(initialization.indices.first { initialization[$0...].starts(with: name) }) + 4
            #expect(H264Reordering(Array(initialization[start...])) == .stated)
        }

        @Test func h264WithoutUsabilityInformationSaysNothing() {
            // Main profile, level 3, one reference frame, 320 × 176, no VUI.
            let set: [UInt8] = [0, 0, 0, 1, 0x67, 77, 0, 30, 0xF4, 0x0A, 0x0B, 0xC8]
            #expect(H264Reordering(set) == .unstated)
            // The same in the Baseline profile, which has no reordering.
            let baseline: [UInt8] = [0, 0, 0, 1, 0x67, 66, 0, 30, 0xF4, 0x0A, 0x0B, 0xC8]
            #expect(H264Reordering(baseline) == H264Reordering.none)
            #expect(H264Reordering([0, 0, 0, 1, 0x67, 77]) == H264Reordering.none)
        }

        @Test func packedAudioTagIsTakenOffInAnySplit() {
            let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
            let body = owner + [0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF]
            let frame = Array("PRIV".utf8) + [0, 0, 0, UInt8(body.count), 0, 0] + body
            let bytes = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame + [0xFF, 0xF1]
            for cut in 0..<bytes.count {
                var tag = PackedAudioTag()
                var outcome = tag.append(bytes[..<cut])
                if case .needsBytes = outcome { outcome = tag.append(bytes[cut...]) }
                guard case .done(let timestamp, let rest) = outcome else {
                    Issue.record("cut at \(cut)")
                    continue
                }
                if cut > 0 { #expect(timestamp == 0x1_FFFF_FFFF) }
                if cut > 0, cut < bytes.count - 2 { #expect(rest.first == 0xFF) }
            }
        }

        @Test func containersAreToldFromTheirFirstBytes() {
            #expect(Container(sniffing: [0, 0, 0, 24] + Array("ftypisom".utf8)) == .mp4)
            #expect(Container(sniffing: [0x47, 0x40, 0, 0x10, 0, 0, 0xB0, 0x0D]) == .mpegTS)
            #expect(Container(sniffing: [0xFF, 0xF1, 0x50, 0x80, 0, 0, 0, 0]) == .adts)
            #expect(Container(sniffing: [0xFF, 0xFB, 0x90, 0, 0, 0, 0, 0]) == .mp3)
            #expect(Container(sniffing: Array("<!DOCTYPE html>".utf8)[...]) == nil)
            #expect(Container(sniffing: [0x47]) == nil)
        }
    }
}
