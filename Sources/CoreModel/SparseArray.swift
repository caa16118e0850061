/// Elements that are nearly all alike until they are changed, in blocks: those that nobody has touched share one.
///
/// For what is kept of each segment of a long title, of which only those near the playhead matter. Copies of an empty array
/// share the block too.
public struct SparseArray<Element> {
    /// Elements of a block.
    @inlinable static var blockCount: Int { 8 }

    /// The block that stands for all that are untouched.
    @usableFromInline let untouched: [Element]
    @usableFromInline var blocks: [[Element]] = []
    /// The number of elements.
    public private(set) var count = 0

    /// Makes an empty array whose elements begin as `initial`.
    public init(initial: Element) { untouched = Array(repeating: initial, count: Self.blockCount) }

    /// Adds untouched elements at the end.
    public mutating func grow(to count: Int) {
        precondition(count >= self.count, "an array of \(self.count) doesn't shrink to \(count)")
        self.count = count
        let blockCount = (count + Self.blockCount - 1) / Self.blockCount
        blocks.append(contentsOf: repeatElement(untouched, count: blockCount - blocks.count))
    }

    /// The places of the elements.
    @inlinable public var indices: Range<Int> { 0..<count }

    /// An element; to change one gives its block memory of its own.
    @inlinable
    public subscript(index: Int) -> Element {
        _read {
            precondition(index < count, "an index beyond the end")
            yield blocks[index / Self.blockCount][index % Self.blockCount]
        }
        _modify {
            precondition(index < count, "an index beyond the end")
            yield &blocks[index / Self.blockCount][index % Self.blockCount]
        }
    }
}

extension SparseArray: Sendable where Element: Sendable {}
