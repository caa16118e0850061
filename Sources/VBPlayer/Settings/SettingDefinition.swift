import CoreModel
import Cryptography
import Foundation

/// One row of the table of settings: how a value from a caller's dictionary or from text is checked and stored.
struct SettingDefinition: Sendable {
    /// What a value is, with what it may be.
    enum Kind: Sendable {
        /// Yes or no; as text `true`, `false`, `on`, `off`, `yes`, `no`, `1` or `0`.
        case flag(@Sendable (inout PlayerSettings, Bool) -> Void)
        /// A whole number in a range; text may carry a unit.
        case integer(ClosedRange<Int>, Quantity, @Sendable (inout PlayerSettings, Int) -> Void)
        /// A number in a range.
        case number(ClosedRange<Double>, @Sendable (inout PlayerSettings, Double) -> Void)
        /// Text; false when it doesn't spell what it should.
        case text(String, @Sendable (inout PlayerSettings, String) -> Bool)
        /// A list of texts of at most so many; as an argument it is repeated. False as for `text`.
        case list(Int, String, @Sendable (inout PlayerSettings, String) -> Bool)
        /// Names with levels; as an argument `NAME=LEVEL`, repeated.
        case levels
    }

    /// The name of the key's constant.
    var constant: String
    /// The key's value, and the argument's name.
    var name: String
    /// What a value is.
    var kind: Kind

    init(_ constant: String, _ name: String, _ kind: Kind) {
        self.constant = constant
        self.name = name
        self.kind = kind
    }

    /// Whether an argument of the name may come again.
    var isRepeatable: Bool {
        switch kind {
        case .list, .levels: true
        case .flag, .integer, .number, .text: false
        }
    }

