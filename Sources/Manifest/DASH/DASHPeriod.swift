public import CoreModel

/// Period: ISO/IEC 23009-1, section 5.3.2.
public struct DASHPeriod: Sendable {
    /// The line of the element.
    public var line: Int
    public var id: String?
    public var start: MediaTime?
    public var duration: MediaTime?
    /// @xlink:href, as written. Remote periods are not fetched.
    public var remoteReference: String?
    /// @xlink:actuate.
    public var remoteActuation: String?
    public var baseURLs: [DASHBaseURL]
    public var segments: DASHSegmentLevel
    /// @value of AssetIdentifier, or its scheme.
    public var assetIdentifier: DASHDescriptor?
    public var eventStreams: [DASHEventStream]
    public var supplementalProperties: [DASHDescriptor]
    public var adaptationSets: [DASHAdaptationSet]

    init(_ element: XMLElement, _ parsing: inout DASHParsing) throws(ManifestError) {
        line = element.line
        id = element["id"]
        start = parsing.duration(element, "start")
        duration = parsing.duration(element, "duration")
        remoteReference = element.attribute(named: "href")
        remoteActuation = element.attribute(named: "actuate")
        if remoteReference != nil { parsing.warn("a remote period is not fetched", element) }
        baseURLs = parsing.baseURLs(element)
        segments = try DASHSegmentLevel(element, &parsing)
        assetIdentifier = element.first("AssetIdentifier").map(DASHDescriptor.init)
        eventStreams = []
        for child in element.children("EventStream") { eventStreams.append(DASHEventStream(child, &parsing)) }
        supplementalProperties = parsing.descriptors(element, "SupplementalProperty")
        adaptationSets = []
        for child in element.children("AdaptationSet") {
            try parsing.countAdaptationSet()
            adaptationSets.append(try DASHAdaptationSet(child, &parsing))
        }
    }
}

extension DASHEventStream {
    init(_ element: XMLElement, _ parsing: inout DASHParsing) {
        scheme = element["schemeIdUri"] ?? ""
        value = element["value"]
        timescale = max(parsing.number(element, "timescale") ?? 1, 1)
        presentationTimeOffset = parsing.number(element, "presentationTimeOffset") ?? 0
        events = []
        for child in element.children("Event") {
            let text = child.text.trimmed
            events.append(
                DASHEvent(
                    presentationTime: parsing.number(child, "presentationTime") ?? 0,
                    duration: parsing.number(child, "duration"), id: child["id"],
                    message: child["messageData"] ?? (text.isEmpty ? nil : text)))
        }
    }
}
