/// Representation: ISO/IEC 23009-1, section 5.3.5.
public struct DASHRepresentation: Sendable {
    /// The line of the element.
    public var line: Int
    public var id: String?
    public var bandwidth: UInt64?
    public var qualityRanking: UInt64?
    public var dependencyID: String?
    public var associationID: String?
    public var associationType: String?
    public var mediaStreamStructureID: String?
    public var common: DASHCommonAttributes
    public var baseURLs: [DASHBaseURL]
    public var segments: DASHSegmentLevel

    init(_ element: XMLElement, _ parsing: inout DASHParsing) throws(ManifestError) {
        line = element.line
        id = element["id"]
        bandwidth = parsing.number(element, "bandwidth")
        qualityRanking = parsing.number(element, "qualityRanking")
        dependencyID = element["dependencyId"]
        associationID = element["associationId"]
        associationType = element["associationType"]
        mediaStreamStructureID = element["mediaStreamStructureId"]
        common = DASHCommonAttributes(element, &parsing)
        baseURLs = parsing.baseURLs(element)
        segments = try DASHSegmentLevel(element, &parsing)
    }
}
