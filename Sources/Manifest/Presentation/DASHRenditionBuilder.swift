import CoreModel

/// Joins the representations of an MPD's periods into renditions.
///
/// A representation continues one of an earlier period if they are of the same kind and language and have the same @id, or
/// else if they are the nearest in size and bit rate. In a period that has nothing to continue a rendition, as in
/// advertisements, the representation nearest to it stands in.
struct DASHRenditionBuilder {
    /// A representation with what the places around it say.
    private struct Candidate {
        var id: String?
        var kind: Rendition.Kind
        var rendition: Rendition
        var addressing: DASHSharedAddressing
        var encryption: Encryption?
        var isTrickPlay: Bool
        var isMain: Bool
    }

    private let manifest: DASHManifest
    private(set) var renditions: [Rendition] = []
    private(set) var variants: [Variant] = []
    private(set) var pieces: [Rendition.ID: [DASHPiece]] = [:]
    private(set) var warnings: [ManifestWarning] = []
    /// For each rendition, whether it is for trick play only, and whether its set is a main one.
    private var isTrickPlay: [Bool] = []
    private var isMain: [Bool] = []

    init(_ manifest: DASHManifest) { self.manifest = manifest }

    mutating func build() throws(ManifestError) {
        let times = manifest.periodTimes
        var workspace = DASHWorkspace()
        var candidatesByPeriod: [(window: PresentationWindow, candidates: [Candidate])] = []
        for (period, times) in zip(manifest.periods, times) {
            guard let start = times.start else { continue }
            if times.duration == nil, !manifest.isDynamic {
                warnings.warn("Period: its duration is unknown; it is left out", line: period.line)
                continue
            }
            let candidates = try candidates(of: period, times: times, workspace: &workspace)
            candidatesByPeriod.append((PresentationWindow(start: start, end: times.end), candidates))
        }
        // For each period, the rendition that each candidate continues or begins.
        var assignments: [[Int?]] = []
        for (_, candidates) in candidatesByPeriod {
            assignments.append(assign(candidates))
            guard renditions.count * candidatesByPeriod.count <= ManifestLimits.pieceCount else {
                throw .tooLarge(what: "renditions times periods", limit: ManifestLimits.pieceCount)
            }
        }
        for index in renditions.indices {
            var list: [DASHPiece] = []
            for ((window, candidates), assigned) in zip(candidatesByPeriod, assignments) {
                guard let candidate = candidate(for: index, among: candidates, assigned: assigned) else { continue }
                list.append(DASHPiece(candidate.addressing, window: window, encryption: candidate.encryption))
                if let encryption = candidate.encryption { renditions[index].add(encryption) }
            }
            pieces[renditions[index].id] = list
        }
        makeVariants()
    }

    private mutating func candidates(
        of period: DASHPeriod, times: DASHPeriodTimes, workspace: inout DASHWorkspace
    ) throws(ManifestError) -> [Candidate] {
        var candidates: [Candidate] = []
        for set in period.adaptationSets {
            if let property = set.common.essentialProperties.first(where: { !Self.knownProperties.contains($0.scheme) })
            {
                warnings.warn(
                    "AdaptationSet: essential property \(property.scheme) is not known; left out", line: set.line)
                continue
            }
            for representation in set.representations {
                let common = representation.common.inheriting(set.common)
                if representation.common.essentialProperties.contains(where: {
                    !Self.knownProperties.contains($0.scheme)
                }) {
                    warnings.warn(
                        "Representation: an essential property is not known; left out", line: representation.line)
                    continue
                }
                if let base = representation.dependencyID {
                    warnings.warn(
                        "Representation: it needs the media of \(base) too; left out", line: representation.line)
                    continue
                }
                let addressing = try DASHAddressing(
                    manifest, period: period, times: times, set: set, representation: representation,
                    workspace: &workspace)
                if addressing.method == .list, addressing.runs.isEmpty, addressing.count ?? 0 > 1 {
                    warnings.warn(
                        "SegmentList: several segments without a duration have no place in time; left out",
                        line: representation.line)
                    continue
                }
                let kind = Self.kind(set: set, common: common)
                guard candidates.count < ManifestLimits.renditionCount else {
                    throw .tooLarge(what: "representations of a period", limit: ManifestLimits.renditionCount)
                }
                candidates.append(
                    Candidate(
                        id: representation.id, kind: kind,
                        rendition: Self.rendition(set, representation, common, kind: kind, addressing: addressing),
                        addressing: DASHSharedAddressing(addressing), encryption: Encryption(common.contentProtections),
                        isTrickPlay: Self.isTrickPlay(set), isMain: Self.isMain(set)))
            }
        }
        return candidates
    }

