import Foundation

/// The traces and figures in ../shared beside the checkout.
enum SharedFiles {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../shared").standardizedFileURL

    static let arePresent = FileManager.default.fileExists(atPath: folder.appending(path: "traces").path)

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: path)))
    }
}
