extension HLSMediaPlaylist {
    /// The whole playlist that a delta update stands for: RFC 8216bis, sections 6.2.5.1 and 6.3.7.
    ///
    /// The skipped segments come from this playlist by their media sequence numbers. What held for them on (map, keys, bit
    /// rate, discontinuity) holds for the listed ones that follow too, unless the update says otherwise.
    ///
    /// - Returns: `nil` if this playlist hasn't all the segments that were skipped: the whole one is to be loaded.
    /// - Complexity: O(segments kept and listed).
    func merging(_ delta: HLSMediaPlaylist) -> HLSMediaPlaylist? {
        guard let skip = delta.skip else { return delta }
        let count = Int(clamping: skip.skippedSegments)
        guard count > 0 else { return delta }
        guard let first = segments.first?.mediaSequence, delta.mediaSequence >= first,
            let offset = Int(exactly: delta.mediaSequence - first), offset + count <= segments.count
        else { return nil }
        var merged = delta
        merged.skip = nil
        let kept = segments[offset..<offset + count]
        merged.maps = maps
        for var map in delta.maps {
            map.keySet = map.keySet.map { $0 + keySets.count }
            merged.maps.append(map)
        }
        merged.keySets = keySets + delta.keySets
        for index in merged.trailingParts.indices {
            merged.trailingParts[index].map = merged.trailingParts[index].map.map { $0 + maps.count }
            merged.trailingParts[index].keySet = merged.trailingParts[index].keySet.map { $0 + keySets.count }
        }
        merged.targetDuration = delta.targetDuration ?? targetDuration
        let last = kept[kept.endIndex - 1]
        let firstListed = delta.segments.first
        let expected = firstListed.map { last.discontinuitySequence &+ ($0.isDiscontinuous ? 1 : 0) } ?? 0
        let correction = firstListed.map { expected &- $0.discontinuitySequence } ?? 0
        var (seesMap, seesKeys, seesBitrate) = (false, !delta.keys.isEmpty && firstListed?.keySet != nil, false)
        merged.segments = Array(kept)
        merged.segments.reserveCapacity(count + delta.segments.count)
        for var segment in delta.segments {
            segment.discontinuitySequence &+= correction
            seesMap = seesMap || segment.map != nil
            seesKeys = seesKeys || segment.keySet != nil
            seesBitrate = seesBitrate || segment.bitrate != nil
            segment.map = seesMap ? segment.map.map { $0 + maps.count } : last.map
            segment.keySet = seesKeys ? segment.keySet.map { $0 + keySets.count } : last.keySet
            segment.bitrate = seesBitrate ? segment.bitrate : last.bitrate
            merged.segments.append(segment)
        }
        // Else they would grow with each update.
        merged.forgetUnused()
        merged.dateRanges = mergingDateRanges(delta)
        return merged
    }

    /// The ranges known before without those that were removed, then the update's; the newest where there are too many.
    private func mergingDateRanges(_ delta: HLSMediaPlaylist) -> [HLSAttributeList] {
        let removed = Set(delta.skip?.recentlyRemovedDateRanges ?? [])
        let updated = Set(delta.dateRanges.compactMap { $0["ID"] })
        let kept = dateRanges.filter { range in
            range["ID"].map { !removed.contains($0) && !updated.contains($0) } ?? false
        }
        return Array((kept + delta.dateRanges).suffix(Self.dateRangeLimit))
    }

    private static let dateRangeLimit = 2_000

    /// Drops maps and key sets that no segment names.
    private mutating func forgetUnused() {
        guard maps.count + keySets.count > 8 else { return }
        var (newMaps, newSets): ([HLSMap], [[HLSKey]]) = ([], [])
        var (mapNumbers, setNumbers): ([Int: Int], [Int: Int]) = ([:], [:])
        let (oldMaps, oldSets) = (maps, keySets)
        func number(ofSet old: Int) -> Int {
            if let known = setNumbers[old] { return known }
            newSets.append(oldSets[old])
            setNumbers[old] = newSets.count - 1
            return newSets.count - 1
        }
        func number(ofMap old: Int) -> Int {
            if let known = mapNumbers[old] { return known }
            var map = oldMaps[old]
            map.keySet = map.keySet.map(number(ofSet:))
            newMaps.append(map)
            mapNumbers[old] = newMaps.count - 1
            return newMaps.count - 1
        }
        for index in segments.indices {
            segments[index].map = segments[index].map.map(number(ofMap:))
            segments[index].keySet = segments[index].keySet.map(number(ofSet:))
        }
        for index in trailingParts.indices {
            trailingParts[index].map = trailingParts[index].map.map(number(ofMap:))
            trailingParts[index].keySet = trailingParts[index].keySet.map(number(ofSet:))
        }
        (maps, keySets) = (newMaps, newSets)
    }
}
