import CoreModel
import Delivery
import Foundation
import Testing
@testable import VBPlayer

struct SettingsTests {
    private static let key = String(repeating: "ab", count: 32)

    @Test func defaultsAreRightForAViewerAtHome() throws {
        let settings = try PlayerSettings(dictionary: [:])
        #expect(settings == PlayerSettings())
        #expect(!settings.isPDNEnabled && settings.trackers.isEmpty && settings.uploadShare == 2)
        #expect(!settings.uploadsOnMeteredLink && !settings.isLANOnly && settings.listenPort == 0)
        let configuration = settings.sessionConfiguration(url: "https://host/a.mpd")
        #expect(!configuration.usesPeers && configuration.url == "https://host/a.mpd")
    }

    @Test func everyKeyReachesTheSession() throws {
        let settings = try PlayerSettings(dictionary: [
            VBEnablePDNKey: true, VBTrackerURLsKey: ["wss://tracker/a", "udp://tracker:80"], VBViewerTokenKey: "abc-_1",
            VBTrustedAuthorityKeysKey: [Self.key], VBRequiredSignaturesKey: 2, VBTrackerPublicKeyKey: Self.key,
            VBStreamNameKey: "news", VBCatalogueURLKey: "https://host/c.pdn", VBRenditionKey: "video-1",
            VBAudioLanguageKey: "pt-BR", VBUploadCapKey: 1_000_000, VBUploadShareKey: 1.5,
            VBDownloadCapKey: 2_000_000.0,
            VBMeteredLinkKey: true, VBUploadOnMeteredLinkKey: true, VBMemoryLimitKey: 64 << 20, VBDiskLimitKey: 1 << 30,
            VBLANOnlyKey: true, VBListenPortKey: 4000, VBLogLevelsKey: ["tracker": "debug"],
        ])
        let session = settings.sessionConfiguration(url: "u")
        #expect(session.usesPeers && session.trackerURLs.count == 2 && session.token == "abc-_1")
        #expect(session.trustedKeys.map(\.description) == [Self.key] && session.requiredSignatures == 2)
        #expect(session.trackerKey?.description == Self.key && session.streamName == "news")
        #expect(session.catalogueURL == "https://host/c.pdn" && session.renditionID == "video-1")
        #expect(session.audioLanguage == "pt-BR" && session.uploadBitsPerSecond == 1_000_000)
        #expect(session.uploadRatio == 1.5 && session.downloadBitsPerSecond == 2_000_000)
        #expect(session.isMetered && session.uploadsOnMetered && session.isLocalOnly)
        #expect(session.storeByteCount == 64 << 20 && session.listenAddress.port == 4000)
        #expect(session.diskByteCount == 1 << 30 && session.diskFolder == nil)
        #expect(settings.logLevels == [.tracker: .debug])
    }

    @Test func numbersOfEveryTypeAreTaken() throws {
        for value: Any in [7, Int8(7), UInt64(7), 7.0, Float(7), NSNumber(value: 7)] {
            #expect(try PlayerSettings(dictionary: [VBListenPortKey: value]).listenPort == 7, "\(type(of: value))")
        }
        for value: Any in [1, 1.0, Float(1), CGFloat(1), UInt8(1), NSNumber(value: 1)] {
            #expect(try PlayerSettings(dictionary: [VBUploadShareKey: value]).uploadShare == 1, "\(type(of: value))")
            #expect(try PlayerSettings(dictionary: [VBRequiredSignaturesKey: value]).requiredSignatures == 1)
        }
        #expect(try PlayerSettings(dictionary: [VBLANOnlyKey: NSNumber(value: true)]).isLANOnly)
        for value: Any in [true, NSNumber(value: true)] {
            #expect(throws: PlayerError.self) { try PlayerSettings(dictionary: [VBRequiredSignaturesKey: value]) }
        }
        for value: Any in [Double.nan, Double.infinity, UInt64.max, 1e300, -Float.infinity] {
            #expect(throws: PlayerError.self) { try PlayerSettings(dictionary: [VBListenPortKey: value]) }
        }
    }

    @Test func aKeyThatIsNoTextIsNamed() {
        let error = #expect(throws: PlayerError.self) { try PlayerSettings(dictionary: [AnyHashable(42): true]) }
        #expect(error?.code == .unknownSetting && error?.fact.contains("42") ?? false)
    }

