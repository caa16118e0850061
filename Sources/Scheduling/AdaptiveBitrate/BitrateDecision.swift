/// Which rung the next segment is fetched at, and why; one line of the decision log.
public struct BitrateDecision: Sendable, Hashable, Codable {
    /// The rung, counted from the lowest.
    public var rung: Int
    /// How long to wait before fetching, in milliseconds.
    public var delayMilliseconds: Double
    /// What decided.
    public var reason: BitrateReason

    public init(rung: Int, delayMilliseconds: Double = 0, reason: BitrateReason) {
        self.rung = rung
        self.delayMilliseconds = delayMilliseconds
        self.reason = reason
    }
}
