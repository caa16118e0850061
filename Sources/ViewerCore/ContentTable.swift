internal import CoreModel
internal import Scheduling

/// The roots that a segment has or that some peer has told of, numbered, so that what each peer holds is a matter of bits.
///
/// A root without a segment is kept as long as a peer holds something of it; its number is then given to another. Bounded
/// by the segments that have a record, and by what the peers' ``HoldingTable`` hold.
struct ContentTable: Sendable {
    /// A segment's bytes, whatever segments they are.
    struct Content: Sendable {
        var root: Digest
        /// The segments, in the order of their records' coming: mostly one.
        var segments: [SegmentID] = []
        /// 0 while no record has said it.
        var chunkCount = 0
        /// How many peers hold something of it.
        var holderCount: Int32 = 0
        /// Counts the roots in the order of their coming.
        var serial: UInt32
    }

    private var numbers: [Digest: Int32] = [:]
    private var contents: [Content] = []
    private var free: [Int32] = []
    private var nextSerial: UInt32 = 0

    /// The roots known.
    var count: Int { numbers.count }

    subscript(number: Int) -> Content { _read { yield contents[number] } }

    func number(of root: Digest) -> Int? { numbers[root].map { Int($0) } }

    /// The number of a root, a new one if it isn't known.
    mutating func insert(_ root: Digest) -> Int {
        if let number = numbers[root] { return Int(number) }
        let content = Content(root: root, serial: nextSerial)
        nextSerial &+= 1
        let number: Int
        if let old = free.popLast() {
            number = Int(old)
            contents[number] = content
        } else {
            number = contents.count
            contents.append(content)
        }
        numbers[root] = Int32(number)
        return number
    }

    mutating func add(_ segment: SegmentID, chunkCount: Int, to number: Int) {
        contents[number].segments.append(segment)
        contents[number].chunkCount = chunkCount
    }

    mutating func remove(_ segment: SegmentID, from number: Int) {
        contents[number].segments.removeAll { $0 == segment }
        forget(number)
    }

    mutating func addHolder(_ number: Int) { contents[number].holderCount += 1 }

    mutating func removeHolder(_ number: Int) {
        contents[number].holderCount -= 1
        forget(number)
    }

    /// Gives up the number of what nobody has and no segment is.
    private mutating func forget(_ number: Int) {
        guard contents[number].holderCount == 0, contents[number].segments.isEmpty else { return }
        numbers[contents[number].root] = nil
        free.append(Int32(number))
    }
}
