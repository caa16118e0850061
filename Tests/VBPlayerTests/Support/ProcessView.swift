import Foundation

/// What the system says of this process.
enum ProcessView {
    /// The names of the threads.
    static func threads() -> [String] {
        let folder = "/proc/self/task"
        let ids = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return ids.compactMap { try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8) }
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.sorted()
    }

    /// The player's threads.
    static func playerThreads() -> [String] { threads().filter { $0.hasPrefix("engine") || $0 == "vbplayer" } }

    /// What each open descriptor leads to.
    static func descriptors() -> [String] { targets().map(\.target).sorted() }

    private static func targets() -> [(descriptor: String, target: String)] {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")).map { (name, $0) }
        }
    }

    /// Whether a program that this process starts gets a descriptor.
    private static func isInherited(_ descriptor: String) -> Bool {
        let flags = contents("/proc/self/fdinfo/\(descriptor)").split(separator: "\n").first { $0.hasPrefix("flags:") }
        let value = flags?.split(whereSeparator: \.isWhitespace).last.flatMap { Int32($0, radix: 8) }
        return value.map { $0 & O_CLOEXEC == 0 } ?? false
    }

    /// A socket of the internet families.
    struct Socket: Hashable {
        var table: String
        var inode: String
        var localPort: UInt16
        var remotePort: UInt16
        var isListening: Bool
        /// Whether a program that this process starts gets it.
        var isInherited: Bool
    }

    /// The ports on which this process listens.
    static func listeningPorts() -> Set<UInt16> { Set(sockets().filter(\.isListening).map(\.localPort)) }

    /// The internet sockets that this process holds.
    static func sockets() -> [Socket] {
        let own = Dictionary(
            targets().filter { $0.target.hasPrefix("socket:[") }
                .map { ($0.target.dropFirst(8).dropLast(), $0.descriptor) }, uniquingKeysWith: { first, _ in first })
        return ["tcp", "tcp6", "udp", "udp6"].flatMap { table -> [Socket] in
            let lines = contents("/proc/self/net/\(table)")
            return lines.split(separator: "\n").dropFirst().compactMap { line in
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                guard fields.count > 9, let descriptor = own[fields[9]] else { return nil }
                let ports = fields[1...2].map { $0.split(separator: ":").last.flatMap { UInt16($0, radix: 16) } ?? 0 }
                return Socket(
                    table: table, inode: String(fields[9]), localPort: ports[0], remotePort: ports[1],
                    isListening: table.hasPrefix("tcp") && fields[3] == "0A", isInherited: isInherited(descriptor))
            }
        }
    }

    /// A file of /proc, which says that it is empty and so is read to its end.
    private static func contents(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path) else { return "" }
        var data = Data()
        while let piece = try? file.read(upToCount: 1 << 16), !piece.isEmpty { data += piece }
        return String(decoding: data, as: UTF8.self)
    }
}
