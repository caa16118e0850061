/// The segment information of one level: at most one element of each kind.
public struct DASHSegmentLevel: Hashable, Sendable {
    /// The elements. Most levels have none, so that an array costs least.
    private var elements: [DASHSegmentInformation] = []

    public var base: DASHSegmentInformation? { elements.first { $0.kind == .base } }
    public var list: DASHSegmentInformation? { elements.first { $0.kind == .list } }
    public var template: DASHSegmentInformation? { elements.first { $0.kind == .template } }

    init(_ element: XMLElement, _ parsing: inout DASHParsing) throws(ManifestError) {
        if let child = element.first("SegmentBase") { elements.append(try .init(child, kind: .base, &parsing)) }
        if let child = element.first("SegmentList") { elements.append(try .init(child, kind: .list, &parsing)) }
        if let child = element.first("SegmentTemplate") {
            elements.append(try .init(child, kind: .template, &parsing))
        }
    }

    /// This level, inheriting element by element from the level above. A level that has an element of its own decides
    /// for it; otherwise the level above does.
    func inheriting(_ outer: DASHSegmentLevel) -> DASHSegmentLevel {
        if elements.isEmpty { return outer }
        var level = self
        level.elements = elements.map { element in
            element.inheriting(outer.elements.first { $0.kind == element.kind })
        }
        return level
    }

    /// The element that says where the segments are.
    var deciding: DASHSegmentInformation? { template ?? list ?? base }
}
