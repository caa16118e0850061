/// What working out an MPD's addressing shares between representations, and the bounds that hold for all of them together.
///
/// Base URLs and timelines stand at an adaptation set mostly, with dozens of representations below it: each is worked out
/// once.
public struct DASHWorkspace: Sendable {
    private struct Bases: Sendable {
        var manifest: [DASHBaseURL]
        var period: [DASHBaseURL]
        var set: [DASHBaseURL]
        var base: BaseURL
    }

    private struct Runs: Sendable {
        var information: DASHSegmentInformation
        var times: DASHPeriodTimes
        var listedCount: Int?
        var builder: DASHRunBuilder
    }

    private var lastBases: Bases?
    private var lastRuns: Runs?
    private var textByteCount = 0
    private var runCount = 0

    /// Makes a workspace for one pass over an MPD.
    public init() {}

    /// Counts bytes of references that a representation's addressing keeps.
    mutating func countText(_ byteCount: Int) throws(ManifestError) {
        guard byteCount <= ManifestLimits.urlByteCount else {
            throw .tooLarge(what: "bytes in a reference", limit: ManifestLimits.urlByteCount)
        }
        textByteCount += byteCount
        guard textByteCount <= ManifestLimits.urlTotalByteCount else {
            throw .tooLarge(what: "bytes of resolved references", limit: ManifestLimits.urlTotalByteCount)
        }
    }

    /// Resolves a reference; without one, the base itself.
    mutating func resolve(_ reference: String?, against base: BaseURL) throws(ManifestError) -> String {
        guard let reference else { return base.text }
        try countText(reference.utf8.count)
        let resolved = base.resolve(reference)
        try countText(resolved.utf8.count)
        return resolved
    }

    /// The base URL of a representation, the first choice at each level.
    mutating func base(
        of representation: DASHRepresentation, set: DASHAdaptationSet, period: DASHPeriod, manifest: DASHManifest
    ) throws(ManifestError) -> BaseURL {
        // Comparing costs nothing where the arrays are the same ones, as they are within an adaptation set.
        if lastBases?.manifest != manifest.baseURLs || lastBases?.period != period.baseURLs
            || lastBases?.set != set.baseURLs
        {
            var base = manifest.url
            for level in [manifest.baseURLs, period.baseURLs, set.baseURLs] {
                guard let first = level.first else { continue }
                base = BaseURL(try resolve(first.text, against: base))
            }
            lastBases = Bases(
                manifest: manifest.baseURLs, period: period.baseURLs, set: set.baseURLs, base: base)
        }
        let base = lastBases?.base ?? manifest.url
        guard let own = representation.baseURLs.first else { return base }
        let resolved = BaseURL(try resolve(own.text, against: base))
        // A base keeps its text, its path and its directory.
        try countText(resolved.text.utf8.count)
        try countText(resolved.text.utf8.count)
        return resolved
    }

    /// The base URL of a representation with the second choice at the highest level that has one: the other host, where
    /// the MPD names several (ISO/IEC 23009-1, section 5.6).
    mutating func otherBase(
        of representation: DASHRepresentation, set: DASHAdaptationSet, period: DASHPeriod, manifest: DASHManifest
    ) throws(ManifestError) -> BaseURL? {
        let levels = [manifest.baseURLs, period.baseURLs, set.baseURLs, representation.baseURLs]
        guard let decided = levels.firstIndex(where: { $0.count > 1 }) else { return nil }
        var base = manifest.url
        for (index, level) in levels.enumerated() {
            guard let choice = index == decided ? level.dropFirst().first : level.first else { continue }
            base = BaseURL(try resolve(choice.text, against: base))
        }
        return base
    }

    /// The runs of segments that an element comes to.
    mutating func runs(
        _ information: DASHSegmentInformation, times: DASHPeriodTimes, timescale: Int64, listedCount: Int?
    ) throws(ManifestError) -> DASHRunBuilder {
        if let lastRuns, lastRuns.times == times, lastRuns.listedCount == listedCount,
            lastRuns.information.hasSameTimes(as: information)
        {
            return lastRuns.builder
        }
        var builder = DASHRunBuilder(information, times: times, timescale: timescale)
        try builder.build(listedCount: listedCount)
        runCount += builder.runs.count
        guard runCount <= ManifestLimits.timelineRunCount else {
            throw .tooLarge(what: "spans of segment timelines", limit: ManifestLimits.timelineRunCount)
        }
        lastRuns = Runs(information: information, times: times, listedCount: listedCount, builder: builder)
        return builder
    }
}

extension DASHSegmentInformation {
    /// Whether segments have the same numbers and times by another element.
    fileprivate func hasSameTimes(as other: DASHSegmentInformation) -> Bool {
        timescale == other.timescale && presentationTimeOffset == other.presentationTimeOffset
            && duration == other.duration && startNumber == other.startNumber && endNumber == other.endNumber
            && timeline == other.timeline
    }
}
