import CoreModel
import Cryptography

/// Makes fragmented MP4 in common encryption into the same in the clear, as its bytes come (ISO/IEC 23001-7).
///
/// Every byte keeps its place: boxes that speak of encryption become free space, and samples are decrypted where they lie,
/// each as soon as its last byte is there. Media in the clear pass through untouched. Confined to one thread.
struct FragmentDecryptor {
    typealias Fault = ProtectedMovie.Fault

    private enum Box {
        /// Between boxes; the beginning of a header.
        case header([UInt8])
        /// Inside a box that is read as a whole.
        case collecting(BoxType, headerByteCount: Int, left: UInt64)
        /// Inside another; nil when it runs to the end.
        case passing(BoxType, left: UInt64?)
    }

    /// The keys of the segment that comes.
    var keys: SampleKeys?

    private var box = Box.header([])
    private var collected: [UInt8] = []
    private var movie: ProtectedMovie?
    /// Where the next byte lies, counted from the first byte of the last `moof`.
    private var offset = 0
    /// Whether there was a `moof` since the last `moov`.
    private var hasFragment = false
    private var samples: [ProtectedFragment.Sample] = []
    private var nextSample = 0
    /// What has come of the next sample.
    private var held: [UInt8] = []
    private var ciphers: [Bytes16: (key: ContentKey, cipher: SampleCipher)] = [:]
    private static let cipherLimit = 32

    /// Takes the next bytes; those that can be read now.
    mutating func append(_ bytes: ArraySlice<UInt8>) throws(Fault) -> ArraySlice<UInt8> {
        var output: [UInt8] = []
        var rest = bytes
        while !rest.isEmpty {
            switch box {
            case .header(let begun):
                box = .header([])
                try takeHeader(begun, &rest, &output)
            case .collecting(let type, let headerByteCount, let left):
                let piece = rest.prefix(Int(min(left, UInt64(rest.count))))
                rest = rest.dropFirst(piece.count)
                collected += piece
                box = .collecting(type, headerByteCount: headerByteCount, left: left - UInt64(piece.count))
                if left == UInt64(piece.count) { output += try finish(type, headerByteCount) }
            case .passing(let type, let left):
                let piece = rest.prefix(Int(min(left ?? .max, UInt64(rest.count))))
                let isAll = piece.count == bytes.count && output.isEmpty && nextSample == samples.count
                rest = rest.dropFirst(piece.count)
                if let left {
                    let isOver = left == UInt64(piece.count)
                    box = isOver ? .header([]) : .passing(type, left: left - UInt64(piece.count))
                }
                if isAll {
                    offset += piece.count
                    return piece
                }
                try pass(piece, isMedia: type == BoxType("mdat"), &output)
                if case .header = box, !held.isEmpty { throw .malformed(type) }
            }
        }
        return output[...]
    }

    private mutating func takeHeader(
        _ begun: [UInt8], _ rest: inout ArraySlice<UInt8>, _ output: inout [UInt8]
    ) throws(Fault) {
        var header = begun
        var wanted: Int { header.count >= 4 && header[..<4].elementsEqual([0, 0, 0, 1]) ? 16 : 8 }
        while header.count < wanted, let byte = rest.popFirst() { header.append(byte) }
        guard header.count == wanted else {
            box = .header(header)
            return
        }
        let type = BoxType(header[4..<8])
        let short = header[..<4].reduce(0) { $0 << 8 | UInt64($1) }
        let size = short == 1 ? header[8...].reduce(0) { $0 << 8 | UInt64($1) } : short
        guard short == 0 || size >= UInt64(header.count) else { throw .malformed(type) }
        let left = short == 0 ? nil : size - UInt64(header.count)
        if let left, type == BoxType("moov") || type == BoxType("moof") && movie != nil {
            guard size <= BoxType.metadataByteLimit else { throw .malformed(type) }
            collected = header
            box = .collecting(type, headerByteCount: header.count, left: left)
            if left == 0 { output += try finish(type, header.count) }
            return
        }
        // Samples that no fragment speaks of.
        if type == BoxType("mdat"), movie != nil, !hasFragment { throw .unsupported(type) }
        box = left == 0 ? .header([]) : .passing(type, left: left)
        offset += header.count
        output += header
    }

    /// A `moov` or `moof` is there.
    private mutating func finish(_ type: BoxType, _ headerByteCount: Int) throws(Fault) -> [UInt8] {
        let bytes = collected
        collected = []
        box = .header([])
        guard type == BoxType("moof") else {
            let movie = try ProtectedMovie(bytes, headerByteCount: headerByteCount)
            self.movie = movie.tracks.isEmpty ? nil : movie
            (samples, nextSample, hasFragment) = ([], 0, false)
            return movie.cleared(bytes)
        }
        guard let movie else { return bytes }
        let fragment = try ProtectedFragment(bytes, headerByteCount: headerByteCount, movie: movie)
        samples = fragment.samples
        nextSample = 0
        hasFragment = true
        offset = bytes.count
        return fragment.cleared
    }

    /// Passes bytes on, the encrypted samples among them once they are complete.
    private mutating func pass(_ bytes: ArraySlice<UInt8>, isMedia: Bool, _ output: inout [UInt8]) throws(Fault) {
        var rest = bytes
        while !rest.isEmpty {
            guard isMedia, nextSample < samples.count else {
                output += rest
                offset += rest.count
                return
            }
            let sample = samples[nextSample]
            guard held.count > 0 || offset >= sample.offset else {
                let clear = rest.prefix(sample.offset - offset)
                output += clear
                offset += clear.count
                rest = rest.dropFirst(clear.count)
                continue
            }
            guard offset - held.count == sample.offset else { throw .malformed(BoxType("trun")) }
            let piece = rest.prefix(sample.byteCount - held.count)
            held += piece
            offset += piece.count
            rest = rest.dropFirst(piece.count)
            guard held.count == sample.byteCount else { return }
            try decrypt(sample)
            output += held
            held = []
            nextSample += 1
        }
    }

    private mutating func decrypt(_ sample: ProtectedFragment.Sample) throws(Fault) {
        let protection = sample.protection
        guard let key = keys?.key(protection.keyID) else { throw .missingKey(protection.keyID) }
        let known = ciphers[protection.keyID]
        guard let cipher = known?.key == key ? known?.cipher : SampleCipher(protection.scheme, key: key) else {
            throw .missingKey(protection.keyID)
        }
        if known?.key != key {
            if ciphers.count >= Self.cipherLimit { ciphers = [:] }
            ciphers[protection.keyID] = (key, cipher)
        }
        cipher.decrypt(&held, vector: sample.vector, ranges: sample.ranges, pattern: protection.pattern)
    }
}
