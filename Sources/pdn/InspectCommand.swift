import CommandLineSupport
import Glibc
import Manifest

/// `pdn inspect`: shows a manifest as this project understands it.
enum InspectCommand: Subcommand {
    static let name = "inspect"

    static let specification = CommandSpecification(
        name: "pdn inspect", summary: "shows an HLS playlist or an MPD as this player understands it",
        operands: "FILE", operandCount: 1...1,
        options: [
            .value("base", "URL", "take the file as if it had been fetched from this URL"),
            .flag("json", "print one JSON document instead of a tree"),
            .repeated("define", "NAME=VALUE", "a value for EXT-X-DEFINE:IMPORT"),
        ],
        notes: ["Exit codes: 3 if the input is no manifest, 4 if it can't be read or reached."])

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        let operand = arguments.operands[0]
        var variables: [String: String] = [:]
        for definition in arguments.values("define") {
            guard let equals = definition.firstIndex(of: "=") else {
                throw CommandFailure.usage("--define wants NAME=VALUE, not \(definition)")
            }
            variables[String(definition[..<equals])] = String(definition[definition.index(after: equals)...])
        }
        let bytes = try read(operand)
        let url = arguments.value("base") ?? fileURL(operand)
        do {
            let document = try ManifestDocument.parse(bytes, url: url, variables: variables)
            if arguments.flag("json") {
                Terminal.print(try ManifestInspection.json(document))
            } else {
                for line in try ManifestInspection.tree(document) { Terminal.print(line) }
            }
        } catch {
            throw CommandFailure.badInput("\(operand): \(error)")
        }
        return .done
    }

    /// Reads a file, one byte more than the largest manifest at most.
    private static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        func failure() -> CommandFailure { .unreachable("\(path) can't be read: \(String(cString: strerror(errno)))") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= ManifestLimits.playlistByteCount {
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { break }
            bytes.append(contentsOf: piece.prefix(count))
        }
        return bytes
    }

    /// The URL that a file's references are resolved against when no other is given.
    private static func fileURL(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return "file://" + path }
        defer { free(folder) }
        return "file://\(String(cString: folder))/\(path)"
    }
}
