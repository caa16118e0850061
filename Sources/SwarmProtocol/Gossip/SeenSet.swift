public import CoreModel

/// The last things seen, so that what spreads by flooding is passed on once. When it is full the oldest is forgotten.
public struct SeenSet: Sendable {
    private let limit: Int
    private var members: Set<Digest> = []
    /// A ring of the members in the order of their coming.
    private var order: [Digest] = []
    private var oldest = 0

    /// Makes a set that remembers `limit` things.
    public init(limit: Int = 1024) {
        precondition(limit > 0, "a set that remembers nothing")
        self.limit = limit
    }

    /// Adds `digest`; false when it had been seen.
    public mutating func insert(_ digest: Digest) -> Bool {
        guard members.insert(digest).inserted else { return false }
        if order.count < limit {
            order.append(digest)
        } else {
            members.remove(order[oldest])
            order[oldest] = digest
            oldest = (oldest + 1) % limit
        }
        return true
    }
}
