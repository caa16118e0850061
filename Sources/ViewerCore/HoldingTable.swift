internal import CoreModel
internal import Scheduling
internal import SwarmProtocol

/// What one peer says that it holds, by the numbers of a ``ContentTable``: a bit for what it has all of, and a set of chunks
/// for the few segments that it has in part.
struct HoldingTable: Sendable {
    /// Roots that are kept of a peer's; whoever feeds the table forgets one then.
    static let limit = 4096

    private var complete: [UInt64] = []
    private var partial: [(number: Int32, holding: Holding)] = []

    /// The number of roots of which something is held.
    private(set) var count = 0

    private func hasAll(_ number: Int) -> Bool {
        number >> 6 < complete.count && complete[number >> 6] & 1 << UInt64(number & 63) != 0
    }

    private func place(of number: Int) -> Int? {
        // By index: a copy of a holding touches reference counts.
        for place in partial.indices where partial[place].number == Int32(number) { return place }
        return nil
    }

    func contains(_ number: Int) -> Bool { hasAll(number) || place(of: number) != nil }

    /// What is held of a segment with so many chunks.
    func holding(of number: Int, chunkCount: Int) -> Holding? {
        if hasAll(number) { return Holding(verified: ChunkSet(0..<chunkCount)) }
        return place(of: number).map { partial[$0].holding }
    }

    /// What a change comes to.
    struct News {
        /// Whether something was held of the segment before.
        var wasHeld: Bool
        /// What is held of it now.
        var holding: Holding?
        /// The number of roots of which something is held now.
        var count: Int
    }

    /// Takes a change and says what it comes to, all in place: a table in an array is copied to be asked.
    mutating func take(_ change: HaveEntry.Change, of number: Int, chunkCount: Int) -> News {
        let wasHeld = contains(number)
        apply(change, to: number)
        return News(wasHeld: wasHeld, holding: holding(of: number, chunkCount: chunkCount), count: count)
    }

    /// Takes a change that the peer told; to hold nothing of a root any more is to be forgotten.
    mutating func apply(_ change: HaveEntry.Change, to number: Int) {
        switch change {
        case .lost: remove(number)
        case .complete:
            remove(number)
            if complete.count <= number >> 6 {
                complete.append(contentsOf: repeatElement(0, count: number >> 6 + 1 - complete.count))
            }
            complete[number >> 6] |= 1 << UInt64(number & 63)
            count += 1
        case .replace(let verified, let expected):
            guard !verified.isEmpty || !expected.isEmpty, let place = place(of: number) else {
                remove(number)
                return add(verified, expected, to: number)
            }
            partial[place].holding = Holding()
            add(verified, expected, at: place)
        case .add(let verified, let expected): if !hasAll(number) { add(verified, expected, to: number) }
        }
    }

    private mutating func add(_ verified: [Range<Int>], _ expected: [Range<Int>], to number: Int) {
        guard !verified.isEmpty || !expected.isEmpty else { return }
        let place: Int
        if let known = self.place(of: number) {
            place = known
        } else {
            place = partial.count
            partial.append((Int32(number), Holding()))
            count += 1
        }
        add(verified, expected, at: place)
    }

    private mutating func add(_ verified: [Range<Int>], _ expected: [Range<Int>], at place: Int) {
        for range in verified { partial[place].holding.verified.insert(range) }
        for range in expected { partial[place].holding.expected.insert(range) }
        if !partial[place].holding.expected.isEmpty {
            partial[place].holding.expected.subtract(partial[place].holding.verified)
        }
    }

    mutating func remove(_ number: Int) {
        if hasAll(number) {
            complete[number >> 6] &= ~(1 << UInt64(number & 63))
            count -= 1
        } else if let place = place(of: number) {
            partial.swapAt(place, partial.count - 1)
            partial.removeLast()
            // Most peers have all of what they have, most of the time.
            if partial.isEmpty { partial = [] }
            count -= 1
        }
    }

    /// The numbers of what is held, in no order that says anything.
    var numbers: [Int] {
        var numbers = partial.map { Int($0.number) }
        for (index, word) in complete.enumerated() where word != 0 {
            for bit in 0..<64 where word & 1 << UInt64(bit) != 0 { numbers.append(index << 6 + bit) }
        }
        return numbers
    }
}
