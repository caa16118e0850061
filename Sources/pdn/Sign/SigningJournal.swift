import CommandLineSupport
import CoreModel
import Cryptography
import Glibc
import Integrity

/// What a signing run has hashed so far, in a file beside its output, so that the next run goes on from there.
///
/// A line for each finished resource: byte count, range (`first-end`, or `-`), stripe layer in hexadecimal, address. A
/// line that was cut off by a crash is passed over. Addresses may hold tokens, so the file is its owner's alone. A journal
/// that was last written a day ago is forgotten: by then the origin may serve other bytes under the same addresses.
struct SigningJournal: ~Copyable {
    private static let heading = "pdn-sign-journal 1"
    private static let longestPauseSeconds = 86400

    /// The trees of earlier runs.
    private(set) var finished: [SegmentResource: SegmentTree] = [:]
    /// Where it is.
    let path: String
    private let descriptor: Int32

    /// Opens the journal at `path` and reads what is there.
    ///
    /// - Parameter startsOver: Whether to forget it.
    init(path: String, startsOver: Bool, suite: SystemCryptoSuite) throws(CommandFailure) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (startsOver ? O_TRUNC : 0), 0o600)
        guard descriptor >= 0 else {
            throw .failed("\(path) can't be written: \(String(cString: strerror(errno)))")
        }
        let isStale = Self.age(of: descriptor) > Self.longestPauseSeconds
        let text = String(decoding: Self.contents(of: descriptor), as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let isTorn = !(lines.popLast() ?? "").isEmpty
        if isStale || lines.first.map(String.init) != Self.heading {
            guard ftruncate(descriptor, 0) == 0, append(Self.heading) else {
                throw .failed("\(path) can't be written: \(String(cString: strerror(errno)))")
            }
            return
        }
        for line in lines.dropFirst() {
            if let (resource, tree) = Self.parse(line, suite: suite) { finished[resource] = tree }
        }
        // Ends the torn line, so that the next one begins on its own.
        if isTorn { _ = append("") }
    }

    deinit { close(descriptor) }

    /// Notes a finished resource.
    func note(_ resource: SegmentResource, _ tree: SegmentTree) {
        let range = resource.byteRange.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "-"
        let layer = tree.stripeLayer.map(\.description).joined()
        // A full disk costs the resumption, not the run.
        _ = append("\(tree.geometry.byteCount) \(range) \(layer) \(resource.url)")
    }

    /// Removes the file: the run is complete.
    func remove() { unlink(path) }

    private func append(_ line: String) -> Bool {
        let bytes = Array((line + "\n").utf8)
        return bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == bytes.count
    }

    private static func parse(
        _ line: Substring, suite: SystemCryptoSuite
    ) -> (SegmentResource, SegmentTree)? {
        let fields = line.split(separator: " ", maxSplits: 3)
        guard fields.count == 4, let byteCount = Int(fields[0]), let bytes = Hexadecimal.decode(fields[2]),
            bytes.count.isMultiple(of: 32)
        else { return nil }
        var range: Range<UInt64>?
        if fields[1] != "-" {
            let ends = fields[1].split(separator: "-").compactMap { UInt64($0) }
            guard ends.count == 2, ends[0] < ends[1] else { return nil }
            range = ends[0]..<ends[1]
        }
        let layer = stride(from: 0, to: bytes.count, by: 32).compactMap { Digest(bytes[$0..<$0 + 32]) }
        return SegmentTree(byteCount: byteCount, stripeLayer: layer, suite: suite).map {
            (SegmentResource(url: String(fields[3]), byteRange: range), $0)
        }
    }

    /// Seconds since the file was last written.
    private static func age(of descriptor: Int32) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return 0 }
        return time(nil) - status.st_mtim.tv_sec
    }

    private static func contents(of descriptor: Int32) -> [UInt8] {
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return contents }
            contents += buffer[..<count]
        }
    }
}
