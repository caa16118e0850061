/// AdaptationSet: ISO/IEC 23009-1, section 5.3.3.
public struct DASHAdaptationSet: Sendable {
    /// The line of the element.
    public var line: Int
    public var id: String?
    public var group: String?
    public var language: String?
    public var contentType: String?
    public var selectionPriority: UInt64?
    public var segmentAlignment: String?
    public var bitstreamSwitching: String?
    public var common: DASHCommonAttributes
    public var baseURLs: [DASHBaseURL]
    public var segments: DASHSegmentLevel
    public var roles: [DASHDescriptor]
    public var accessibility: [DASHDescriptor]
    public var viewpoints: [DASHDescriptor]
    public var labels: [String]
    public var representations: [DASHRepresentation]

    init(_ element: XMLElement, _ parsing: inout DASHParsing) throws(ManifestError) {
        line = element.line
        id = element["id"]
        group = element["group"]
        language = element["lang"]
        contentType = element["contentType"]
        selectionPriority = parsing.number(element, "selectionPriority")
        segmentAlignment = element["segmentAlignment"]
        bitstreamSwitching = element["bitstreamSwitching"]
        common = DASHCommonAttributes(element, &parsing)
        baseURLs = parsing.baseURLs(element)
        segments = try DASHSegmentLevel(element, &parsing)
        roles = parsing.descriptors(element, "Role")
        accessibility = parsing.descriptors(element, "Accessibility")
        viewpoints = parsing.descriptors(element, "Viewpoint")
        labels = element.children("Label").map { $0.text.trimmed }
        representations = []
        for child in element.children("Representation") {
            try parsing.countRepresentation()
            representations.append(try DASHRepresentation(child, &parsing))
        }
    }
}
