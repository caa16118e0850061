internal import CoreModel

/// How many peers' addresses each credential is told in an hour, so that nobody lists a swarm by asking again.
///
/// A credential is the token's viewer, or with open admission the viewer's address, of IPv6 its /48. Bounded: at ``limit`` entries the
/// oldest hour's are dropped, and further credentials are told without being counted.
struct AddressBudget: Sendable {
    private struct Entry: Sendable {
        var count: Int
        var since: MonotonicInstant
    }

    static let period: Duration = .seconds(3600)

    private var entries: [Bytes16: Entry] = [:]
    private var nextSweep = MonotonicInstant.origin
    private let limit: Int
    private let allowance: Int

    init(allowance: Int, limit: Int) {
        self.allowance = allowance
        self.limit = limit
    }

    /// How many more may be told now, and when there will be more.
    func left(for credential: Bytes16, now: MonotonicInstant) -> (count: Int, until: MonotonicInstant) {
        guard let entry = entries[credential], entry.since + Self.period > now else {
            return (allowance, now + Self.period)
        }
        return (max(0, allowance - entry.count), entry.since + Self.period)
    }

    mutating func spend(_ count: Int, by credential: Bytes16, now: MonotonicInstant) {
        if let entry = entries[credential], entry.since + Self.period > now {
            entries[credential]?.count += count
        } else {
            guard entries[credential] != nil || entries.count < limit else { return }
            entries[credential] = Entry(count: count, since: now)
        }
    }

    /// Forgets hours that are over; looks through the table once a minute.
    mutating func tick(now: MonotonicInstant) {
        guard now >= nextSweep else { return }
        nextSweep = now + .seconds(60)
        entries = entries.filter { $0.value.since + Self.period > now }
    }
}
