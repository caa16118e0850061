import Delivery
import Foundation
import TestSupport
import Testing

@testable import VBPlayer

/// Encrypted streams, made by programs that are not this one, through the whole player.
@Suite(
    .enabled(if: ProtectedMedia.isAvailable, "needs nginx, ffmpeg, python3 and openssl"), .timeLimit(.minutes(5)))
struct ProtectedStreamTests {
    private func play(
        _ manifest: String, named name: String, settings: PlayerSettings = PlayerSettings()
    ) async throws -> (run: StreamRun, pictures: [String]) {
        let source = try await ProtectedMedia.source.value
        try source.folder.write(manifest, to: name)
        let server = try await FolderServer(root: source.folder.path)
        return (try await StreamRun.play(server.url(name), settings: settings), source.pictures)
    }

    @Test(arguments: ["cenc", "cens", "cbc1", "cbcs", "cenc+saio", "cbcs+seig"])
    func commonEncryptionPlaysWithAKeyOfTheSettings(scheme: String) async throws {
        for kind in ["video", "audio"] {
            try await ProtectedMedia.protect(scheme, "\(kind).mp4", "\(kind)-\(scheme).mp4")
        }
        let protection = ProtectedMedia.protection(String(scheme.prefix(4)))
        let (run, pictures) = try await play(
            ProtectedMedia.manifest(
                video: "video-\(scheme).mp4", protection, audio: "audio-\(scheme).mp4", protection),
            named: "\(scheme).mpd", settings: ProtectedMedia.settings)
        #expect(run.failure == nil)
        #expect(run.pictures == pictures)
        #expect(abs(run.sampleCount - 3 * 48_000) <= 2048)
        #expect(!run.log.contains { $0.contains(ProtectedMedia.key) })
    }

    @Test func aProtectedTrackWithoutAKeyIsLeftOutAndTheRestPlays() async throws {
        try await ProtectedMedia.protect("cenc", "audio.mp4", "audio-locked.mp4")
        let locked = ProtectedMedia.protection("cenc", keyID: "ffffffff-ffff-ffff-ffff-ffffffffffff")
        let (run, pictures) = try await play(
            ProtectedMedia.manifest(video: "video.mp4", "", audio: "audio-locked.mp4", locked), named: "half.mpd",
            settings: ProtectedMedia.settings)
        #expect(run.failure == nil && run.pictures == pictures && run.sampleCount == 0)
        #expect(run.log.contains { $0.contains("\"a\" is encrypted (cenc), and no key was given for ffffffff") })

        let (nothing, _) = try await play(
            ProtectedMedia.manifest(video: "video.mp4", locked, audio: "audio-locked.mp4", locked), named: "none.mpd")
        #expect(nothing.failure?.contains("is encrypted (cenc)") == true && nothing.pictures.isEmpty)
    }

    @Test func mediaWhoseKeyIsAnotherThanTheManifestSaysEndWithAnErrorThatNamesIt() async throws {
        try await ProtectedMedia.protect("cbcs", "video.mp4", "video-lost.mp4")
        var settings = PlayerSettings()
        let other = String(repeating: "ee", count: 16)
        try settings.store(name: VBContentKeysKey, text: "\(other):\(ProtectedMedia.key)")
        let protection = ProtectedMedia.protection("cbcs", keyID: other)
        let (run, _) = try await play(
            ProtectedMedia.manifest(video: "video-lost.mp4", protection, audio: "audio.mp4", ""), named: "lost.mpd",
            settings: settings)
        #expect(run.failure?.contains(ProtectedMedia.keyID) == true, "\(run.failure ?? "played")")
    }

