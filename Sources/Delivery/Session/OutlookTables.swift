import Scheduling
import Synchronization

/// The tables of the last few ladders: viewers of one stream in one process share theirs, which costs milliseconds to make.
final class OutlookTables: Sendable {
    static let shared = OutlookTables()

    private struct Entry {
        let ladder: BitrateLadder
        let configuration: BitrateConfiguration
        let table: OutlookTable
    }

    private static let limit = 8

    private let entries = Mutex<[Entry]>([])

    /// The table of a ladder.
    func table(_ ladder: BitrateLadder, configuration: BitrateConfiguration) -> OutlookTable {
        entries.withLock { entries in
            if let known = entries.first(where: { $0.ladder == ladder && $0.configuration == configuration }) {
                return known.table
            }
            let table = OutlookTable(
                ladder: ladder, capacity: configuration.capacityMilliseconds,
                segment: configuration.segmentMilliseconds)
            if entries.count == Self.limit { entries.removeFirst() }
            entries.append(Entry(ladder: ladder, configuration: configuration, table: table))
            return table
        }
    }
}
