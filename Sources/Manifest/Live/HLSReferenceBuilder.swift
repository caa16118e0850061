import CoreModel

/// Makes references of a live playlist's segments one after the other, whatever part of the list each refresh shows.
struct HLSReferenceBuilder: Sendable {
    private struct NamedMap: Sendable {
        var map: HLSMap
        var position: SegmentPosition
    }

    /// How often the encoder began again.
    private(set) var epoch: UInt32 = 0
    /// How often the list began anew, for whatever reason.
    private var runCount: UInt64 = 0
    /// The first map of the section, and the last one that was named.
    private var firstMap: NamedMap?
    private var lastMap: NamedMap?

    /// The segments to come are of a new run of numbers.
    mutating func beginRun(isNewEpoch: Bool) {
        runCount += 1
        if isNewEpoch { epoch &+= 1 }
        (firstMap, lastMap) = (nil, nil)
    }

    /// The reference of a segment.
    ///
    /// - Parameters:
    ///   - discontinuity: Its discontinuity sequence number, corrected.
    ///   - start: Where it begins on the presentation's timeline.
    mutating func reference(
        of segment: HLSSegment, in playlist: HLSMediaPlaylist, discontinuity: UInt64, start: MediaTime
    ) -> SegmentReference {
        SegmentReference(
            position: SegmentPosition(
                section: discontinuity, number: segment.mediaSequence, byteOffset: segment.byteRange?.offset ?? 0),
            start: start, duration: segment.duration, url: segment.uri, otherURL: nil,
            byteRange: segment.byteRange?.range,
            initialization: segment.map.map {
                initialization(playlist.maps[$0], in: playlist, segment: segment, discontinuity: discontinuity)
            },
            section: runCount << 32 | discontinuity & 0xFFFF_FFFF, mediaOffset: nil, presentationWindow: nil,
            isGap: segment.isGap,
            encryption: segment.keySet.flatMap {
                Encryption(keys: playlist.keySets[$0], mediaSequence: segment.mediaSequence)
            }, programDateTime: segment.programDateTime?.time, epoch: epoch)
    }

    /// A section's first map is number 0, one that follows within it has the number of the first segment that needs it.
    private mutating func initialization(
        _ map: HLSMap, in playlist: HLSMediaPlaylist, segment: HLSSegment, discontinuity: UInt64
    ) -> InitializationReference {
        func isSame(_ named: NamedMap?) -> Bool {
            named.map { $0.map.uri == map.uri && $0.map.byteRange == map.byteRange } ?? false
        }
        var position = SegmentPosition(
            kind: .initialization, section: discontinuity, number: 0, byteOffset: map.byteRange?.offset ?? 0)
        if firstMap?.position.section != discontinuity {
            firstMap = NamedMap(map: map, position: position)
        } else if isSame(firstMap) {
            position = firstMap?.position ?? position
        } else if isSame(lastMap) {
            position = lastMap?.position ?? position
        } else {
            position.number = segment.mediaSequence
        }
        lastMap = NamedMap(map: map, position: position)
        return InitializationReference(
            url: map.uri, byteRange: map.byteRange?.range, position: position,
            encryption: map.keySet.flatMap { Encryption(keys: playlist.keySets[$0], mediaSequence: nil) })
    }
}
