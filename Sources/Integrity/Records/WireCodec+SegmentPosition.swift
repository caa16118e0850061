public import CoreModel

extension WireWriter {
    /// Appends a position: 27 bytes.
    public mutating func append(_ position: SegmentPosition) {
        integer(position.kind.rawValue)
        integer(position.section)
        integer(position.number)
        integer(position.byteOffset)
        integer(position.part)
    }

    /// Appends a time in whole seconds since 1970; earlier ones become 0.
    mutating func append(seconds time: UnixTime) { integer(UInt64(max(0, time.seconds))) }
}

extension WireReader {
    /// Reads a position.
    public mutating func segmentPosition() throws(WireError) -> SegmentPosition {
        guard let kind = SegmentPosition.Kind(rawValue: try integer()) else { throw .invalid(field: "position kind") }
        return SegmentPosition(
            kind: kind, section: try integer(), number: try integer(), byteOffset: try integer(), part: try integer())
    }

    /// Reads a time in whole seconds since 1970, not after the year 287396 (2^53 ms).
    mutating func seconds(_ field: String) throws(WireError) -> UnixTime {
        let seconds: UInt64 = try integer()
        guard seconds <= 1 << 43 else { throw .invalid(field: field) }
        return UnixTime(seconds: Int64(seconds))
    }

    /// Reads a signature.
    mutating func signature() throws(WireError) -> Signature {
        Signature(first: try bytes32(), second: try bytes32())
    }
}
