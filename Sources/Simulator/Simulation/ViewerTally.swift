internal import CoreModel

/// One viewer's counters.
///
/// The names are those of `ViewerFigures`, which reports of real viewers use, so that the two can be laid side by side. That
/// type is not used here: it belongs to the module with sockets and timers, which a simulation does without, and a real
/// viewer can't know half of what is counted here.
struct ViewerTally {
    var startup: Duration?
    var stalls = 0
    var stallTime = Duration.zero
    var played = Duration.zero
    var online = Duration.zero
    var latency: Duration?
    var segments = 0
    /// Media that was handed to the player, each moment counted once.
    var deliveredSeconds = 0.0
    /// The same by rendition; empty where there is one.
    var rungSeconds: [Double] = []
    /// Of the segment that was handed over last.
    var lastRung: Int?
    /// Segments in another rendition than the one before.
    var switches = 0
    /// Segments that were given up for a lower rendition.
    var abandoned = 0
    var bytesCDN = 0
    var bytesManifest = 0
    var bytesCatalogue = 0
    var bytesPeers = 0
    var bytesStore = 0
    var bytesUploaded = 0
    var bytesWasted = 0
    var bytesDelivered = 0
    /// Everything that went to peers, on the wire without TCP's headers; of chunks only the stand-ins.
    var bytesSent: UInt64 = 0
    var cdnStartup = 0
    var cdnElected = 0
    var cdnHandover = 0
    var requestsCDN = 0
    var requestsManifest = 0
    var requestsCatalogue = 0
    var requestsPeers = 0
    var requestsRejected = 0
    var requestsTimedOut = 0
    var requestsCancelled = 0
    var messagesSent = 0
    var messagesReceived = 0
    var chunksVerified = 0
    var chunksRejected = 0
    var peersBanned = 0
    var peersConnected = 0
    var trackerRefusals = 0
    /// Elections that it won.
    var claims = 0
    /// Has had a link to another viewer.
    var hasMet = false
    var hasFinished = false
    var hasFailed = false

    /// Bits a second of what was handed to the player, over the time that it plays.
    var meanBitrate: Double? { deliveredSeconds > 0 ? Double(bytesDelivered) * 8 / deliveredSeconds : nil }
}