    /// Every setting.
    static let all: [SettingDefinition] = [
        SettingDefinition("VBEnablePDNKey", VBEnablePDNKey, .flag { $0.isPDNEnabled = $1 }),
        SettingDefinition(
            "VBTrackerURLsKey", VBTrackerURLsKey,
            .list(8, "an http, https, ws, wss or udp address") { settings, text in
                guard WebAddress.isWellFormed(text, schemes: ["http", "https", "ws", "wss", "udp"]) else {
                    return false
                }
                settings.trackers.append(text)
                return true
            }),
        SettingDefinition(
            "VBViewerTokenKey", VBViewerTokenKey,
            .text("base64url text of at most 512 characters") { settings, text in
                guard (1...512).contains(text.utf8.count), text.utf8.allSatisfy(isBase64URL) else { return false }
                settings.token = text
                return true
            }),
        SettingDefinition(
            "VBTrustedAuthorityKeysKey", VBTrustedAuthorityKeysKey,
            .list(8, "a public key of 64 hexadecimal digits") { settings, text in
                guard let key = VerificationKey(hexadecimal: text) else { return false }
                settings.trustedAuthorities.append(key)
                return true
            }),
        SettingDefinition(
            "VBRequiredSignaturesKey", VBRequiredSignaturesKey, .integer(1...8, .plain) { $0.requiredSignatures = $1 }),
        SettingDefinition(
            "VBTrackerPublicKeyKey", VBTrackerPublicKeyKey,
            .text("a public key of 64 hexadecimal digits") { settings, text in
                guard let key = VerificationKey(hexadecimal: text) else { return false }
                settings.trackerKey = key
                return true
            }),
        SettingDefinition("VBStreamNameKey", VBStreamNameKey, shortText { $0.streamName = $1 }),
        SettingDefinition(
            "VBCatalogueURLKey", VBCatalogueURLKey,
            .text("an http or https address") { settings, text in
                guard WebAddress.isWellFormed(text, schemes: ["http", "https"]) else { return false }
                settings.catalogueURL = text
                return true
            }),
        SettingDefinition("VBRenditionKey", VBRenditionKey, shortText { $0.rendition = $1 }),
        SettingDefinition(
            "VBMaximumBitrateKey", VBMaximumBitrateKey,
            .integer(1...100_000_000_000, .rate) { $0.maximumBitsPerSecond = $1 }),
        SettingDefinition(
            "VBLimitQualityToDisplayKey", VBLimitQualityToDisplayKey, .flag { $0.isLimitedToDisplay = $1 }),
        SettingDefinition(
            "VBContentKeysKey", VBContentKeysKey,
            .list(contentKeyLimit, "KEY-ID:KEY, 32 hexadecimal digits each, at most \(contentKeyLimit) of them") {
                settings, text in
                let parts = text.split(separator: ":", omittingEmptySubsequences: false)
                let bytes = parts.compactMap { Hexadecimal.decode($0.filter { $0 != "-" }) }
                guard bytes.count == 2, parts.count == 2, let id = Bytes16(bytes[0]), bytes[1].count == 16 else {
                    return false
                }
                settings.contentKeys[id] = ContentKey(bytes[1])
                return settings.contentKeys.count <= contentKeyLimit
            }),
        SettingDefinition(
            "VBAudioLanguageKey", VBAudioLanguageKey,
            .text("a language tag such as de or pt-BR") { settings, text in
                guard isLanguageTag(text) else { return false }
                settings.audioLanguage = text
                return true
            }),
        SettingDefinition(
            "VBUploadCapKey", VBUploadCapKey, .integer(0...100_000_000_000, .rate) { $0.uploadBitsPerSecond = $1 }),
        SettingDefinition("VBUploadShareKey", VBUploadShareKey, .number(0...100) { $0.uploadShare = $1 }),
        SettingDefinition(
            "VBDownloadCapKey", VBDownloadCapKey,
            .integer(64_000...100_000_000_000, .rate) { $0.downloadBitsPerSecond = $1 }),
        SettingDefinition("VBMeteredLinkKey", VBMeteredLinkKey, .flag { $0.isLinkMetered = $1 }),
        SettingDefinition("VBUploadOnMeteredLinkKey", VBUploadOnMeteredLinkKey, .flag { $0.uploadsOnMeteredLink = $1 }),
        SettingDefinition(
            "VBMemoryLimitKey", VBMemoryLimitKey, .integer((8 << 20)...(64 << 30), .size) { $0.memoryByteCount = $1 }),
        SettingDefinition(
            "VBDiskLimitKey", VBDiskLimitKey, .integer(0...(16 << 40), .size) { $0.diskByteCount = $1 }),
        SettingDefinition("VBLANOnlyKey", VBLANOnlyKey, .flag { $0.isLANOnly = $1 }),
        SettingDefinition(
            "VBListenPortKey", VBListenPortKey, .integer(0...65_535, .plain) { $0.listenPort = UInt16(clamping: $1) }),
        SettingDefinition("VBLogLevelsKey", VBLogLevelsKey, .levels),
    ]

    private static let contentKeyLimit = 64

    /// Whether its values are never repeated, not even to the one who gave them: messages end up in logs.
    private var isSecret: Bool { name == VBContentKeysKey }

    /// The setting of a name; `nil` when there is none.
    static func named(_ name: some StringProtocol) -> SettingDefinition? { all.first { $0.name == name } }

    private static func shortText(_ store: @escaping @Sendable (inout PlayerSettings, String) -> Void) -> Kind {
        .text("text of 1 to 256 bytes") { settings, text in
            guard (1...256).contains(text.utf8.count) else { return false }
            store(&settings, text)
            return true
        }
    }

    /// Whether `text` has the form of a language tag (BCP 47 allows 35 characters in all).
    static func isLanguageTag(_ text: String) -> Bool {
        (1...35).contains(text.utf8.count) && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "=")
    }
}

extension SettingDefinition {
    /// Stores a value of a caller's dictionary.
    func store(_ value: Any, in settings: inout PlayerSettings) throws(PlayerError) {
        switch kind {
        case .flag(let store):
            guard let flag = value as? Bool else { throw wrongType("a Bool") }
            store(&settings, flag)
        case .integer(let range, _, let store):
            guard !isBool(value), let number = integer(value) else { throw wrongType("a whole number") }
            guard range.contains(number) else {
                throw wrongValue("\(number)", "\(range.lowerBound) to \(range.upperBound)")
            }
            store(&settings, number)
        case .number(let range, let store):
            guard !isBool(value), let number = number(value) else {
                throw wrongType("a number")
            }
            guard range.contains(number) else {
                throw wrongValue("\(number)", "\(range.lowerBound) to \(range.upperBound)")
            }
            store(&settings, number)
        case .text(let meaning, let store):
            guard let text = value as? String else { throw wrongType("a String") }
            guard store(&settings, text) else { throw wrongValue(text, meaning) }
        case .list(let maximum, let meaning, let store):
            guard let texts = value as? [String] else { throw wrongType("a list of String") }
            guard texts.count <= maximum else { throw wrongValue("\(texts.count) entries", "at most \(maximum)") }
            for text in texts where !store(&settings, text) { throw wrongValue(text, meaning) }
        case .levels:
            guard let levels = value as? [String: String] else { throw wrongType("a dictionary of String to String") }
            for (domain, level) in levels.sorted(by: { $0.key < $1.key }) {
                try storeLevel(domain: domain, level: level, in: &settings)
            }
        }
    }

