internal import TrackerProtocol

/// What viewers report that they moved. Sums stop at the largest number: what is reported is a claim, and may be absurd.
struct Traffic: Sendable {
    var bytesFromCDN: UInt64 = 0
    var bytesFromPeers: UInt64 = 0
    var bytesUploaded: UInt64 = 0
    var chunksRejected: UInt64 = 0
    var stalls: UInt64 = 0

    mutating func add(_ other: Traffic) {
        Self.add(other.bytesFromCDN, to: &bytesFromCDN)
        Self.add(other.bytesFromPeers, to: &bytesFromPeers)
        Self.add(other.bytesUploaded, to: &bytesUploaded)
        Self.add(other.chunksRejected, to: &chunksRejected)
        Self.add(other.stalls, to: &stalls)
    }

    mutating func add(_ report: ViewerReport) {
        add(
            Traffic(
                bytesFromCDN: report.bytesFromCDN, bytesFromPeers: report.bytesFromPeers,
                bytesUploaded: report.bytesUploaded, chunksRejected: UInt64(report.chunksRejected),
                stalls: UInt64(report.stalls)))
    }

    private static func add(_ amount: UInt64, to total: inout UInt64) {
        let (sum, overflow) = total.addingReportingOverflow(amount)
        total = overflow ? .max : sum
    }
}
