import Foundation
import TestSupport

/// Runs the `ffmpeg` program, which makes the test streams and says what they decode to.
enum FFmpegTool {
    /// A picture of ffmpeg's decode.
    struct Picture: Hashable {
        let time: Int64
        let duration: Int64
        let size: Int
        let hash: String
    }

    @discardableResult
    static func run(_ arguments: [String], in folder: URL? = nil) async throws -> Data {
        try await ChildProcess.output(
            "ffmpeg", ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"] + arguments, in: folder?.path)
    }

    /// The pictures that ffmpeg decodes from `bytes`, and the time base's denominator (the numerator is 1).
    static func pictures(_ bytes: [UInt8]) async throws -> (pictures: [Picture], timescale: Int64) {
        let text = try await decode(bytes, ["-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
        var timescale: Int64 = 1
        var pictures: [Picture] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#tb 0: "), let last = line.split(separator: "/").last { timescale = Int64(last) ?? 1 }
            guard !line.hasPrefix("#") else { continue }
            let columns = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            guard columns.count == 6, let time = Int64(columns[2]), let duration = Int64(columns[3]),
                let size = Int(columns[4])
            else { continue }
            pictures.append(Picture(time: time, duration: duration, size: size, hash: columns[5]))
        }
        return (pictures, timescale)
    }

    /// Samples per channel that ffmpeg decodes from `bytes`.
    static func sampleCount(_ bytes: [UInt8]) async throws -> Int {
        let text = try await decode(
            bytes, ["-map", "0:a:0", "-ac", "1", "-c:a", "pcm_s16le", "-f", "framecrc", "-"])
        return text.split(separator: "\n").reduce(0) { sum, line in
            guard !line.hasPrefix("#") else { return sum }
            let columns = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return columns.count >= 5 ? sum + (Int(columns[4]) ?? 0) / 2 : sum
        }
    }

    private static func decode(_ bytes: [UInt8], _ arguments: [String]) async throws -> String {
        let folder = try TestFolder("engine")
        try folder.write(bytes, to: "input")
        let output = try await run(["-i", folder.path("input")] + arguments)
        return withExtendedLifetime(folder) { String(decoding: output, as: UTF8.self) }
    }
}
