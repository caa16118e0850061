public import Foundation
import Glibc

/// A temporary folder, removed with its last reference and with this process, however that ends.
public final class TestFolder: Sendable {
    public let url: URL

    /// Makes an empty folder.
    public init(_ name: String) throws {
        url = try Self.root.get().appending(path: "\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }  // What is left goes with the process.

    /// Its path.
    public var path: String { url.path }

    /// The path of a file in it.
    public func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file in it, in folders that are made.
    public func write(_ bytes: some Collection<UInt8>, to name: String) throws {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    /// Writes a text file in it.
    public func write(_ text: String, to name: String) throws { try write(text.utf8, to: name) }

    /// Holds the folders of this process. A shell that waits for this process's end removes it.
    private static let root = Result { () throws -> URL in
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "pdn-tests-\(getpid())-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Its own end stays open until this process is gone.
        let lifeline = try Spawn.connection()
        defer { close(lifeline.other) }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        // Again while children that end with this process still write.
        let script = #"read -r _; until rm -rf -- "$1"; do sleep 0.1; done"#
        // In a session of its own, out of reach of what a terminal sends to this process.
        _ = try Spawn.run(
            ["setsid", "sh", "-c", script, "sh", folder.path], descriptors: [lifeline.other, nothing, nothing])
        return folder
    }
}