    @Test func sampleAESPlaysInTransportStreamsAndPackedAudio() async throws {
        let folder = try await ProtectedMedia.source.value.folder
        try await ProtectedMedia.protect("h264", "video.h264", "locked.h264")
        try await ProtectedMedia.ffmpeg(
            ["-r", "25", "-f", "h264", "-i", "locked.h264", "-c", "copy", "-f", "mpegts", "locked.ts"], in: folder)
        let key = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key.bin\",IV=0x\(ProtectedMedia.vector)"
        let (video, pictures) = try await play(
            ProtectedMedia.playlist(key, ["locked.ts"]), named: "sample-aes-video.m3u8")
        #expect(video.failure == nil)
        #expect(video.pictures == pictures)
        for kind in ["aac", "ac3"] {
            try await ProtectedMedia.protect(kind, "audio.\(kind)", "locked.\(kind)")
            let (clear, _) = try await play(
                ProtectedMedia.playlist("", ["audio.\(kind)"]), named: "clear-\(kind).m3u8")
            let (locked, _) = try await play(
                ProtectedMedia.playlist(key, ["locked.\(kind)"]), named: "sample-aes-\(kind).m3u8")
            #expect(locked.failure == nil)
            #expect(locked.sampleCount == clear.sampleCount && clear.sampleCount > 140_000)
        }
    }

    @Test func wholeSegmentsOfOpenSSLAndKeysOfTheirSizeAloneAreTaken() async throws {
        let folder = try await ProtectedMedia.source.value.folder
        // Without an IV it is the media sequence number, which the playlist begins with 5.
        for (bits, key) in [(128, ProtectedMedia.key), (256, ProtectedMedia.key + ProtectedMedia.vector)] {
            try await ChildProcess.output(
                "openssl",
                [
                    "enc", "-aes-\(bits)-cbc", "-K", key, "-iv", String(format: "%032x", 5), "-in",
                    folder.path("all.ts"), "-out", folder.path("whole-\(bits).ts"),
                ])
            try folder.write(ProtectedMedia.bytes(of: key), to: "key-\(bits).bin")
            let tag = "#EXT-X-KEY:METHOD=AES-\(bits),URI=\"key-\(bits).bin\""
            let (run, pictures) = try await play(
                ProtectedMedia.playlist(tag, ["whole-\(bits).ts"]), named: "whole-\(bits).m3u8")
            #expect(run.failure == nil)
            #expect(run.pictures == pictures)
        }
        // A key that is short, long, or not there.
        try folder.write(ProtectedMedia.bytes(of: ProtectedMedia.key).dropLast(), to: "short.bin")
        try folder.write([UInt8](repeating: 7, count: 5000), to: "long.bin")
        for (name, words) in [("short", "15 bytes, and not 16"), ("long", "more than 64"), ("absent", "404")] {
            let (run, _) = try await play(
                ProtectedMedia.playlist("#EXT-X-KEY:METHOD=AES-128,URI=\"\(name).bin\"", ["whole-128.ts"]),
                named: "\(name).m3u8")
            #expect(run.failure?.contains(words) == true && run.pictures.isEmpty, "\(run.failure ?? "played")")
        }
        // What is cut inside a block plays to there, and says so; with another key nothing does.
        let whole = try Data(contentsOf: folder.url.appending(path: "whole-128.ts"))
        try folder.write(whole.dropLast(1000), to: "cut.ts")
        let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\"key-128.bin\""
        let (cut, pictures) = try await play(ProtectedMedia.playlist(tag, ["cut.ts"]), named: "cut.m3u8")
        #expect(cut.failure == nil && cut.pictures.count > pictures.count * 9 / 10)
        #expect(cut.log.contains { $0.contains("it ends inside a block") })
        try folder.write([UInt8](repeating: 1, count: 16), to: "wrong.bin")
        let (wrong, _) = try await play(
            ProtectedMedia.playlist(
                "#EXT-X-KEY:METHOD=AES-128,URI=\"wrong.bin\"", [String](repeating: "whole-128.ts", count: 3)),
            named: "wrong.m3u8")
        #expect(wrong.failure?.contains("can't be decrypted") == true, "\(wrong.failure ?? "played")")
    }

    @Test(arguments: ["", "00", "zz:00", "\(ProtectedMedia.keyID):\(ProtectedMedia.key)00"])
    func aContentKeySettingThatIsNoneIsRefusedAndNotRepeated(text: String) {
        var settings = PlayerSettings()
        let error = #expect(throws: NSError.self) { try settings.store(name: VBContentKeysKey, text: text) }
        let sentence = error.map { "\($0.localizedDescription) \($0)" } ?? ""
        #expect(sentence.contains("VBContentKeysKey") && !sentence.contains(ProtectedMedia.key))
    }
}
