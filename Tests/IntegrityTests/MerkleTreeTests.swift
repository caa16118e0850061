import CoreModel
import Foundation
import Integrity
import Testing

struct MerkleTreeTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var size: Int
        var root: String
        var testDescription: String { "\(size) bytes" }
    }

    /// Printed by Golden/merkle.py.
    static let vectors: [Vector] = [
        Vector(size: 1, root: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
        Vector(size: 16384, root: "5252abae92836caa122f8d6c078aa2487dc32b17e1b204a7cc022809faebc192"),
        Vector(size: 49157, root: "a596dec47446ca75da773426eb7a05ed8bb543c092a5a2382c268e0d6df644a8"),
        Vector(size: 131072, root: "5bc10fe02800e0aee0f83d1417dd72132150aa6acfd71c05c84c94d4dccf9e9d"),
        Vector(size: 131073, root: "49709ee065b81b5fb5828a9e9d6b79cfd50ba3739f7ca617ba96cb9578961b9d"),
        Vector(size: 300_000, root: "421b19f12c7aed9aa08ebb5272bad3adf3fb415632cfa013d6580775c9ecc8cd"),
        Vector(size: 1_300_000, root: "bbadce77df96a41b45390aa02057ad20369889c26fa863b7cce3674a04e989ef"),
        Vector(size: 655_360, root: "817068d544f24314f0f59e193c06cff33e620e3c257ed922b4b1ce7de2c3fb63"),
    ]

    @Test(arguments: vectors)
    func `Roots agree with Python's`(vector: Vector) {
        #expect(Fixtures.tree(Fixtures.bytes(vector.size)).root.description == vector.root)
    }

    @Test(arguments: [1, 1000, 16384, 16385, 100_000])
    func `Any split of the bytes gives the same tree`(piece: Int) {
        let bytes = Fixtures.bytes(300_000)
        var hasher = MerkleHasher(suite: suite)
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(piece)
            #expect(take(part, into: &hasher))
            rest = rest.dropFirst(part.count)
        }
        #expect(hasher.finish() == Fixtures.tree(bytes))
    }

    @Test func `An empty and an oversized segment have no tree`() {
        #expect(MerkleHasher(suite: suite).finish() == nil)
        var hasher = MerkleHasher(suite: suite)
        let piece = [UInt8](repeating: 0, count: 32 << 20)
        #expect(take(piece[...], into: &hasher))
        #expect(take(piece[...], into: &hasher))
        #expect(!take([0], into: &hasher))
        #expect(hasher.finish()?.stripeLayer.count == 512)
    }

    @Test func `A tree can be made again from its layer`() {
        let tree = Fixtures.tree(Fixtures.bytes(300_000))
        #expect(SegmentTree(byteCount: 300_000, stripeLayer: tree.stripeLayer, suite: suite) == tree)
        #expect(SegmentTree(byteCount: 500_000, stripeLayer: tree.stripeLayer, suite: suite) == nil)
    }

    private func take(_ bytes: ArraySlice<UInt8>, into hasher: inout MerkleHasher) -> Bool { hasher.update(bytes) }

    /// The published vectors beside the checkout.
    static let sharedVectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared/vectors/bep52-merkle.json").standardizedFileURL

    @Test(.enabled(if: FileManager.default.fileExists(atPath: sharedVectors.path), "no vectors beside the checkout"))
    func `Roots and leaves agree with libtorrent's`() throws {
        struct Document: Decodable {
            struct Vector: Decodable {
                var size: Int
                var chunks: Int
                var root: String
                var first_leaf: String
                var last_leaf: String
            }
            var vectors: [Vector]
        }
        let document = try JSONDecoder().decode(Document.self, from: Data(contentsOf: Self.sharedVectors))
        #expect(document.vectors.count >= 10)
        for vector in document.vectors {
            let bytes = (0..<vector.size).map { UInt8(truncatingIfNeeded: 131 &* $0 &+ 7 &+ 17 &* ($0 >> 8)) }
            let geometry = try #require(SegmentGeometry(byteCount: vector.size))
            let leaves = (0..<geometry.stripeCount).flatMap { Fixtures.leaves(bytes, stripe: $0) }
            #expect(geometry.chunkCount == vector.chunks)
            #expect(leaves.first?.description == vector.first_leaf)
            #expect(leaves.last?.description == vector.last_leaf)
            #expect(MerkleTree.root(leaves, in: geometry, suite: suite).description == vector.root, "\(vector.size)")
            #expect(Fixtures.tree(bytes).root.description == vector.root)
        }
    }
}