    /// Descriptors that are understood, so that what carries them may be used.
    private static let knownProperties: Set<String> = [
        trickPlayScheme, "http://dashif.org/guidelines/thumbnail_tile", "http://dashif.org/thumbnail_tile",
        "urn:mpeg:mpegB:cicp:ColourPrimaries", "urn:mpeg:mpegB:cicp:TransferCharacteristics",
        "urn:mpeg:mpegB:cicp:MatrixCoefficients", "urn:mpeg:dash:preselection:2016",
        "urn:mpeg:dash:adaptation-set-switching:2016",
    ]

    private static let trickPlayScheme = "http://dashif.org/guidelines/trickmode"

    private static func isTrickPlay(_ set: DASHAdaptationSet) -> Bool {
        (set.common.essentialProperties + set.common.supplementalProperties).contains { $0.scheme == trickPlayScheme }
            || set.roles.contains { $0.value == "trick" }
    }

    private static func isMain(_ set: DASHAdaptationSet) -> Bool {
        set.roles.contains { $0.value == "main" } || set.roles.isEmpty
    }

    private static func kind(set: DASHAdaptationSet, common: DASHCommonAttributes) -> Rendition.Kind {
        let codecs = (common.codecs ?? "").split(separator: ",").compactMap { CodecKind($0) }
        if codecs.contains(.video), codecs.contains(.audio) { return .muxed }
        let declared = set.contentType ?? common.mimeType.map { String($0.prefix { $0 != "/" }) }
        switch declared {
        case "video": return .video
        case "audio": return .audio
        case "text": return .text
        case "image": return .image
        default: break
        }
        switch codecs.first {
        case .video: return .video
        case .audio: return .audio
        case .image: return .image
        case .text: return .text
        case nil: return common.mimeType == "application/ttml+xml" ? .text : common.width != nil ? .video : .muxed
        }
    }

    private static func rendition(
        _ set: DASHAdaptationSet, _ representation: DASHRepresentation, _ common: DASHCommonAttributes,
        kind: Rendition.Kind, addressing: DASHAddressing
    ) -> Rendition {
        let container: Rendition.Container =
            switch common.mimeType?.split(separator: "/").last.map(String.init) ?? "" {
            case "mp4": .mp4
            case "mp2t", "MP2T": .mpegTS
            case "webm": .webM
            case "vtt": .webVTT
            default: .init(url: addressing.path, hasInitialization: addressing.initialization != nil)
            }
        var rendition = Rendition(
            id: representation.id ?? "\(kind.rawValue)-\(representation.bandwidth ?? 0)", kind: kind,
            container: container, path: addressing.path)
        rendition.bandwidth = representation.bandwidth
        rendition.codecs = common.codecs
        rendition.width = common.width.flatMap { Int(exactly: $0) }
        rendition.height = common.height.flatMap { Int(exactly: $0) }
        rendition.frameRate = common.frameRate.flatMap(frameRate)
        rendition.language = set.language
        rendition.label = set.labels.first
        rendition.channels = common.audioChannelConfigurations.first?.value
        rendition.roles = set.roles.compactMap(\.value)
        rendition.group = set.id
        rendition.isDefault = set.roles.contains { $0.value == "main" }
        return rendition
    }

    /// A frame rate such as `30` or `30000/1001`.
    static func frameRate(_ text: String) -> Double? {
        let terms = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let numerator = terms.first.map({ String($0).trimmed })?.decimalNumber, terms.count <= 2 else {
            return nil
        }
        guard terms.count == 2 else { return numerator.seconds }
        guard let denominator = String(terms[1]).trimmed.decimalNumber, denominator > .zero else { return nil }
        return numerator.seconds / denominator.seconds
    }

    /// Continues renditions with the candidates of a period, and begins new ones with the rest.
    private mutating func assign(_ candidates: [Candidate]) -> [Int?] {
        var byKey: [String: Int] = [:]
        for index in renditions.indices.reversed() {
            byKey[Self.key(renditions[index], trickPlay: isTrickPlay[index])] = index
        }
        var assigned = candidates.map { candidate in
            byKey.removeValue(forKey: Self.key(candidate.rendition, id: candidate.id, trickPlay: candidate.isTrickPlay))
        }
        // The renditions that nothing continues yet, so that a period with other identifiers adds none without need.
        var free = byKey.values.sorted()
        for index in candidates.indices where assigned[index] == nil {
            let candidate = candidates[index]
            let nearest = free.indices
                .filter { place in
                    let rendition = renditions[free[place]]
                    let languages = (rendition.language, candidate.rendition.language)
                    // Advertisements and the film often don't agree whether to name the language.
                    let isSameLanguage = languages.0 == nil || languages.1 == nil || languages.0 == languages.1
                    return rendition.kind == candidate.kind && isSameLanguage
                        && isTrickPlay[free[place]] == candidate.isTrickPlay
                }
                .min {
                    Self.distance(renditions[free[$0]], candidate.rendition)
                        < Self.distance(renditions[free[$1]], candidate.rendition)
                }
            assigned[index] = nearest.map { free.remove(at: $0) } ?? begin(candidate)
        }
        return assigned
    }