    /// Each setting refuses what no setting can be, and names itself.
    @Test(arguments: SettingDefinition.all.map(\.name)) func everySettingRefusesForeignTypes(_ name: String) throws {
        let definition = try #require(SettingDefinition.named(name))
        for value: Any in [Date(), [1: 2], NSNull(), Data(), Optional<Int>.none as Any] {
            let error = #expect(throws: PlayerError.self) { try PlayerSettings(dictionary: [name: value]) }
            #expect(error?.code == .wrongSettingType)
            #expect(error?.fact.contains(definition.constant) ?? false && error?.fact.contains(name) ?? false)
        }
    }

    @Test func logLevelsChooseDomains() {
        #expect(SessionLog(levels: [:]).handler == nil && SessionLog(levels: [.peers: .off]).handler == nil)
        #expect(SessionLog(levels: [.network: .info]).handler != nil)
        #expect(SessionLog.domain("cdn") == .network && SessionLog.domain("peers") == .peers)
        #expect(SessionLog.domain("anything else") == .delivery)
    }

    struct Fault: CustomTestStringConvertible, @unchecked Sendable {  // `value` is a constant.
        var key: String
        var value: Any
        var code: VBErrorCode
        var testDescription: String { "\(key) = \(value)" }
    }

    static let faults: [Fault] = [
        Fault(key: VBEnablePDNKey, value: "yes", code: .wrongSettingType),
        Fault(key: VBEnablePDNKey, value: 1, code: .wrongSettingType),
        Fault(key: VBTrackerURLsKey, value: "wss://tracker", code: .wrongSettingType),
        Fault(key: VBTrackerURLsKey, value: ["ftp://tracker"], code: .wrongSettingValue),
        Fault(key: VBTrackerURLsKey, value: ["wss://"], code: .wrongSettingValue),
        Fault(key: VBTrackerURLsKey, value: Array(repeating: "wss://t", count: 9), code: .wrongSettingValue),
        Fault(key: VBViewerTokenKey, value: "no spaces", code: .wrongSettingValue),
        Fault(key: VBTrustedAuthorityKeysKey, value: ["abc"], code: .wrongSettingValue),
        Fault(key: VBRequiredSignaturesKey, value: 0, code: .wrongSettingValue),
        Fault(key: VBTrackerPublicKeyKey, value: 5, code: .wrongSettingType),
        Fault(key: VBStreamNameKey, value: "", code: .wrongSettingValue),
        Fault(key: VBCatalogueURLKey, value: "file:///etc", code: .wrongSettingValue),
        Fault(key: VBAudioLanguageKey, value: "a b", code: .wrongSettingValue),
        Fault(key: VBUploadCapKey, value: -1, code: .wrongSettingValue),
        Fault(key: VBUploadCapKey, value: 1.5, code: .wrongSettingType),
        Fault(key: VBUploadShareKey, value: Double.nan, code: .wrongSettingValue),
        Fault(key: VBDownloadCapKey, value: true, code: .wrongSettingType),
        Fault(key: VBMemoryLimitKey, value: 1, code: .wrongSettingValue),
        Fault(key: VBListenPortKey, value: 65_536, code: .wrongSettingValue),
        Fault(key: VBLogLevelsKey, value: ["nothing": "debug"], code: .wrongSettingValue),
        Fault(key: VBLogLevelsKey, value: ["peers": "loud"], code: .wrongSettingValue),
        Fault(key: "VBEnablePDN", value: true, code: .unknownSetting),
    ]

    @Test(arguments: faults) func aWrongSettingNamesItsKey(_ fault: Fault) {
        let error = #expect(throws: PlayerError.self) { try PlayerSettings(dictionary: [fault.key: fault.value]) }
        #expect(error?.code == fault.code)
        #expect(error?.fact.contains(fault.key) ?? false)
    }

    @Test func everyDefinitionHasAKeyOfItsOwn() {
        #expect(Set(SettingDefinition.all.map(\.name)).count == SettingDefinition.all.count)
        #expect(Set(SettingDefinition.all.map(\.constant)).count == SettingDefinition.all.count)
    }

    // MARK: - Arguments

