internal import CoreModel

/// The beginnings of the roots that a peer said last that it has all of. When it is full the oldest is forgotten.
///
/// In the value itself: every announcement looks at every link's. Of a root 32 bits are kept, since those that a viewer knows
/// at a time are few; of two that begin alike one would not be told of.
struct CompleteRoots: Sendable {
    /// How many are remembered.
    static var limit: Int { 8 }

    /// In the order of their coming, from the first place on.
    private var names: InlineArray<8, UInt32> = .init(repeating: 0)
    private var count: UInt8 = 0

    var isEmpty: Bool { count == 0 }

    func contains(_ root: Digest) -> Bool { place(of: root) != nil }

    private func place(of root: Digest) -> Int? {
        let name = Self.name(root)
        for place in 0..<Int(count) where names[place] == name { return place }
        return nil
    }

    private static func name(_ root: Digest) -> UInt32 {
        UInt32(truncatingIfNeeded: root.value.words.0 ^ root.value.words.0 >> 32)
    }

    /// Adds a root that is not there.
    mutating func append(_ root: Digest) {
        if count == Self.limit { remove(at: 0) }
        names[Int(count)] = Self.name(root)
        count += 1
    }

    /// Removes a root; false when it was not there.
    mutating func remove(_ root: Digest) -> Bool {
        guard let place = place(of: root) else { return false }
        remove(at: place)
        return true
    }

    private mutating func remove(at place: Int) {
        count -= 1
        for place in place..<Int(count) { names[place] = names[place + 1] }
    }
}
