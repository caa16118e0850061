import CoreModel

/// Follows the top-level boxes of an MP4 that comes in pieces, checks them, and says how they are to be read.
///
/// `moov` and `moof` are collected and checked as a whole; media data passes through as it comes. A file whose media data
/// comes before its `moov` is handed out when the `moov` is complete. A refused piece leaves everything as it was.
struct MP4Walker {
    /// What to do with appended bytes, in order.
    enum Unit: Equatable {
        /// An initialisation section, complete.
        case initialization([UInt8])
        /// Bytes to read on with; `begins` a stream of its own (a file with its `moov` in front).
        case bytes(ArraySlice<UInt8>, begins: Bool)
        /// A whole file that must be read out of order.
        case file([UInt8])
    }

    /// What of a file has come.
    private enum Layout {
        /// No `moov` since the start, or a new initialisation section has begun; what came is kept.
        case prologue
        /// As `prologue`, and media data has come before the `moov`.
        case mediaFirst
        case fragments
        /// A file with its `moov` in front: bytes pass through.
        case progressive
        /// A file was handed out; what follows it is skipped.
        case handedOut
    }

    private enum Box {
        /// Between boxes, or inside a header of which `partial` has the beginning.
        case header
        /// Inside a box that is collected whole.
        case collecting(BoxType, headerByteCount: Int, remaining: UInt64)
        /// Inside a box that passes through; `remaining` is nil when it runs to the end.
        case passing(BoxType, remaining: UInt64?)
    }

    let coding: DataCoding
    let fileByteLimit: Int
    private var layout = Layout.prologue
    private var box = Box.header
    private var partial: [UInt8] = []
    /// Bytes kept back: the prologue, or the whole file.
    private var held: [ArraySlice<UInt8>] = []
    private var heldByteCount = 0
    private var collected: [UInt8] = []
    private var offset = 0
    private var header: MovieHeader?
    /// Durations of the samples that have come completely.
    private var complete = FragmentDurations()
    /// Durations of the samples whose bytes are on their way, and how many of them have come.
    private var pending = FragmentDurations()
    private var mediaByteCount: UInt64 = 0
    private var mediaBytesReceived: UInt64 = 0

    init(coding: DataCoding, fileByteLimit: Int) {
        self.coding = coding
        self.fileByteLimit = fileByteLimit
    }

    /// Durations of what was appended, a box that is still coming in counted by its bytes.
    var appended: FragmentDurations {
        var sum = complete
        if mediaByteCount > 0 { sum += pending.part(mediaBytesReceived, of: mediaByteCount) }
        return sum
    }

    /// Whether the coding plays a track of this kind, and there is one.
    func holds(_ kind: TrackKind) -> Bool {
        (coding == .mp4 || coding.trackKind == kind) && header?.tracks.contains { $0.kind == kind } == true
    }

    /// A file that can't be read before its `moov` comes is kept.
    var isHolding: Bool { heldByteCount > 0 || !partial.isEmpty || !collected.isEmpty }

    /// Forgets what came, for a seek; an initialisation section stays in force.
    mutating func reset() {
        let header = header
        self = MP4Walker(coding: coding, fileByteLimit: fileByteLimit)
        guard let header, header.isFragmented else { return }
        self.header = header
        layout = .fragments
    }

    /// Takes the next bytes.
    mutating func append(_ bytes: ArraySlice<UInt8>) throws(DataError) -> [Unit] {
        // Strictly inside a box nothing can be wrong, and a large one must not be copied for each piece of it.
        if case .collecting(let type, let headerByteCount, let remaining) = box, remaining > UInt64(bytes.count) {
            collected += bytes
            offset += bytes.count
            box = .collecting(type, headerByteCount: headerByteCount, remaining: remaining - UInt64(bytes.count))
            return []
        }
        var copy = self
        let units = try copy.take(bytes)
        self = copy
        return units
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) throws(DataError) -> [Unit] {
        var units: [Unit] = []
        var rest = bytes
        while !rest.isEmpty {
            switch box {
            case .header:
                rest = try takeHeader(rest, &units)
            case .collecting(let type, let headerByteCount, let remaining):
                let piece = rest.prefix(Int(min(remaining, UInt64(rest.count))))
                collected += piece
                offset += piece.count
                rest = rest.dropFirst(piece.count)
                let left = remaining - UInt64(piece.count)
                box = .collecting(type, headerByteCount: headerByteCount, remaining: left)
                if left == 0 { try finishCollected(type, headerByteCount, &units) }
            case .passing(let type, let remaining):
                let piece = rest.prefix(Int(min(remaining ?? .max, UInt64(rest.count))))
                offset += piece.count
                rest = rest.dropFirst(piece.count)
                try pass(piece, &units)
                if type == Self.mdat { mediaBytesReceived += UInt64(piece.count) }
                guard let remaining else { continue }
                let left = remaining - UInt64(piece.count)
                box = left > 0 ? .passing(type, remaining: left) : .header
                if left == 0 { finishPassed(type) }
            }
        }
        return units
    }

    private static let mdat = BoxType("mdat")
    private static let moov = BoxType("moov")
    private static let moof = BoxType("moof")
    private static let ftyp = BoxType("ftyp")

