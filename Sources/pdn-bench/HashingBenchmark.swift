import CoreModel
import Cryptography
import Integrity

/// The BEP 52 tree of segments against libcrypto's SHA-256 of the same bytes.
enum HashingBenchmark {
    static func run() -> [Measurement] {
        let segment = (0..<4 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let suite = SystemCryptoSuite()
        let raw = Libcrypto()
        let rounds = 8
        var best = (tree: Double.infinity, raw: Double.infinity)
        var output = [UInt8](repeating: 0, count: 32)
        // In turns, and the best of each: what else runs on the machine then weighs on both.
        for _ in 0..<12 {
            best.tree = min(
                best.tree,
                wallSeconds {
                    for _ in 0..<rounds {
                        // Pieces as a transfer hands them over.
                        var hasher = MerkleHasher(suite: suite)
                        var rest = segment[...]
                        while !rest.isEmpty {
                            _ = hasher.update(rest.prefix(64 << 10))
                            rest = rest.dropFirst(64 << 10)
                        }
                        precondition(hasher.finish() != nil, "a segment has a tree")
                    }
                })
            best.raw = min(
                best.raw,
                wallSeconds {
                    for _ in 0..<rounds {
                        segment.withUnsafeBytes { raw.sha256($0, into: &output) }
                    }
                })
        }
        let megabytes = Double(rounds * segment.count) / 1e6
        return [
            Measurement(name: "tree-hashing", value: megabytes / best.tree, unit: "MB/s", limit: megabytes / best.raw)
        ]
    }
}
