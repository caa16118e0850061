import CoreModel
import Delivery
import EventLoop
import Foundation
import Testing

/// What an origin answers or a manifest says may be absurd: a clear error or playback, never a trap or a hang.
@Suite(.timeLimit(.minutes(2))) struct HostileOriginTests {
    /// Head fields of an answer that can't be used, whatever its body.
    @Test(arguments: [
        (200, ["Content-Length: 9223372036854775807"]), (200, ["Content-Length: 70000000"]),
        (206, ["Content-Length: 10"]),
        (206, ["Content-Range: bytes 9223372036854775807-9223372036854775807/*", "Content-Length: 10"]),
        (206, ["Content-Range: bytes 35184372088832-35184372088841/*", "Content-Length: 10"]),
        (206, ["Content-Range: bytes 0-9/1000000000000000", "Content-Length: 10"]),
        (206, ["Content-Range: bytes 0-9/0", "Content-Length: 10"]),
        (206, ["Content-Range: bytes 5-1/3", "Content-Length: 10"]),
    ])
    func anAnswerWithAnAbsurdHeadIsAnError(status: Int, fields: [String]) async throws {
        let title = TestTitle()
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.origin.files[TestTitle.path(1)]?.fields = fields
            stage.origin.files[TestTitle.path(1)]?.fieldStatus = status
            stage.play(onEnd: end)
        }
        let error = try #require(result.error)
        #expect("\(error)".contains(TestTitle.path(1)))
        #expect(result.bytes.first == title.segments[0])
    }

    @Test(arguments: [
        "0@0", "9223372036854775807@0", "10@9223372036854775806", "9223372036854775807@9223372036854775807",
    ])
    func anAbsurdByteRangeIsAnError(range: String) async throws {
        for line in ["#EXT-X-BYTERANGE:\(range)", "#EXT-X-MAP:URI=\"0.ts\",BYTERANGE=\"\(range)\""] {
            let playlist = """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:2
                #EXT-X-PLAYLIST-TYPE:VOD
                \(line)
                #EXTINF:1,
                0.ts
                #EXT-X-ENDLIST

                """
            let result: ViewerResult = try await Stage.run(TestTitle()) { stage, end in
                stage.origin.files[TestTitle.manifestPath] = TestOrigin.File(bytes: Array(playlist.utf8))
                stage.play({ $0.usesPeers = false }, onEnd: end)
            }
            // Where an end beyond the resource is all that is wrong, what there is of it is played.
            if line.contains("MAP") || range == "0@0" { #expect(result.error != nil, "\(line)") }
        }
    }

    /// Bandwidths and durations at the ends of their types.
    @Test(arguments: [
        #"bandwidth="18446744073709551615""#, #"bandwidth="18446744073709551615" qualityRanking="1""#,
    ])
    func absurdBandwidthsArePlayed(attribute: String) async throws {
        let title = TestTitle(hasTwoHosts: true)
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            let text = String(decoding: stage.origin.files[TestTitle.manifestPath]?.bytes ?? [], as: UTF8.self)
            let place = try #require(text.firstRange(of: #"bandwidth="1600000""#))
            stage.origin.files[TestTitle.manifestPath]?.bytes = Array(
                text.replacingCharacters(in: place, with: attribute).utf8)
            stage.play(onEnd: end)
        }
        #expect(result.bytes == title.segments)
    }
}
