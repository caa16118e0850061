import Foundation
import TestSupport
@testable import VBPlayer

/// Short media that ffmpeg makes, and what `Python/protect.py` makes of it: one folder a process.
enum ProtectedMedia {
    static let isAvailable = ["nginx", "ffmpeg", "python3", "openssl"].allSatisfy { Programs.installed($0) != nil }

    static let keyID = "00112233445566778899aabbccddee00"
    /// That of the second fragment on where keys change.
    static let otherKeyID = "00112233445566778899aabbccddee01"
    static let key = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    /// Its counter passes 2^64 on the way.
    static let vector = "a0a1a2a3a4a5a6a7fffffffffffffff0"

    /// The settings of a viewer who was given the keys.
    static var settings: PlayerSettings {
        get throws {
            var settings = PlayerSettings()
            for id in [keyID, otherKeyID] { try settings.store(name: VBContentKeysKey, text: "\(id):\(key)") }
            return settings
        }
    }

    /// A folder with `video.mp4` and `audio.mp4` in fragments, `video.h264`, `audio.aac`, `audio.ac3` and `all.ts`, and
    /// what a clear stream shows.
    static let source = Task {
        let folder = try TestFolder("protected")
        try await ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=3", "-f", "lavfi", "-i",
                "sine=frequency=440:sample_rate=48000:duration=3", "-c:v", "libx264", "-preset", "ultrafast", "-bf",
                "0",
                "-g", "25", "-keyint_min", "25", "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a",
                "64k", "all.mp4",
            ], in: folder)
        let fragments = ["-c", "copy", "-movflags", "+frag_keyframe+empty_moov+default_base_moof"]
        try await ffmpeg(["-i", "all.mp4", "-map", "0:v"] + fragments + ["video.mp4"], in: folder)
        try await ffmpeg(
            ["-i", "all.mp4", "-map", "0:a", "-frag_duration", "1000000"] + fragments + ["audio.mp4"], in: folder)
        try await ffmpeg(
            ["-i", "all.mp4", "-map", "0:v", "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f", "h264", "video.h264"],
            in: folder)
        try await ffmpeg(["-i", "all.mp4", "-map", "0:a", "-c", "copy", "audio.aac"], in: folder)
        try await ffmpeg(["-i", "all.mp4", "-map", "0:a", "-c:a", "ac3", "-b:a", "128k", "audio.ac3"], in: folder)
        try await ffmpeg(["-i", "all.mp4", "-c", "copy", "-f", "mpegts", "all.ts"], in: folder)
        try folder.write(bytes(of: key), to: "key.bin")
        let text = try await ChildProcess.output(
            "ffmpeg", ["-nostdin", "-loglevel", "error", "-i", folder.path("video.mp4"), "-f", "framemd5", "-"])
        let pictures = String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
            line.hasPrefix("#")
                ? nil : line.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) }
        }
        return (folder: folder, pictures: pictures)
    }

    /// Encrypts a file of the folder.
    static func protect(_ scheme: String, _ source: String, _ target: String) async throws {
        let folder = try await Self.source.value.folder
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Python/protect.py").path
        try await ChildProcess.output(
            "python3", [script, scheme, keyID, key, vector, folder.path(source), folder.path(target)])
    }

    static func ffmpeg(_ arguments: [String], in folder: TestFolder) async throws {
        try await ChildProcess.output(
            "ffmpeg", ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"] + arguments, in: folder.path)
    }

    /// What hexadecimal digits spell.
    static func bytes(of text: String) -> [UInt8] {
        stride(from: 0, to: text.count, by: 2).compactMap { place in
            UInt8(text.dropFirst(place).prefix(2), radix: 16)
        }
    }

    /// An MPD of files, each with what it says of its protection.
    static func manifest(video: String, _ videoProtection: String, audio: String, _ audioProtection: String) -> String {
        """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:cenc="urn:mpeg:cenc:2013" type="static"
          mediaPresentationDuration="PT3S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" minBufferTime="PT1S">
        <Period><AdaptationSet mimeType="video/mp4" codecs="avc1.42c00d">\(videoProtection)
          <Representation id="v" bandwidth="300000"><BaseURL>\(video)</BaseURL></Representation></AdaptationSet>
        <AdaptationSet mimeType="audio/mp4" codecs="mp4a.40.2">\(audioProtection)
          <Representation id="a" bandwidth="64000"><BaseURL>\(audio)</BaseURL></Representation></AdaptationSet>
        </Period></MPD>
        """
    }

    static func protection(_ scheme: String, keyID: String = keyID) -> String {
        """
        <ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="\(scheme)" cenc:default_KID="\(keyID)"/>
        """
    }

    /// A media playlist of files of three seconds.
    static func playlist(_ key: String, _ files: [String]) -> String {
        (["#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:5", key]
            + files.flatMap { ["#EXTINF:3,", $0] } + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }
}
