internal import CoreModel

/// The hash tree over a catalogue's records (RFC 6962, section 2.1): leaves and nodes are told apart by their first byte.
///
/// Pages hold a power of two of records, so the hash of a page is a node of the tree over all records, and the tree over
/// the pages' hashes has the same root.
enum RecordTree {
    /// The hash of one record's bytes.
    static func leaf(_ record: [UInt8], suite: some CryptoSuite) -> Digest {
        suite.sha256(([0] + record).span.bytes)
    }

    /// The hash over a row of nodes that stand for equally many leaves each, but for the last.
    ///
    /// - Precondition: the row is not empty.
    static func root(_ row: ArraySlice<Digest>, suite: some CryptoSuite) -> Digest {
        guard row.count > 1 else { return row[row.startIndex] }
        // The left part is the largest power of two below the count.
        let left = 1 << (Int.bitWidth - 1 - (row.count - 1).leadingZeroBitCount)
        let middle = row.startIndex + left
        var message: [UInt8] = [1]
        message += root(row[..<middle], suite: suite).bytes
        message += root(row[middle...], suite: suite).bytes
        return suite.sha256(message.span.bytes)
    }
}