    private mutating func takeHeader(
        _ bytes: ArraySlice<UInt8>, _ units: inout [Unit]
    ) throws(DataError) -> ArraySlice<UInt8> {
        var rest = bytes
        func wanted(_ header: [UInt8]) -> Int {
            header.count >= 4 && header[..<4].elementsEqual([0, 0, 0, 1]) ? 16 : 8
        }
        while partial.count < wanted(partial), let byte = rest.popFirst() {
            partial.append(byte)
            offset += 1
        }
        guard partial.count == wanted(partial) else { return rest }
        let headerBytes = partial
        partial = []
        let type = BoxType(headerBytes[4..<8])
        let short = headerBytes[..<4].reduce(0) { $0 << 8 | UInt64($1) }
        let size = short == 1 ? headerBytes[8...].reduce(0) { $0 << 8 | UInt64($1) } : short
        let start = offset - headerBytes.count
        let isFirst = start == 0 && header == nil
        guard type.isPlausible, !isFirst || type.mayStartAFile else {
            throw isFirst ? .notMP4 : .malformedBox(type: type.description, offset: start)
        }
        // Only the short size may be 0, which means that the box runs to the end.
        guard short == 0 ? type == Self.mdat : size >= UInt64(headerBytes.count) else {
            throw .malformedBox(type: type.description, offset: start)
        }
        guard size <= BoxType.metadataByteLimit || type.mayBeLong else {
            throw .boxTooLarge(type: type.description, byteCount: size)
        }
        try begin(type, headerBytes, size, &units)
        return rest
    }

    private mutating func begin(
        _ type: BoxType, _ headerBytes: [UInt8], _ size: UInt64, _ units: inout [Unit]
    ) throws(DataError) {
        if type == Self.ftyp || type == Self.moov, isPastHeader { startPrologue() }
        if type == Self.mdat, case .prologue = layout { layout = .mediaFirst }
        if type == Self.moof, header?.isFragmented != true { throw .missingInitialization }
        let left = size == 0 ? nil : size - UInt64(headerBytes.count)
        if type == Self.moov || type == Self.moof, let left {
            collected = headerBytes
            box = .collecting(type, headerByteCount: headerBytes.count, remaining: left)
            if left == 0 { try finishCollected(type, headerBytes.count, &units) }
            return
        }
        if type == Self.mdat {
            mediaByteCount = left ?? 0
            mediaBytesReceived = 0
        }
        try pass(headerBytes[...], &units)
        box = left == 0 ? .header : .passing(type, remaining: left)
        if left == 0 { finishPassed(type) }
    }

    private var isPastHeader: Bool {
        switch layout {
        case .prologue, .mediaFirst: false
        case .fragments, .progressive, .handedOut: true
        }
    }

    private mutating func startPrologue() {
        layout = .prologue
        complete += pending
        pending = FragmentDurations()
    }

    private mutating func finishPassed(_ type: BoxType) {
        guard type == Self.mdat else { return }
        complete += pending
        pending = FragmentDurations()
        mediaByteCount = 0
    }

    private mutating func pass(_ piece: ArraySlice<UInt8>, _ units: inout [Unit]) throws(DataError) {
        switch layout {
        case .prologue, .mediaFirst:
            heldByteCount += piece.count
            guard heldByteCount <= fileByteLimit else { throw .fileTooLarge(limit: fileByteLimit) }
            held.append(piece)
        case .fragments, .progressive:
            units.append(.bytes(piece, begins: false))
        case .handedOut:
            break
        }
    }

    private mutating func finishCollected(
        _ type: BoxType, _ headerByteCount: Int, _ units: inout [Unit]
    ) throws(DataError) {
        let bytes = collected
        collected = []
        box = .header
        let reader = BoxReader(type: type, payload: bytes[headerByteCount...])
        do throws(BoxReader.Malformed) {
            if type == Self.moof {
                guard let header else { throw reader.malformed }
                pending += try header.fragmentDurations(reader)
                units.append(.bytes(bytes[...], begins: false))
                return
            }
            header = try MovieHeader(reader)
        } catch {
            throw .malformedBox(type: error.type.description, offset: offset - bytes.count)
        }
        try finishMovie(bytes, &units)
    }

    private mutating func finishMovie(_ bytes: [UInt8], _ units: inout [Unit]) throws(DataError) {
        guard let header else { return }
        let kinds = Set(header.tracks.compactMap(\.kind))
        let isWanted = coding == .mp4 ? !kinds.isEmpty : kinds.contains(coding.trackKind)
        guard isWanted else { throw .noTrack(coding) }
        try pass(bytes[...], &units)
        let all = Array(held.joined())
        held = []
        heldByteCount = 0
        let listed = FragmentDurations(video: header.duration(of: .video), audio: header.duration(of: .audio))
        if header.isFragmented {
            layout = .fragments
            units.append(.initialization(all))
        } else if case .mediaFirst = layout {
            layout = .handedOut
            complete += listed
            units.append(.file(all))
        } else {
            layout = .progressive
            pending = listed
            units.append(.bytes(all[...], begins: true))
        }
    }
}
