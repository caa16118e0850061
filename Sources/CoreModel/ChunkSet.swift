/// A set of chunk numbers of one segment, at most 4096 of them, as a bitmap.
///
/// The first 256 chunks (4 MiB: four seconds at 8 Mbps) lie in the value itself: such a set takes no memory of its own.
public struct ChunkSet: Hashable, Sendable {
    @usableFromInline var first: UInt64 = 0
    @usableFromInline var second: UInt64 = 0
    @usableFromInline var third: UInt64 = 0
    @usableFromInline var fourth: UInt64 = 0
    /// The words behind the first four; the last one is not 0, so that equal sets are equal as values.
    @usableFromInline var more: [UInt64] = []

    /// Makes an empty set.
    @inlinable public init() {}

    /// Makes a set of one run of chunks.
    @inlinable public init(_ range: Range<Int>) {
        insert(range)
    }

    /// How many words there are, zeros at the end included.
    @inlinable var wordCount: Int { Self.inlineCount + more.count }

    /// Words that lie in the value itself.
    @inlinable static var inlineCount: Int { 4 }

    @inlinable
    func word(_ index: Int) -> UInt64 {
        switch index {
        case 0: first
        case 1: second
        case 2: third
        case 3: fourth
        default: more[index - Self.inlineCount]
        }
    }

    @inlinable
    mutating func extend(toWords count: Int) {
        if count > wordCount { more.append(contentsOf: repeatElement(0, count: count - wordCount)) }
    }

    @inlinable
    mutating func set(_ bits: UInt64, inWord index: Int) {
        switch index {
        case 0: first |= bits
        case 1: second |= bits
        case 2: third |= bits
        case 3: fourth |= bits
        default: more[index - Self.inlineCount] |= bits
        }
    }

    /// The chunks 64 · `index` to 64 · `index` + 63, the lowest bit being the first of them: for counting over many sets.
    @inlinable
    public func bits(_ index: Int) -> UInt64 { index < wordCount ? word(index) : 0 }

    /// Adds one chunk; false when it was there.
    @inlinable
    @discardableResult
    public mutating func insert(_ chunk: Int) -> Bool {
        precondition(chunk >= 0, "a chunk number is not negative")
        let index = chunk >> 6
        extend(toWords: index + 1)
        let bit: UInt64 = 1 << UInt64(chunk & 63)
        guard word(index) & bit == 0 else { return false }
        set(bit, inWord: index)
        return true
    }

    /// Adds a run of chunks.
    @inlinable
    public mutating func insert(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        precondition(range.lowerBound >= 0, "a chunk number is not negative")
        let last = (range.upperBound - 1) >> 6
        extend(toWords: last + 1)
        for index in range.lowerBound >> 6...last { set(Self.mask(of: range, inWord: index), inWord: index) }
    }

    /// Adds every chunk of another set.
    @inlinable @inline(__always)
    public mutating func formUnion(_ other: ChunkSet) {
        first |= other.first
        second |= other.second
        third |= other.third
        fourth |= other.fourth
        if !other.more.isEmpty { formUnion(words: other.more) }
    }

    @usableFromInline
    mutating func formUnion(words: [UInt64]) {
        extend(toWords: Self.inlineCount + words.count)
        for index in words.indices { more[index] |= words[index] }
    }

    /// Removes every chunk of another set.
    @inlinable @inline(__always)
    public mutating func subtract(_ other: ChunkSet) {
        first &= ~other.first
        second &= ~other.second
        third &= ~other.third
        fourth &= ~other.fourth
        if !more.isEmpty, !other.more.isEmpty { subtract(words: other.more) }
    }

    @usableFromInline
    mutating func subtract(words: [UInt64]) {
        for index in 0..<min(more.count, words.count) { more[index] &= ~words[index] }
        trim()
    }

    /// Removes one chunk; false when it was not there.
    @inlinable
    @discardableResult
    public mutating func remove(_ chunk: Int) -> Bool {
        guard contains(chunk) else { return false }
        let bit: UInt64 = 1 << UInt64(chunk & 63)
        switch chunk >> 6 {
        case 0: first &= ~bit
        case 1: second &= ~bit
        case 2: third &= ~bit
        case 3: fourth &= ~bit
        case let index:
            more[index - Self.inlineCount] &= ~bit
            trim()
        }
        return true
    }

    /// Whether the chunk is in the set.
    @inlinable
    public func contains(_ chunk: Int) -> Bool {
        let index = chunk >> 6
        return chunk >= 0 && index < wordCount && word(index) & (1 << UInt64(chunk & 63)) != 0
    }

