internal import CoreModel

/// A chunk of which the CDN has brought some bytes.
struct PartialChunk: Sendable {
    /// The chunk's memory; zero where nothing has come yet.
    private(set) var bytes: [UInt8]
    /// The runs of bytes that have come: ascending, apart from each other.
    private var runs: [Range<Int>]

    /// Starts with one piece, of at least one byte and not the whole chunk.
    init(_ piece: ArraySlice<UInt8>, at offset: Int, byteCount: Int) {
        bytes = [UInt8](repeating: 0, count: byteCount)
        runs = [offset..<offset + piece.count]
        copy(piece, at: offset, to: runs[0])
    }

    /// Whether every byte has come.
    var isComplete: Bool { runs == [0..<bytes.count] }

    /// The bytes at the start that have come.
    var prefixByteCount: Int { runs[0].lowerBound == 0 ? runs[0].upperBound : 0 }

    /// Adds a piece; bytes that have come already stay as they are.
    ///
    /// - Complexity: O(*n*) in the runs, of which there are at most half as many as bytes; a transfer in order has one.
    mutating func insert(_ piece: ArraySlice<UInt8>, at offset: Int) {
        let range = offset..<offset + piece.count
        guard !range.isEmpty else { return }
        var position = range.lowerBound
        var merged = range
        var kept: [Range<Int>] = []
        for run in runs {
            guard run.upperBound >= range.lowerBound, run.lowerBound <= range.upperBound else {
                kept.append(run)
                continue
            }
            if run.lowerBound > position { copy(piece, at: offset, to: position..<run.lowerBound) }
            position = max(position, run.upperBound)
            merged = min(merged.lowerBound, run.lowerBound)..<max(merged.upperBound, run.upperBound)
        }
        if position < range.upperBound { copy(piece, at: offset, to: position..<range.upperBound) }
        let place = kept.firstIndex { $0.lowerBound > merged.lowerBound } ?? kept.endIndex
        kept.insert(merged, at: place)
        runs = kept
    }

    /// Copies the part of `piece`, which begins at `offset` in the chunk, that fills `range`.
    private mutating func copy(_ piece: ArraySlice<UInt8>, at offset: Int, to range: Range<Int>) {
        let start = piece.startIndex + range.lowerBound - offset
        // One memcpy; `replaceSubrange` goes byte by byte.
        bytes.withUnsafeMutableBytes { target in
            UnsafeMutableRawBufferPointer(rebasing: target[range]).copyBytes(from: piece[start..<start + range.count])
        }
    }
}
