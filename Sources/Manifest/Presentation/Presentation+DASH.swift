import CoreModel

extension Presentation {
    /// The presentation of an MPD.
    init(_ manifest: DASHManifest) throws(ManifestError) {
        format = .dash
        url = manifest.url.text
        source = .dash(manifest)
        isLive = manifest.isDynamic
        duration = manifest.isDynamic ? nil : manifest.totalDuration
        warnings = manifest.warnings
        var builder = DASHRenditionBuilder(manifest)
        try builder.build()
        renditions = builder.renditions
        variants = builder.variants
        dashPieces = builder.pieces
        for warning in builder.warnings { warnings.warn(warning.message, line: warning.line) }
        for index in renditions.indices { try placePieces(of: index) }
    }

    mutating func loadSegmentIndex(_ bytes: [UInt8], into index: Int) throws(ManifestError) {
        let id = renditions[index].id
        var pieces = dashPieces[id] ?? []
        guard let next = pieces.firstIndex(where: { $0.neededIndex != nil }) else { return }
        // Several periods may play one file: its index is the same for all.
        let resource = pieces[next].neededIndex
        for position in pieces.indices where pieces[position].neededIndex == resource {
            try pieces[position].load(bytes)
        }
        dashPieces[id] = pieces
        try placePieces(of: index)
    }

    /// Makes the timeline of a rendition, if all its pieces know their segments.
    private mutating func placePieces(of index: Int) throws(ManifestError) {
        let pieces = dashPieces[renditions[index].id] ?? []
        guard pieces.allSatisfy({ $0.neededIndex == nil }) else { return }
        var target: MediaTime?
        if case .dash(let manifest) = source { target = manifest.maximumSegmentDuration }
        renditions[index].timeline = Timeline(
            segments: SegmentList(storage: .dash(try DASHSegments(pieces))), isEnded: !isLive, targetDuration: target)
    }
}
