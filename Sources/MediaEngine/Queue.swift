/// A first-in, first-out queue on an array; both ends in amortised O(1).
struct Queue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { head == elements.count }
    var first: Element? { isEmpty ? nil : elements[head] }

    subscript(index: Int) -> Element {
        guard let element = elements[head + index] else { preconditionFailure("queue index \(index) of \(count)") }
        return element
    }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= 64, head * 2 >= elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        let element = elements[head]
        elements[head] = nil
        return element
    }

    mutating func removeAll() {
        elements = []
        head = 0
    }
}
