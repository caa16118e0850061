import CoreModel

/// Reads attributes of an MPD with their types; what isn't of the type is passed over with a warning, as other players
/// do, unless the reader says otherwise.
struct DASHParsing {
    let url: BaseURL
    var warnings: [ManifestWarning]
    private var adaptationSetCount = 0
    private var representationCount = 0

    init(url: BaseURL, warnings: [ManifestWarning]) {
        self.url = url
        self.warnings = warnings
    }

    /// Counts an adaptation set.
    mutating func countAdaptationSet() throws(ManifestError) {
        adaptationSetCount += 1
        guard adaptationSetCount <= ManifestLimits.adaptationSetCount else {
            throw .tooLarge(what: "adaptation sets", limit: ManifestLimits.adaptationSetCount)
        }
    }

    /// Counts a representation.
    mutating func countRepresentation() throws(ManifestError) {
        representationCount += 1
        guard representationCount <= ManifestLimits.representationCount else {
            throw .tooLarge(what: "representations", limit: ManifestLimits.representationCount)
        }
    }

    mutating func warn(_ message: @autoclosure () -> String, _ element: XMLElement) {
        warnings.warn("\(element.name): \(message())", line: element.line)
    }

    func fault(_ element: XMLElement, _ problem: String, section: String) -> ManifestError {
        .dash(line: element.line, element: element.name, problem: problem, section: section)
    }

    /// An attribute that is a decimal integer without sign.
    mutating func number(_ element: XMLElement, _ name: String) -> UInt64? {
        guard let text = element[name] else { return nil }
        if let value = text.trimmed.unsignedNumber { return value }
        // "2000000.0" is in the field; a fraction of zero loses nothing.
        if let decimal = text.trimmed.decimalNumber, decimal.timescale == 1, decimal.ticks >= 0 {
            return UInt64(decimal.ticks)
        }
        warn("@\(name) is no number from 0 to 2^64 - 1; it is left out", element)
        return nil
    }

    /// An attribute that is a decimal integer, of at most 63 bits.
    mutating func signedNumber(_ element: XMLElement, _ name: String) -> Int64? {
        guard let text = element[name] else { return nil }
        if let value = NumberText.signed(text.utf8) { return value }
        warn("@\(name) is no 64-bit number; it is left out", element)
        return nil
    }

    /// An attribute that is a duration.
    mutating func duration(_ element: XMLElement, _ name: String) -> MediaTime? {
        guard let text = element[name] else { return nil }
        if let value = DurationText.parse(text) { return value }
        warn("@\(name) is no duration; it is left out", element)
        return nil
    }

    /// An attribute that is a date.
    mutating func date(_ element: XMLElement, _ name: String) -> DASHDate? {
        guard let text = element[name] else { return nil }
        let date = DASHDate(text: text, time: DateText.parse(text))
        if date.time == nil { warn("@\(name) is no date", element) }
        return date
    }

    /// An attribute that is a byte range, both ends inclusive.
    mutating func range(_ element: XMLElement, _ name: String) -> Range<UInt64>? {
        guard let text = element[name] else { return nil }
        let ends = text.trimmed.utf8.split(separator: ASCII.minus, omittingEmptySubsequences: false)
        if ends.count == 2, let first = NumberText.unsigned(ends[0]), let last = NumberText.unsigned(ends[1]),
            first <= last, last < UInt64(Int64.max)
        {
            return first..<(last + 1)
        }
        warn("@\(name) is no byte range; it is left out", element)
        return nil
    }

    func descriptors(_ element: XMLElement, _ name: String) -> [DASHDescriptor] {
        element.children(name).map(DASHDescriptor.init)
    }

    /// The BaseURL elements of `element`.
    mutating func baseURLs(_ element: XMLElement) -> [DASHBaseURL] {
        var urls: [DASHBaseURL] = []
        for child in element.children("BaseURL") {
            urls.append(
                DASHBaseURL(
                    text: child.text.trimmed, serviceLocation: child["serviceLocation"], byteRange: child["byteRange"],
                    availabilityTimeOffset: child["availabilityTimeOffset"],
                    availabilityTimeComplete: child["availabilityTimeComplete"].map { $0 == "true" || $0 == "1" },
                    timeShiftBufferDepth: duration(child, "timeShiftBufferDepth"),
                    priority: child.attribute(named: "priority")?.unsignedNumber,
                    weight: child.attribute(named: "weight")?.unsignedNumber))
        }
        return urls
    }
}
