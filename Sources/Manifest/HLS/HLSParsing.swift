import CoreModel

/// What the parsers of both kinds of playlist share.
struct HLSParsing {
    let url: BaseURL
    var variables: HLSVariables
    var warnings: [ManifestWarning] = []
    /// The line that is being read.
    var line = 0
    private var entryCount = 0
    private var textByteCount = 0

    init(url: BaseURL, variables: [String: String]) {
        self.url = url
        self.variables = HLSVariables(imported: variables, url: url)
    }

    func fault(_ tag: HLSTag, _ problem: String) -> ManifestError {
        .hls(line: line, tag: "#\(tag.rawValue)", problem: problem, section: tag.section)
    }

    mutating func warn(_ message: @autoclosure () -> String) { warnings.warn(message(), line: line) }

    /// Counts a line that the playlist's model keeps.
    mutating func countEntry() throws(ManifestError) { try countEntries(1) }

    /// Counts `count` values that the playlist's model keeps.
    mutating func countEntries(_ count: Int) throws(ManifestError) {
        entryCount += count
        guard entryCount <= ManifestLimits.playlistEntryCount else {
            throw .tooLarge(what: "entries in a playlist", limit: ManifestLimits.playlistEntryCount)
        }
    }

    /// Reads the attributes of `tag` and replaces variables in them.
    mutating func attributes(_ tag: HLSTag, _ value: ArraySlice<UInt8>) throws(ManifestError) -> HLSAttributeList {
        var hasDuplicate = false
        var list: HLSAttributeList
        do throws(HLSAttributeList.Fault) {
            list = try HLSAttributeList(value, hasDuplicate: &hasDuplicate)
        } catch {
            switch error {
            case .unterminatedQuote(let name): throw fault(tag, "the quote of \(name) never closes")
            case .tooManyAttributes: throw fault(tag, "more than \(HLSAttributeList.limit) attributes")
            }
        }
        if hasDuplicate { warn("an attribute occurs twice; the first counts") }
        do throws(HLSVariables.Fault) {
            try list.replaceValues { text throws(HLSVariables.Fault) in try variables.replacing(in: text) }
        } catch {
            throw fault(tag, error.description)
        }
        // Only variables make the values longer than the text that was read.
        if !variables.values.isEmpty { try countText(list.attributes.reduce(0) { $0 + $1.value.utf8.count }) }
        return list
    }

    /// Counts bytes that the playlist's model keeps and its text may not have.
    private mutating func countText(_ byteCount: Int) throws(ManifestError) {
        textByteCount += byteCount
        guard textByteCount <= ManifestLimits.urlTotalByteCount else {
            throw .tooLarge(what: "bytes of resolved references", limit: ManifestLimits.urlTotalByteCount)
        }
    }

    /// Resolves a reference.
    mutating func resolve(_ reference: String) throws(ManifestError) -> String {
        guard reference.utf8.count <= ManifestLimits.urlByteCount else {
            throw .tooLarge(what: "bytes in a reference", limit: ManifestLimits.urlByteCount)
        }
        let resolved = url.resolve(reference)
        try countText(resolved.utf8.count)
        return resolved
    }

    /// Resolves a reference, if there is one.
    mutating func resolve(ifPresent reference: String?) throws(ManifestError) -> String? {
        guard let reference else { return nil }
        return try resolve(reference)
    }

    /// Resolves the reference of a URI line.
    mutating func resolve(_ line: ArraySlice<UInt8>) throws(ManifestError) -> String {
        let reference: String
        do throws(HLSVariables.Fault) {
            reference = try variables.replacing(in: line.text)
        } catch {
            throw .hls(line: self.line, tag: "URI", problem: error.description, section: "4.3")
        }
        return try resolve(reference)
    }

    /// The resolved URI of a tag that must have one.
    mutating func requiredURI(_ tag: HLSTag, _ attributes: HLSAttributeList) throws(ManifestError) -> String {
        guard let uri = attributes["URI"] else { throw fault(tag, "URI is missing") }
        return try resolve(uri)
    }

    /// EXT-X-VERSION; one that is no number is passed over.
    mutating func version(_ value: ArraySlice<UInt8>) -> Int? {
        guard let version = NumberText.unsigned(value.trimmingBlanks), version <= 1_000 else {
            warn("EXT-X-VERSION is no number")
            return nil
        }
        return Int(version)
    }

    /// EXT-X-START; one without an offset is passed over.
    mutating func start(_ value: ArraySlice<UInt8>) throws(ManifestError) -> HLSStart? {
        let attributes = try attributes(.start, value)
        guard let offset = attributes["TIME-OFFSET"]?.decimalNumber else {
            warn("EXT-X-START without TIME-OFFSET")
            return nil
        }
        return HLSStart(timeOffset: offset, isPrecise: attributes.isYes("PRECISE"))
    }

    mutating func define(_ value: ArraySlice<UInt8>) throws(ManifestError) -> HLSDefine {
        var hasDuplicate = false
        // The value of a variable is taken as it is: section 4.3 replaces in other tags only.
        let attributes: HLSAttributeList
        do throws(HLSAttributeList.Fault) {
            attributes = try HLSAttributeList(value, hasDuplicate: &hasDuplicate)
        } catch {
            throw fault(.define, "unreadable attributes")
        }
        do throws(HLSVariables.Fault) {
            try variables.define(attributes)
        } catch {
            throw fault(.define, error.description)
        }
        return HLSDefine(attributes: attributes)
    }

    /// Reads a key; `nil` for METHOD=NONE.
    mutating func key(_ tag: HLSTag, _ value: ArraySlice<UInt8>) throws(ManifestError) -> HLSKey? {
        let attributes = try attributes(tag, value)
        guard let method = attributes["METHOD"] else { throw fault(tag, "METHOD is missing") }
        if method == "NONE" { return nil }
        guard let uri = attributes["URI"] else { throw fault(tag, "URI is missing, METHOD is \(method)") }
        let text = attributes["IV"]
        let vector = text.flatMap(HLSKey.vector)
        if text != nil, vector == nil { throw fault(tag, "IV is no hexadecimal number of up to 128 bits") }
        return HLSKey(
            method: method, uri: try resolve(uri), initializationVectorText: text, initializationVector: vector,
            keyFormat: attributes["KEYFORMAT"] ?? "identity", keyFormatVersions: attributes["KEYFORMATVERSIONS"],
            keyID: attributes["KEYID"].flatMap(HLSKey.vector).flatMap { Bytes16($0) })
    }
}
