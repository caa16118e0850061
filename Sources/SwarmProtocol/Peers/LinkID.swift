/// Names one of a neighbourhood's links, from its dial or arrival to its end.
public struct LinkID: Hashable, Sendable {
    private let place: UInt32
    /// Counts the links in the order of their coming, which tells apart those that have had the same place.
    let serial: UInt32

    init(slot: Int, serial: UInt32) {
        place = UInt32(slot)
        self.serial = serial
    }

    /// Its place in tables: small, and used again once the link is over.
    public var slot: Int { Int(place) }
}
