public import CoreModel

/// An MPD as it was written: ISO/IEC 23009-1, section 5.3.1.
///
/// References stay as they are, because they are resolved against base URLs of every level; what is resolved, says so.
public struct DASHManifest: Sendable {
    /// The URL that references are resolved against.
    public var url: BaseURL
    public var id: String?
    public var profiles: String?
    /// @type: whether the presentation is live.
    public var isDynamic: Bool
    public var availabilityStartTime: DASHDate?
    public var availabilityEndTime: DASHDate?
    public var publishTime: DASHDate?
    public var mediaPresentationDuration: MediaTime?
    public var minimumUpdatePeriod: MediaTime?
    public var minimumBufferTime: MediaTime?
    public var timeShiftBufferDepth: MediaTime?
    public var suggestedPresentationDelay: MediaTime?
    public var maximumSegmentDuration: MediaTime?
    public var maximumSubsegmentDuration: MediaTime?
    public var baseURLs: [DASHBaseURL]
    /// Location elements, resolved.
    public var locations: [String]
    public var patchLocations: [DASHPatchLocation]
    public var utcTimings: [DASHDescriptor]
    public var essentialProperties: [DASHDescriptor]
    public var supplementalProperties: [DASHDescriptor]
    public var serviceDescriptions: [DASHServiceDescription]
    public var periods: [DASHPeriod]
    /// What was passed over.
    public var warnings: [ManifestWarning]

    /// Reads an MPD.
    ///
    /// - Parameters:
    ///   - bytes: The XML document.
    ///   - url: Where it came from, after redirects.
    /// - Throws: ``ManifestError`` if the bytes are no MPD.
    /// - Complexity: O(*n*) in the bytes.
    public static func parse(_ bytes: [UInt8], url: String) throws(ManifestError) -> DASHManifest {
        let (root, warnings) = try readRoot(bytes)
        return try parse(root, url: url, warnings: warnings)
    }

    /// Reads the XML of an MPD, or of a patch for one.
    static func readRoot(
        _ bytes: [UInt8]
    ) throws(ManifestError) -> (root: XMLElement, warnings: [ManifestWarning]) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= ManifestLimits.mpdByteCount else {
            throw .tooLarge(what: "bytes in an MPD", limit: ManifestLimits.mpdByteCount)
        }
        return try XMLReader.read(bytes)
    }

    /// Makes an MPD of its XML.
    static func parse(
        _ root: XMLElement, url: String, warnings: [ManifestWarning]
    ) throws(ManifestError) -> DASHManifest {
        guard root.name == "MPD" else { throw .unrecognized(beginning: "<\(String(root.name.prefix(32)))") }
        var parsing = DASHParsing(url: BaseURL(url), warnings: warnings)
        return try DASHManifest(root, &parsing)
    }

    /// Whether the bytes look like XML: the first that is no white space is `<`, after a byte order mark perhaps, in
    /// UTF-8 or UTF-16.
    static func mayBegin(_ bytes: [UInt8]) -> Bool {
        let rest = bytes[...].drop { $0 == 0xEF || $0 == 0xBB || $0 == 0xBF || $0 == 0xFE || $0 == 0xFF || $0 == 0 }
        return rest.first { !ASCII.isWhitespace($0) && $0 != 0 } == UInt8(ascii: "<")
    }

    private init(_ root: XMLElement, _ parsing: inout DASHParsing) throws(ManifestError) {
        url = parsing.url
        id = root["id"]
        profiles = root["profiles"]
        isDynamic = root["type"] == "dynamic"
        availabilityStartTime = parsing.date(root, "availabilityStartTime")
        availabilityEndTime = parsing.date(root, "availabilityEndTime")
        publishTime = parsing.date(root, "publishTime")
        mediaPresentationDuration = parsing.duration(root, "mediaPresentationDuration")
        minimumUpdatePeriod = parsing.duration(root, "minimumUpdatePeriod")
        minimumBufferTime = parsing.duration(root, "minBufferTime")
        timeShiftBufferDepth = parsing.duration(root, "timeShiftBufferDepth")
        suggestedPresentationDelay = parsing.duration(root, "suggestedPresentationDelay")
        maximumSegmentDuration = parsing.duration(root, "maxSegmentDuration")
        maximumSubsegmentDuration = parsing.duration(root, "maxSubsegmentDuration")
        baseURLs = parsing.baseURLs(root)
        let url = url
        locations = root.children("Location").map { url.resolve($0.text.trimmed) }
        patchLocations = root.children("PatchLocation").map {
            DASHPatchLocation(url: url.resolve($0.text.trimmed), timeToLive: $0["ttl"]?.decimalNumber)
        }
        utcTimings = parsing.descriptors(root, "UTCTiming")
        essentialProperties = parsing.descriptors(root, "EssentialProperty")
        supplementalProperties = parsing.descriptors(root, "SupplementalProperty")
        serviceDescriptions = root.children("ServiceDescription").map(DASHServiceDescription.init)
        var periods: [DASHPeriod] = []
        for element in root.children("Period") {
            guard periods.count < ManifestLimits.periodCount else {
                throw .tooLarge(what: "periods", limit: ManifestLimits.periodCount)
            }
            periods.append(try DASHPeriod(element, &parsing))
        }
        guard !periods.isEmpty else {
            throw parsing.fault(root, "no Period", section: "5.3.1.2")
        }
        self.periods = periods
        warnings = parsing.warnings
    }
}

extension DASHServiceDescription {
    init(_ element: XMLElement) {
        id = element["id"]
        latency = element.first("Latency").map {
            Latency(
                target: $0["target"]?.unsignedNumber, minimum: $0["min"]?.unsignedNumber,
                maximum: $0["max"]?.unsignedNumber, referenceID: $0["referenceId"]?.unsignedNumber)
        }
        playbackRate = element.first("PlaybackRate").map {
            PlaybackRate(minimum: $0["min"]?.decimalNumber, maximum: $0["max"]?.decimalNumber)
        }
    }
}
