public import CoreModel

/// The signed head of a catalogue file.
public struct CatalogueHead: Hashable, Sendable {
    /// One authority's signature of the head.
    struct Seal: Hashable, Sendable {
        var keyID: KeyID
        var signature: Signature
    }

    /// The stream that every record is for.
    public let stream: StreamID
    /// The epoch that every record is of.
    public let epoch: UInt32
    /// The title, for people.
    public let title: String
    /// When it was signed; whole seconds.
    public let issued: UnixTime
    /// When it stops counting; whole seconds.
    public let expires: UnixTime
    /// How many records there are.
    public let recordCount: Int
    /// How many records a page holds, the last one excepted: a power of two.
    public let pageRecordCount: Int
    /// The bytes of the rendition table, which follows the head.
    let tableByteCount: Int
    /// The SHA-256 digest of table and directory.
    let indexDigest: Digest
    /// The root of the tree over all records.
    let root: Digest
    /// The signatures, by ascending key identifier.
    var seals: [Seal]

    static let magic: [UInt8] = [0x89] + Array("PDNCAT\n".utf8)
    static let version: UInt8 = 1
    /// The most bytes of a title.
    public static let maximumTitleByteCount = 1024
    /// The most bytes that head, table and directory take together: they are had with one request.
    public static let maximumIndexByteCount = 65536
    /// The sizes that a page may have.
    static let pageRecordCounts = (3...10).map { 1 << $0 }
    static let maximumSealCount = 8
    static let maximumRecordCount = 1 << 24

    /// How many pages there are.
    public var pageCount: Int { (recordCount + pageRecordCount - 1) / pageRecordCount }

    /// The bytes of the directory, which follows the table.
    var directoryByteCount: Int { pageCount * CatalogueDirectory.entryByteCount }

    /// What is signed: everything before the signatures.
    var statement: [UInt8] {
        var writer = WireWriter(capacity: 128 + title.utf8.count)
        writer.append(Self.magic)
        writer.integer(Self.version)
        writer.append(stream.value)
        writer.integer(epoch)
        writer.append(seconds: issued)
        writer.append(seconds: expires)
        writer.integer(UInt32(recordCount))
        writer.integer(UInt16(pageRecordCount))
        writer.integer(UInt32(tableByteCount))
        writer.append(indexDigest)
        writer.append(root)
        writer.prefixed16(Array(title.utf8))
        return writer.bytes
    }

    /// The message over which the key of `id` signs.
    private static func message(_ statement: [UInt8], by id: KeyID) -> [UInt8] {
        id.rawValue.bigEndianBytes + statement
    }

    /// Adds a signature.
    ///
    /// - Precondition: `key` is an authority's.
    mutating func sign(with key: RoleKey) {
        let seal = Seal(keyID: key.id, signature: key.sign(Self.message(statement, by: key.id), as: .catalogue))
        seals.removeAll { $0.keyID == key.id }
        seals.insert(seal, at: seals.firstIndex { $0.keyID > key.id } ?? seals.endIndex)
    }

    /// The bytes of the head.
    var encoded: [UInt8] {
        var writer = WireWriter(capacity: 256)
        writer.append(statement)
        writer.integer(UInt8(seals.count))
        for seal in seals {
            writer.integer(seal.keyID.rawValue)
            writer.append(seal.signature.first)
            writer.append(seal.signature.second)
        }
        return writer.bytes
    }

    init(
        stream: StreamID, epoch: UInt32, title: String, issued: UnixTime, expires: UnixTime, recordCount: Int,
        pageRecordCount: Int, tableByteCount: Int, indexDigest: Digest, root: Digest
    ) {
        self.stream = stream
        self.epoch = epoch
        self.title = title
        self.issued = UnixTime(seconds: max(0, issued.seconds))
        self.expires = UnixTime(seconds: max(0, expires.seconds))
        self.recordCount = recordCount
        self.pageRecordCount = pageRecordCount
        self.tableByteCount = tableByteCount
        self.indexDigest = indexDigest
        self.root = root
        seals = []
    }

    /// Reads the head at the start of a file, without checking its signatures.
    init(from reader: inout WireReader) throws(WireError) {
        guard try reader.slice(Self.magic.count).elementsEqual(Self.magic) else { throw .invalid(field: "magic") }
        guard try reader.integer(UInt8.self) == Self.version else { throw .invalid(field: "version") }
        stream = StreamID(try reader.bytes16())
        epoch = try reader.integer()
        issued = try reader.seconds("issued")
        expires = try reader.seconds("expires")
        recordCount = Int(try reader.integer(UInt32.self))
        pageRecordCount = Int(try reader.integer(UInt16.self))
        guard (1...Self.maximumRecordCount).contains(recordCount) else { throw .invalid(field: "record count") }
        guard Self.pageRecordCounts.contains(pageRecordCount) else { throw .invalid(field: "page size") }
        tableByteCount = Int(try reader.integer(UInt32.self))
        indexDigest = try reader.digest()
        root = try reader.digest()
        let bytes = try reader.prefixed16("title", limit: Self.maximumTitleByteCount)
        guard let title = String(validating: bytes, as: UTF8.self) else { throw .invalid(field: "title") }
        self.title = title
        let count = Int(try reader.integer(UInt8.self))
        guard (1...Self.maximumSealCount).contains(count) else { throw .invalid(field: "signature count") }
        seals = []
        for _ in 0..<count {
            let seal = Seal(keyID: KeyID(rawValue: try reader.integer()), signature: try reader.signature())
            if let last = seals.last, last.keyID >= seal.keyID { throw .invalid(field: "signature order") }
            seals.append(seal)
        }
    }

    /// Checks that enough trusted keys signed, and that the head counts now.
    func verify(
        trusting keys: [KeyID: VerificationKey], threshold: Int, now: UnixTime, suite: some CryptoSuite
    ) throws(CatalogueError) {
        let statement = statement
        var agreeing = 0
        for seal in seals {
            guard let key = keys[seal.keyID] else { continue }
            let message = Self.message(statement, by: seal.keyID)
            guard SignatureContext.catalogue.isValid(seal.signature, of: message, by: key, suite: suite) else {
                throw .invalidSignature(seal.keyID)
            }
            agreeing += 1
        }
        guard agreeing >= threshold else {
            throw agreeing == 0 ? .foreignAuthority : .tooFewSignatures(agreeing: agreeing, required: threshold)
        }
        guard issued <= now + AuthorityPolicy.clockTolerance, now <= expires + AuthorityPolicy.clockTolerance else {
            throw .expired
        }
    }
}
