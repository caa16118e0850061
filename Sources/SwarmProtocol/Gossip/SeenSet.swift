public import CoreModel

/// The last things seen, so that what spreads by flooding is passed on once. When it is full the oldest is forgotten.
public struct SeenSet: Sendable {
    private let limit: Int
    /// A ring of the members' first words, in the order of their coming. To hide another's claim behind one of their own,
    /// somebody would have to find a digest that begins alike: 2^64 tries.
    private var members: [UInt64] = []
    private var oldest = 0

    /// Makes a set that remembers `limit` things.
    public init(limit: Int = 1024) {
        precondition(limit > 0, "a set that remembers nothing")
        self.limit = limit
    }

    /// Adds `digest`; false when it had been seen.
    public mutating func insert(_ digest: Digest) -> Bool {
        let word = digest.value.words.0
        guard !members.contains(word) else { return false }
        if members.count < limit {
            members.append(word)
        } else {
            members[oldest] = word
            oldest = (oldest + 1) % limit
        }
        return true
    }
}
