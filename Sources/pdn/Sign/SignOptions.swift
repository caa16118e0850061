import CommandLineSupport
import CoreModel
import Cryptography
import Integrity

/// The checked options of `pdn sign`.
struct SignOptions: Sendable {
    let manifests: [String]
    let stream: StreamID
    let title: String
    let epoch: UInt32
    let life: Duration
    let jobs: Int
    let output: String
    let startsOver: Bool
    let keys: [RoleKey]
    let suite = SystemCryptoSuite()

    init(_ arguments: CommandArguments) throws(CommandFailure) {
        let files = arguments.values("key")
        guard !files.isEmpty else { throw .usage("--key FILE is missing") }
        guard files.count <= SegmentRecord.maximumSignatureCount else {
            throw .usage("at most \(SegmentRecord.maximumSignatureCount) keys sign together")
        }
        manifests = arguments.operands.map { $0.contains("://") ? $0 : "https://" + $0 }
        stream = StreamIdentity.stream(named: arguments.required("stream"), suite: suite)
        title = arguments.value("title") ?? arguments.required("stream")
        guard title.utf8.count <= CatalogueHead.maximumTitleByteCount else {
            throw .usage("--title takes at most \(CatalogueHead.maximumTitleByteCount) bytes")
        }
        epoch = UInt32(try arguments.integer("epoch", in: 0...Int(UInt32.max), default: 0))
        life = try arguments.duration("expires") ?? .seconds(365 * 86400)
        guard life >= .seconds(1) else { throw .usage("--expires wants at least 1s") }
        jobs = try arguments.integer("jobs", in: 1...64, default: 8)
        output = arguments.required("out")
        startsOver = arguments.flag("restart")
        var keys: [RoleKey] = []
        for path in files {
            let file = try KeyStorage.read(path)
            keys.append(try KeyStorage.key(of: file, for: .authority, path: path, suite: suite))
        }
        guard Set(keys.map(\.id)).count == keys.count else { throw .usage("a key is given twice") }
        self.keys = keys
    }
}
