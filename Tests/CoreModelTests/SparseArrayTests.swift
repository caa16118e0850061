import CoreModel
import Testing

@Suite struct SparseArrayTests {
    @Test func elementsKeepTheirPlaces() {
        var array = SparseArray(initial: 7)
        array.grow(to: 3)
        array[2] = 5
        array.grow(to: 100)
        array[64] += 1
        let copy = array
        array[65] = 0
        #expect(array.count == 100 && array.indices == 0..<100)
        let expected = (0..<100).map { [2: 5, 64: 8, 65: 0][$0] ?? 7 }
        #expect(array.indices.map { array[$0] } == expected)
        // A copy is a value of its own.
        #expect(copy[65] == 7 && copy[64] == 8)
    }
}