    @Test func aLineHoldsAddressAndSettings() throws {
        let line = try ArgumentLine(
            "cdn=https://h/a.mpd?x=1 enable-pdn=true tracker=wss://a tracker='wss://b' upload-cap=5Mbps memory-limit=64MiB"
                + " stream=\"my \\\"stream\\\"\" log=peers=debug log=engine=error")
        #expect(line.address.text == "https://h/a.mpd?x=1" && !line.address.assumesScheme)
        #expect(line.settings.isPDNEnabled && line.settings.trackers == ["wss://a", "wss://b"])
        #expect(line.settings.uploadBitsPerSecond == 5_000_000 && line.settings.memoryByteCount == 64 << 20)
        #expect(line.settings.streamName == "my \"stream\"")
        #expect(line.settings.logLevels == [.peers: .debug, .engine: .error])
    }

    @Test func quoting() throws {
        #expect(
            try ArgumentLine.words(of: "  a=1\t b='x y'  c=\"p q\"z d=a\\ b e= f=''") == [
                "a=1", "b=x y", "c=p qz", "d=a b", "e=", "f=",
            ])
        #expect(try ArgumentLine.words(of: "p=\"C:\\dir\\\\\"") == ["p=C:\\dir\\"])
    }

    @Test(arguments: [
        ("enable-pdn=true", "cdn", VBErrorCode.wrongAddress), ("cdn=", "cdn", .wrongAddress),
        ("cdn=ftp://h", "cdn", .wrongAddress), ("cdn=https://h speed=3", "speed", .unknownSetting),
        ("cdn=https://h enable-pdn", "enable-pdn", .malformedArguments),
        ("cdn=https://h enable-pdn=maybe", "enable-pdn", .wrongSettingValue),
        ("cdn=https://h stream='open", "stream", .malformedArguments),
        ("cdn=https://h cdn=https://i", "cdn", .malformedArguments),
        ("cdn=https://h lan-only=on lan-only=off", "lan-only", .malformedArguments),
        ("cdn=https://h upload-cap=5Mb", "upload-cap", .wrongSettingValue),
        ("cdn=https://h log=peers", "log", .wrongSettingValue), ("cdn=https://h =x", "=x", .malformedArguments),
    ])
    func aWrongArgumentIsNamed(_ line: String, _ name: String, _ code: VBErrorCode) {
        let error = #expect(throws: PlayerError.self) { try ArgumentLine(line) }
        #expect(error?.code == code)
        #expect(error?.fact.contains(name) ?? false, "\(error?.fact ?? "")")
    }

    @Test func addressesWithoutASchemeAreHTTPSFirst() throws {
        let bare = try WebAddress(" www.mycdn.com/manifest.mpd\n")
        #expect(bare.text == "https://www.mycdn.com/manifest.mpd" && bare.assumesScheme)
        #expect(bare.sessionURL == "www.mycdn.com/manifest.mpd")
        #expect(try WebAddress("host:8080/a").text == "https://host:8080/a")
        #expect(try WebAddress("//host/a").sessionURL == "host/a")
        #expect(try WebAddress("http://[::1]:80/a").sessionURL == "http://[::1]:80/a")
        for wrong in [
            "", " ", "https://", "http:///path", "host:99999/a", "a b/c", "file:///etc/passwd", "https://[::1",
        ] {
            #expect(throws: PlayerError.self) { try WebAddress(wrong) }
        }
    }

    // MARK: - Errors

    @Test func codesAreStable() {
        let codes = VBErrorCode.allCases.map(\.rawValue)
        #expect(
            codes == [
                100, 101, 102, 103, 104, 200, 201, 202, 203, 204, 205, 206, 207, 300, 301, 302, 303, 400, 401, 402, 403,
                500,
                600,
                900,
            ])
    }

    @Test func anErrorSaysWhatToDo() {
        struct Cause: Error {}
        let error = PlayerError(.notFound, "The manifest is gone.", underlying: Cause()).nsError
        #expect(error.domain == VBErrorDomain && error.code == 204)
        #expect(error.localizedDescription == "The manifest is gone. Check the address.")
        #expect(error.userInfo[NSUnderlyingErrorKey] is Cause)
    }

    @Test func aTokenIsNotRepeatedInFull() {
        let secret = String(repeating: "x", count: 500) + " "
        let error = #expect(throws: PlayerError.self) { try PlayerSettings(dictionary: [VBViewerTokenKey: secret]) }
        #expect((error?.fact.count ?? 1000) < 200)
    }
}
