import CoreModel
package import Delivery

extension PlayerSettings {
    /// What a session of these settings plays and how.
    package func sessionConfiguration(url: String) -> SessionConfiguration {
        var configuration = SessionConfiguration(url: url)
        configuration.usesPeers = isPDNEnabled
        configuration.trackerURLs = trackers
        configuration.token = token
        configuration.trustedKeys = trustedAuthorities
        configuration.requiredSignatures = requiredSignatures
        configuration.trackerKey = trackerKey
        configuration.streamName = streamName
        configuration.catalogueURL = catalogueURL
        configuration.renditionID = rendition
        configuration.maximumBitsPerSecond = maximumBitsPerSecond
        configuration.isLimitedToDisplay = isLimitedToDisplay
        configuration.contentKeys = contentKeys
        configuration.audioLanguage = audioLanguage
        configuration.uploadBitsPerSecond = uploadBitsPerSecond
        configuration.downloadBitsPerSecond = downloadBitsPerSecond
        configuration.uploadRatio = uploadShare
        configuration.isMetered = isLinkMetered
        configuration.uploadsOnMetered = uploadsOnMeteredLink
        configuration.isLocalOnly = isLANOnly
        configuration.storeByteCount = memoryByteCount
        configuration.diskByteCount = diskByteCount
        configuration.listenAddress = NetworkAddress(ipv4: 0, port: listenPort)
        return configuration
    }
}