    /// Stores the text of an argument; a repeatable one is added to what is there.
    func store(text: String, in settings: inout PlayerSettings) throws(PlayerError) {
        switch kind {
        case .flag(let store):
            switch text.lowercased() {
            case "true", "on", "yes", "1": store(&settings, true)
            case "false", "off", "no", "0": store(&settings, false)
            default: throw wrongValue(text, "true or false")
            }
        case .integer(let range, let quantity, let store):
            guard let number = quantity.parse(text), range.contains(number) else {
                throw wrongValue(text, "\(range.lowerBound) to \(range.upperBound)\(quantity.unit)")
            }
            store(&settings, number)
        case .number(let range, let store):
            guard let number = Double(text), range.contains(number) else {
                throw wrongValue(text, "\(range.lowerBound) to \(range.upperBound)")
            }
            store(&settings, number)
        case .text(let meaning, let store):
            guard store(&settings, text) else { throw wrongValue(text, meaning) }
        case .list(let maximum, let meaning, let store):
            guard store(&settings, text) else { throw wrongValue(text, meaning) }
            // The lists of the table are those of trackers and authorities.
            guard settings.trackers.count <= maximum, settings.trustedAuthorities.count <= maximum else {
                throw wrongValue("more entries", "at most \(maximum)")
            }
        case .levels:
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { throw wrongValue(text, "DOMAIN=LEVEL") }
            try storeLevel(domain: String(parts[0]), level: String(parts[1]), in: &settings)
        }
    }

    private func storeLevel(domain: String, level: String, in settings: inout PlayerSettings) throws(PlayerError) {
        guard let domain = VBLogDomain(rawValue: domain) else {
            throw wrongValue(domain, "one of \(VBLogDomain.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard let level = VBLogLevel(rawValue: level) else {
            throw wrongValue(level, "one of \(VBLogLevel.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        settings.logLevels[domain] = level
    }

    /// Whether it is a Bool, and no number that would do as one.
    private func isBool(_ value: Any) -> Bool {
        // Every NSNumber casts to Bool that is 0 or 1; the two that are truth values exist once each.
        guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else { return value is Bool }
        return number === NSNumber(value: true) || number === NSNumber(value: false)
    }

    /// A number out of any numeric type.
    private func number(_ value: Any) -> Double? {
        if let number = value as? any BinaryFloatingPoint { return Double(number) }
        return integer(value).map(Double.init) ?? value as? Double
    }

    /// A whole number out of any numeric type that holds one exactly.
    private func integer(_ value: Any) -> Int? {
        if let number = value as? Int { return number }
        if let number = value as? any BinaryInteger { return Int(exactly: number) }
        if let number = value as? any BinaryFloatingPoint { return Int(exactly: Double(number)) }
        return nil
    }

    private func wrongType(_ expected: String) -> PlayerError {
        PlayerError(.wrongSettingType, "The setting \(constant) (\(name)) must be \(expected).")
    }

    private func wrongValue(_ text: String, _ expected: String) -> PlayerError {
        guard !isSecret else {
            return PlayerError(.wrongSettingValue, "The setting \(constant) (\(name)) must be \(expected).")
        }
        // A token or key in the wrong place isn't repeated in full.
        let shown = text.count > 40 ? text.prefix(40) + "…" : text[...]
        return PlayerError(
            .wrongSettingValue, "The setting \(constant) (\(name)) must be \(expected), not \"\(shown)\".")
    }
}
