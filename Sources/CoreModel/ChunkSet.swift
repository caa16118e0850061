/// A set of chunk numbers of one segment, at most 4096 of them, as a bitmap.
public struct ChunkSet: Hashable, Sendable, Codable {
    private var words: [UInt64] = []

    /// Makes an empty set.
    public init() {}

    /// Makes a set of one run of chunks.
    public init(_ range: Range<Int>) {
        insert(range)
    }

    /// Adds one chunk; false when it was there.
    @discardableResult
    public mutating func insert(_ chunk: Int) -> Bool {
        precondition(chunk >= 0, "a chunk number is not negative")
        let word = chunk >> 6
        if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
        let bit: UInt64 = 1 << UInt64(chunk & 63)
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        return true
    }

    /// Adds a run of chunks.
    public mutating func insert(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        precondition(range.lowerBound >= 0, "a chunk number is not negative")
        let last = (range.upperBound - 1) >> 6
        if last >= words.count { words.append(contentsOf: repeatElement(0, count: last + 1 - words.count)) }
        for word in range.lowerBound >> 6...last { words[word] |= Self.mask(of: range, inWord: word) }
    }

    /// Adds every chunk of another set.
    public mutating func formUnion(_ other: ChunkSet) {
        if other.words.count > words.count {
            words.append(contentsOf: repeatElement(0, count: other.words.count - words.count))
        }
        for index in other.words.indices { words[index] |= other.words[index] }
    }

    /// Removes every chunk of another set.
    public mutating func subtract(_ other: ChunkSet) {
        for index in 0..<min(words.count, other.words.count) { words[index] &= ~other.words[index] }
        trim()
    }

    /// Removes one chunk; false when it was not there.
    @discardableResult
    public mutating func remove(_ chunk: Int) -> Bool {
        guard contains(chunk) else { return false }
        words[chunk >> 6] &= ~(1 << UInt64(chunk & 63))
        trim()
        return true
    }

    /// Whether the chunk is in the set.
    public func contains(_ chunk: Int) -> Bool {
        let word = chunk >> 6
        return chunk >= 0 && word < words.count && words[word] & (1 << UInt64(chunk & 63)) != 0
    }

    /// Whether each chunk of the run is in the set.
    public func contains(_ range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return true }
        guard range.lowerBound >= 0, range.upperBound <= words.count * 64 else { return false }
        return (range.lowerBound >> 6...(range.upperBound - 1) >> 6).allSatisfy { word in
            ~words[word] & Self.mask(of: range, inWord: word) == 0
        }
    }

    /// The number of chunks in the set.
    public var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Whether the set is empty.
    public var isEmpty: Bool { words.isEmpty }

    /// The maximal runs of chunks in the set, ascending.
    public var ranges: [Range<Int>] { runs(in: 0..<words.count * 64, present: true) }

    /// The maximal runs of chunks of `range` that are missing from the set, ascending.
    public func missing(in range: Range<Int>) -> [Range<Int>] { runs(in: range, present: false) }

    /// The length of the run of chunks that starts at `chunk`.
    public func runLength(from chunk: Int) -> Int {
        guard chunk >= 0 else { return 0 }
        var end = chunk
        while end >> 6 < words.count {
            let missing = ~words[end >> 6] >> UInt64(end & 63)
            guard missing == 0 else { return end + missing.trailingZeroBitCount - chunk }
            end = (end >> 6 + 1) << 6
        }
        return end - chunk
    }

    private func runs(in range: Range<Int>, present: Bool) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start: Int?
        for chunk in range {
            if contains(chunk) == present {
                if start == nil { start = chunk }
            } else if let lower = start {
                runs.append(lower..<chunk)
                start = nil
            }
        }
        if let lower = start { runs.append(lower..<range.upperBound) }
        return runs
    }

    /// The bits of a word that stand for chunks of `range`, of which it holds at least one.
    private static func mask(of range: Range<Int>, inWord word: Int) -> UInt64 {
        let lower = max(range.lowerBound - word * 64, 0)
        let upper = min(range.upperBound - word * 64, 64)
        return (UInt64.max << UInt64(lower)) & (UInt64.max >> UInt64(64 - upper))
    }

    /// Keeps equal sets equal as values.
    private mutating func trim() {
        while words.last == 0 { words.removeLast() }
    }
}
