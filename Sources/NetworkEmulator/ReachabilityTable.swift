/// How likely two nodes can connect, by the kinds of address translation they are behind.
public struct ReachabilityTable: Hashable, Sendable {
    private let typeCount: Int
    private let probabilities: [Double]

    /// Everybody reaches everybody.
    public static let everybody = ReachabilityTable(probabilities: [[1]])!

    /// Makes a table from the probability of success for each pair of types: `probabilities[opener][other]`.
    ///
    /// - Returns: `nil` unless the table is square, not empty, and holds probabilities.
    public init?(probabilities: [[Double]]) {
        guard !probabilities.isEmpty, probabilities.count <= 256,
            probabilities.allSatisfy({ $0.count == probabilities.count && $0.allSatisfy { (0...1).contains($0) } })
        else { return nil }
        typeCount = probabilities.count
        self.probabilities = probabilities.flatMap { $0 }
    }

    /// The probability that a node of type `opener` can connect to one of type `other`; types beyond the table count as its
    /// last one.
    public func probability(from opener: NATType, to other: NATType) -> Double {
        probabilities[min(Int(opener.rawValue), typeCount - 1) * typeCount + min(Int(other.rawValue), typeCount - 1)]
    }
}
