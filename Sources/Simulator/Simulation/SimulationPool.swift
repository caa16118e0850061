/// Values named by small numbers that are used again.
struct SimulationPool<Value> {
    private var items: ContiguousArray<Value?> = []
    private var free: [Int32] = []

    /// All values, in the order of their numbers.
    var values: [Value] { items.compactMap { $0 } }

    mutating func insert(_ value: Value) -> Int {
        if let index = free.popLast() {
            items[Int(index)] = value
            return Int(index)
        }
        items.append(value)
        return items.count - 1
    }

    subscript(index: Int) -> Value? {
        _read { yield items[index] }
        _modify { yield &items[index] }
    }

    mutating func remove(_ index: Int) -> Value? {
        let value = items[index].take()
        if value != nil { free.append(Int32(index)) }
        return value
    }
}
