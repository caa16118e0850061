import Foundation

/// A program of this package, as it was built beside the tests.
struct BuiltTool {
    let url: URL

    init?(_ name: String) {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        url = folder.appendingPathComponent(name)
        guard FileManager.default.isExecutableFile(atPath: url.path) else { return nil }
    }

    /// Runs to the end and gives what was printed, off the threads that run the tests.
    func run(_ arguments: [String]) async throws -> String {
        let url = url
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let process = Process()
                        let output = Pipe()
                        process.executableURL = url
                        process.arguments = arguments
                        process.standardOutput = output
                        process.standardError = FileHandle.nullDevice
                        try process.run()
                        let data = output.fileHandleForReading.readDataToEndOfFile()
                        process.waitUntilExit()
                        guard process.terminationStatus == 0 else {
                            throw TestCDN.Failure(description: "\(url.lastPathComponent) \(arguments) failed")
                        }
                        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
                    })
            }
        }
    }

    /// Starts, waits for the first line that is printed, and gives it with the process, which the caller ends.
    func start(_ arguments: [String]) async throws -> (line: String, process: Process) {
        let process = Process()
        let output = Pipe()
        process.executableURL = url
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let line = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let data = output.fileHandleForReading.availableData
                continuation.resume(returning: String(decoding: data, as: UTF8.self))
            }
        }
        return (line, process)
    }
}
