import CoreModel

/// The segments of a media playlist on the presentation's timeline.
struct HLSSegments: Sendable {
    let playlist: HLSMediaPlaylist
    /// Where each segment begins.
    private let starts: [MediaTime]
    /// The number in the position of each map, by its index.
    private let mapPositions: [SegmentPosition]

    /// Places a playlist's segments one behind the other from 0.
    ///
    /// - Throws: If a segment's byte range has no beginning (RFC 8216bis, section 4.4.4.2).
    init(_ playlist: HLSMediaPlaylist) throws(ManifestError) {
        var starts: [MediaTime] = []
        starts.reserveCapacity(playlist.segments.count)
        var start = MediaTime.zero
        var positions: [SegmentPosition?] = Array(repeating: nil, count: playlist.maps.count)
        var firstMapOfSection: (section: UInt64, map: Int)?
        for segment in playlist.segments {
            starts.append(start)
            start += segment.duration
            if let range = segment.byteRange, range.offset == nil {
                throw .hls(
                    line: segment.line, tag: "#EXT-X-BYTERANGE",
                    problem: "no offset, and no range of the same resource in front of it", section: "4.4.4.2")
            }
            guard let map = segment.map else { continue }
            if firstMapOfSection?.section != segment.discontinuitySequence {
                firstMapOfSection = (segment.discontinuitySequence, map)
            }
            if positions[map] == nil {
                // A section's first map is number 0, so that the name doesn't move with the window of a live playlist; a
                // map that follows within the section is named by the first segment that needs it.
                positions[map] = SegmentPosition(
                    kind: .initialization, section: segment.discontinuitySequence,
                    number: firstMapOfSection?.map == map ? 0 : segment.mediaSequence,
                    byteOffset: playlist.maps[map].byteRange?.offset ?? 0)
            }
        }
        self.playlist = playlist
        self.starts = starts
        mapPositions = positions.map { $0 ?? SegmentPosition(kind: .initialization, number: 0) }
    }

    var count: Int { starts.count }

    subscript(index: Int) -> SegmentReference {
        let segment = playlist.segments[index]
        return SegmentReference(
            position: SegmentPosition(
                section: segment.discontinuitySequence, number: segment.mediaSequence,
                byteOffset: segment.byteRange?.offset ?? 0),
            start: starts[index], duration: segment.duration, url: segment.uri, otherURL: nil,
            byteRange: segment.byteRange?.range,
            initialization: segment.map.map(initialization), section: segment.discontinuitySequence, mediaOffset: nil,
            presentationWindow: nil, isGap: segment.isGap,
            encryption: segment.keySet.flatMap {
                Encryption(keys: playlist.keySets[$0], mediaSequence: segment.mediaSequence)
            }, programDateTime: segment.programDateTime?.time)
    }

    private func initialization(_ index: Int) -> InitializationReference {
        let map = playlist.maps[index]
        return InitializationReference(
            url: map.uri, byteRange: map.byteRange?.range, position: mapPositions[index],
            encryption: map.keySet.flatMap { Encryption(keys: playlist.keySets[$0], mediaSequence: nil) })
    }
}

extension Encryption {
    /// Keys of which each would do; `nil` if there is none.
    init?(keys: [HLSKey], mediaSequence: UInt64?) {
        let identity = keys.first { $0.keyFormat == "identity" }
        guard let key = identity ?? keys.first else { return nil }
        self.init(
            method: key.method, systems: keys.map(\.keyFormat), keyURL: identity?.uri,
            initializationVector: key.initializationVector ?? mediaSequence.map { HLSKey.vector($0) },
            keyIDs: keys.lazy.compactMap(\.keyID).first.map { [$0] } ?? [])
    }
}
