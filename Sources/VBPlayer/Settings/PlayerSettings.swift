package import CoreModel
package import Cryptography

/// Every setting of a player, checked. The defaults are right for a viewer at home.
package struct PlayerSettings: Hashable, Sendable {
    /// ``VBEnablePDNKey``.
    package var isPDNEnabled = false
    /// ``VBTrackerURLsKey``.
    package var trackers: [String] = []
    /// ``VBViewerTokenKey``.
    package var token: String?
    /// ``VBTrustedAuthorityKeysKey``.
    package var trustedAuthorities: [VerificationKey] = []
    /// ``VBRequiredSignaturesKey``.
    package var requiredSignatures = 1
    /// ``VBTrackerPublicKeyKey``.
    package var trackerKey: VerificationKey?
    /// ``VBStreamNameKey``.
    package var streamName: String?
    /// ``VBCatalogueURLKey``.
    package var catalogueURL: String?
    /// ``VBRenditionKey``.
    package var rendition: String?
    /// ``VBMaximumBitrateKey``, bits per second.
    package var maximumBitsPerSecond: Int?
    /// ``VBLimitQualityToDisplayKey``.
    package var isLimitedToDisplay = true
    /// ``VBContentKeysKey``.
    package var contentKeys: [Bytes16: ContentKey] = [:]
    /// ``VBAudioLanguageKey``.
    package var audioLanguage: String?
    /// ``VBUploadCapKey``, bits per second.
    package var uploadBitsPerSecond: Int?
    /// ``VBUploadShareKey``.
    package var uploadShare = 2.0
    /// ``VBDownloadCapKey``, bits per second.
    package var downloadBitsPerSecond: Int?
    /// ``VBMeteredLinkKey``.
    package var isLinkMetered = false
    /// ``VBUploadOnMeteredLinkKey``.
    package var uploadsOnMeteredLink = false
    /// ``VBMemoryLimitKey``.
    package var memoryByteCount = 128 << 20
    /// ``VBDiskLimitKey``.
    package var diskByteCount = 512 << 20
    /// ``VBLANOnlyKey``.
    package var isLANOnly = false
    /// ``VBListenPortKey``.
    package var listenPort: UInt16 = 0
    /// ``VBLogLevelsKey``.
    package var logLevels: [VBLogDomain: VBLogLevel] = [:]

    /// Makes the defaults.
    package init() {}
}
