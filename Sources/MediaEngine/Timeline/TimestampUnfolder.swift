/// Unfolds the 33-bit, 90 kHz timestamps of MPEG-TS, which start again every 26.5 hours.
struct TimestampUnfolder {
    /// The last unfolded timestamp, or where the next one is expected.
    private(set) var reference: Int64?

    private static let period: Int64 = 1 << 33

    init(expecting reference: Int64?) {
        self.reference = reference
    }

    /// What must be added to `timestamp` to bring it as near to the one before as turns allow; remembers the result.
    mutating func turns(for timestamp: Int64) -> Int64 {
        guard let reference else {
            self.reference = timestamp
            return 0
        }
        let (distance, overflow) = reference.subtractingReportingOverflow(timestamp)
        guard !overflow else { return 0 }
        let half = distance >= 0 ? Self.period / 2 : -Self.period / 2
        let turns = ((distance &+ half) / Self.period) &* Self.period
        self.reference = timestamp &+ turns
        return turns
    }
}