    /// Whether each chunk of the run is in the set.
    @inlinable
    public func contains(_ range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return true }
        guard range.lowerBound >= 0, range.upperBound <= wordCount * 64 else { return false }
        for index in range.lowerBound >> 6...(range.upperBound - 1) >> 6
        where ~word(index) & Self.mask(of: range, inWord: index) != 0 { return false }
        return true
    }

    /// Whether each chunk of the set is in another set too.
    @inlinable @inline(__always)
    public func isSubset(of other: ChunkSet) -> Bool {
        let outside =
            first & ~other.first | second & ~other.second | third & ~other.third | fourth & ~other.fourth
        return outside == 0 && (more.isEmpty || Self.isSubset(more, other.more))
    }

    @usableFromInline
    static func isSubset(_ words: [UInt64], _ others: [UInt64]) -> Bool {
        guard words.count <= others.count else { return false }
        for index in words.indices where words[index] & ~others[index] != 0 { return false }
        return true
    }

    /// The number of chunks in the set.
    @inlinable public var count: Int {
        let count =
            first.nonzeroBitCount + second.nonzeroBitCount + third.nonzeroBitCount + fourth.nonzeroBitCount
        return more.isEmpty ? count : more.reduce(count) { $0 + $1.nonzeroBitCount }
    }

    /// Whether the set is empty.
    @inlinable public var isEmpty: Bool { first | second | third | fourth == 0 && more.isEmpty }

    /// The maximal runs of chunks in the set, ascending.
    public var ranges: [Range<Int>] {
        var runs: [Range<Int>] = []
        runs.reserveCapacity(runCount)
        var chunk = 0
        while let run = nextRun(from: chunk) {
            runs.append(run)
            chunk = run.upperBound
        }
        return runs
    }

    /// The number of runs in the first words, and at least as many as there are in all of them.
    private var runCount: Int {
        func starts(_ word: UInt64, _ before: UInt64) -> Int { (word & ~(word << 1 | before >> 63)).nonzeroBitCount }
        return starts(first, 0) + starts(second, first) + starts(third, second) + starts(fourth, third)
            + more.reduce(0) { $0 + starts($1, 0) }
    }

    /// The maximal runs of chunks of `range` that are missing from the set, ascending.
    public func missing(in range: Range<Int>) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        runs.reserveCapacity(runCount + 1)
        var rest = range
        while let run = nextMissingRun(in: rest) {
            runs.append(run)
            rest = run.upperBound..<range.upperBound
        }
        return runs
    }

    /// The first run of chunks in the set that reaches to or behind `chunk`, without what lies before it.
    @inlinable
    public func nextRun(from chunk: Int) -> Range<Int>? {
        guard let lower = firstChunk(from: chunk) else { return nil }
        return lower..<lower + runLength(from: lower)
    }

    /// The first maximal run of chunks of `range` that are missing from the set.
    @inlinable
    public func nextMissingRun(in range: Range<Int>) -> Range<Int>? {
        guard !range.isEmpty else { return nil }
        let lower = range.lowerBound + runLength(from: range.lowerBound)
        guard lower < range.upperBound else { return nil }
        return lower..<min(firstChunk(from: lower) ?? range.upperBound, range.upperBound)
    }

    /// How many chunks of `range` are missing from the set.
    @inlinable
    public func missingCount(in range: Range<Int>) -> Int {
        guard !range.isEmpty else { return 0 }
        precondition(range.lowerBound >= 0, "a chunk number is not negative")
        var count = range.count
        for index in range.lowerBound >> 6...(range.upperBound - 1) >> 6 where index < wordCount {
            count -= (word(index) & Self.mask(of: range, inWord: index)).nonzeroBitCount
        }
        return count
    }

    /// The first chunk in the set that is not before `chunk`.
    @inlinable
    public func firstChunk(from chunk: Int) -> Int? {
        let start = max(chunk, 0)
        var index = start >> 6
        guard index < wordCount else { return nil }
        var bits = word(index) & (UInt64.max << UInt64(start & 63))
        while bits == 0 {
            index += 1
            guard index < wordCount else { return nil }
            bits = word(index)
        }
        return index << 6 + bits.trailingZeroBitCount
    }

    /// The length of the run of chunks that starts at `chunk`.
    @inlinable
    public func runLength(from chunk: Int) -> Int {
        guard chunk >= 0 else { return 0 }
        var end = chunk
        while end >> 6 < wordCount {
            let missing = ~word(end >> 6) >> UInt64(end & 63)
            guard missing == 0 else { return end + missing.trailingZeroBitCount - chunk }
            end = (end >> 6 + 1) << 6
        }
        return end - chunk
    }

    /// The bits of a word that stand for chunks of `range`, of which it holds at least one.
    @inlinable
    static func mask(of range: Range<Int>, inWord word: Int) -> UInt64 {
        let lower = max(range.lowerBound - word * 64, 0)
        let upper = min(range.upperBound - word * 64, 64)
        return (UInt64.max << UInt64(lower)) & (UInt64.max >> UInt64(64 - upper))
    }

    /// Keeps equal sets equal as values.
    @inlinable
    mutating func trim() {
        while more.last == 0 { more.removeLast() }
    }
}

extension ChunkSet: Codable {
    private enum CodingKeys: String, CodingKey { case words }

    public init(from decoder: any Decoder) throws {
        let words = try decoder.container(keyedBy: CodingKeys.self).decode([UInt64].self, forKey: .words)
        extend(toWords: words.count)
        for (index, word) in words.enumerated() { set(word, inWord: index) }
        trim()
    }

    public func encode(to encoder: any Encoder) throws {
        var words = [first, second, third, fourth] + more
        while words.last == 0 { words.removeLast() }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(words, forKey: .words)
    }
}
