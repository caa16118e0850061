internal import CoreModel
internal import Scheduling

/// What one peer says that it holds, by root. When the table is full the root that came first is forgotten.
struct HoldingTable: Sendable {
    /// Roots that are kept.
    static let limit = 4096

    private var entries: [Digest: (holding: Holding, number: Int)] = [:]
    /// The roots in the order of their coming, from `oldest` on; those whose number is another by now are gone.
    private var order: [(root: Digest, number: Int)] = []
    private var oldest = 0
    private var nextNumber = 0

    /// The number of roots kept.
    var count: Int { entries.count }

    /// What is held of a root; to hold nothing of it is to be forgotten.
    subscript(root: Digest) -> Holding? {
        get { entries[root]?.holding }
        set {
            guard let newValue, !newValue.verified.isEmpty || !newValue.expected.isEmpty else {
                entries[root] = nil
                return
            }
            if let number = entries[root]?.number {
                entries[root] = (newValue, number)
                return
            }
            while entries.count >= Self.limit { forgetOldest() }
            if order.count >= 2 * Self.limit { compact() }
            entries[root] = (newValue, nextNumber)
            order.append((root, nextNumber))
            nextNumber += 1
        }
    }

    private mutating func forgetOldest() {
        let (root, number) = order[oldest]
        oldest += 1
        if entries[root]?.number == number { entries[root] = nil }
    }

    private mutating func compact() {
        order = order[oldest...].filter { entries[$0.root]?.number == $0.number }
        oldest = 0
    }
}