    /// What two representations have in common if they are one rendition for certain.
    private static func key(_ rendition: Rendition, id: String? = nil, trickPlay: Bool) -> String {
        [rendition.kind.rawValue, rendition.language ?? "", trickPlay ? "trick" : "", id ?? rendition.id]
            .joined(separator: "\u{0}")
    }

    private mutating func begin(_ candidate: Candidate) -> Int? {
        guard renditions.count < ManifestLimits.renditionCount else {
            warnings.warn("more than \(ManifestLimits.renditionCount) renditions; the rest is left out", line: 0)
            return nil
        }
        var rendition = candidate.rendition
        let name = rendition.id
        var suffix = 1
        while pieces[rendition.id] != nil {
            suffix += 1
            rendition.id = "\(name)#\(suffix)"
        }
        pieces[rendition.id] = []
        renditions.append(rendition)
        isTrickPlay.append(candidate.isTrickPlay)
        isMain.append(candidate.isMain)
        return renditions.count - 1
    }

    /// What a rendition plays in a period: the representation that continues it, else the nearest of its kind.
    private func candidate(for index: Int, among candidates: [Candidate], assigned: [Int?]) -> Candidate? {
        if let own = assigned.firstIndex(of: index) { return candidates[own] }
        let rendition = renditions[index]
        return
            candidates
            .filter { $0.kind == rendition.kind && $0.isTrickPlay == isTrickPlay[index] }
            .min { Self.distance($0.rendition, rendition) < Self.distance($1.rendition, rendition) }
    }

    /// How unlike two renditions are: language first, then height, then bit rate.
    private static func distance(_ one: Rendition, _ other: Rendition) -> (Int, Int, UInt64) {
        let rates = (one.bandwidth ?? 0, other.bandwidth ?? 0)
        return (
            one.language == other.language ? 0 : 1, abs((one.height ?? 0) - (other.height ?? 0)),
            max(rates.0, rates.1) - min(rates.0, rates.1)
        )
    }

    /// One variant for each video, with the best main audio; audio alone where there is no video.
    private mutating func makeVariants() {
        let playable = renditions.indices.filter { !isTrickPlay[$0] }
        let audio = playable.filter { renditions[$0].kind == .audio }
        let text = playable.filter { renditions[$0].kind == .text }.map { renditions[$0].id }
        let mainAudio = audio.filter { isMain[$0] }
        // The first main set decides about the language; within it the highest bit rate.
        let first = mainAudio.first ?? audio.first
        let preferred = (mainAudio.isEmpty ? audio : mainAudio)
            .filter { first.map { renditions[$0].language } == renditions[$0].language }
            .max { (renditions[$0].bandwidth ?? 0) < (renditions[$1].bandwidth ?? 0) }
        let audioIDs = audio.map { renditions[$0].id }
        let audioBandwidth = preferred.flatMap { renditions[$0].bandwidth } ?? 0
        for index in playable where renditions[index].kind == .video || renditions[index].kind == .muxed {
            let isMuxed = renditions[index].kind == .muxed
            variants.append(
                Variant(
                    video: renditions[index].id, audio: isMuxed ? nil : preferred.map { renditions[$0].id },
                    audioOptions: isMuxed ? [] : audioIDs, textOptions: text,
                    bandwidth: (renditions[index].bandwidth ?? 0).addingReportingOverflow(isMuxed ? 0 : audioBandwidth)
                        .partialValue))
        }
        guard variants.isEmpty else { return }
        for index in audio {
            variants.append(
                Variant(
                    video: nil, audio: renditions[index].id, audioOptions: audioIDs, textOptions: text,
                    bandwidth: renditions[index].bandwidth ?? 0))
        }
    }
}

extension Encryption {
    /// What ContentProtection descriptors say; `nil` if there are none.
    init?(_ descriptors: [DASHDescriptor]) {
        guard !descriptors.isEmpty else { return nil }
        let common = descriptors.first { $0.scheme.lowercased() == "urn:mpeg:dash:mp4protection:2011" }
        self.init(
            method: common?.value?.trimmed.lowercased() ?? Self.unnamedMethod,
            systems: descriptors.map(\.scheme).filter { $0 != common?.scheme }, keyURL: nil, initializationVector: nil)
        for descriptor in descriptors {
            // A list of UUIDs, separated by blanks.
            for text in descriptor.defaultKeyID?.split(whereSeparator: \.isWhitespace) ?? [] {
                guard let id = Hexadecimal.decode(text.filter { $0 != "-" }).flatMap({ Bytes16($0) }),
                    !keyIDs.contains(id)
                else { continue }
                keyIDs.append(id)
            }
            protectionData += descriptor.protectionData.map { ProtectionData(system: descriptor.scheme, text: $0) }
        }
    }
}
