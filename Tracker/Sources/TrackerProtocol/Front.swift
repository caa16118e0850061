public import CoreModel

/// The viewers that fetch from the CDN on behalf of a cohort: those whose positions lie close together.
///
/// Every member of the cohort gets the same list, in the same order, and derives from it who fetches which stripe.
public struct Front: Hashable, Sendable {
    /// Grows with each change of the list; a lower one than the last is stale.
    public var generation: UInt64
    /// How long the list holds from its arrival, in milliseconds; after that the viewer elects.
    public var validForMilliseconds: UInt32
    /// The position of the cohort's leading viewer, in milliseconds of the presentation.
    public var leadPositionMilliseconds: UInt64
    /// The members in order; empty when nobody may be named, and viewers elect.
    public var members: [PeerID]

    /// Makes a front.
    public init(
        generation: UInt64, validForMilliseconds: UInt32, leadPositionMilliseconds: UInt64, members: [PeerID]
    ) {
        self.generation = generation
        self.validForMilliseconds = validForMilliseconds
        self.leadPositionMilliseconds = leadPositionMilliseconds
        self.members = members
    }

    init(from reader: inout WireReader) throws(WireError) {
        generation = try reader.integer()
        validForMilliseconds = try reader.integer()
        leadPositionMilliseconds = try reader.integer()
        let count = Int(try reader.integer(UInt8.self))
        guard count <= ControlProtocol.maximumFrontCount else {
            throw .tooLarge(field: "front", value: count, limit: ControlProtocol.maximumFrontCount)
        }
        members = []
        members.reserveCapacity(count)
        for _ in 0..<count { members.append(PeerID(try reader.bytes32())) }
        guard Set(members).count == count else { throw .invalid(field: "front") }
    }

    func write(to writer: inout WireWriter) {
        precondition(members.count <= ControlProtocol.maximumFrontCount, "a front of \(members.count)")
        writer.integer(generation)
        writer.integer(validForMilliseconds)
        writer.integer(leadPositionMilliseconds)
        writer.integer(UInt8(members.count))
        for member in members { writer.append(member.publicKey) }
    }
}
