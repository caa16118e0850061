/// Chunks of one request, a bit each, counted from the request's first.
struct ChunkBits: Hashable, Sendable {
    var rawValue: UInt64

    static let none = ChunkBits(rawValue: 0)

    init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The lowest `count` bits.
    init(count: Int) { rawValue = count >= 64 ? .max : (1 << UInt64(count)) - 1 }

    /// The part of `chunks` that lies within 64 chunks from `first`.
    init(_ chunks: Range<Int>, first: Int) {
        let lower = max(0, chunks.lowerBound - first)
        let upper = min(64, chunks.upperBound - first)
        self = lower < upper ? ChunkBits(rawValue: ChunkBits(count: upper - lower).rawValue << UInt64(lower)) : .none
    }

    var isEmpty: Bool { rawValue == 0 }
    var count: Int { rawValue.nonzeroBitCount }
    var lowest: Int? { isEmpty ? nil : rawValue.trailingZeroBitCount }

    func contains(_ bit: Int) -> Bool { (0..<64).contains(bit) && rawValue & (1 << UInt64(bit)) != 0 }
    func contains(all other: ChunkBits) -> Bool { rawValue & other.rawValue == other.rawValue }

    mutating func insert(_ bit: Int) { rawValue |= 1 << UInt64(bit) }
    mutating func remove(_ bit: Int) { rawValue &= ~(1 << UInt64(bit)) }
    mutating func subtract(_ other: ChunkBits) { rawValue &= ~other.rawValue }
    mutating func formUnion(_ other: ChunkBits) { rawValue |= other.rawValue }

    func intersection(_ other: ChunkBits) -> ChunkBits { ChunkBits(rawValue: rawValue & other.rawValue) }
    func union(_ other: ChunkBits) -> ChunkBits { ChunkBits(rawValue: rawValue | other.rawValue) }

    /// The maximal runs, ascending, as chunks of a segment.
    func runs(first: Int) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var rest = rawValue
        while rest != 0 {
            let lower = rest.trailingZeroBitCount
            let length = (~(rest >> UInt64(lower))).trailingZeroBitCount
            runs.append(first + lower..<first + lower + length)
            rest &= ~(ChunkBits(count: length).rawValue << UInt64(lower))
        }
        return runs
    }
}
