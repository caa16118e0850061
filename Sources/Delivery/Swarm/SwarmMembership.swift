import CoreModel
import Cryptography
import EventLoop
import Foundation
import Integrity
import Manifest
import Scheduling
import SwarmProtocol
import TrackerProtocol
import ViewerCore

/// A session's part in the swarm: its records, its tracker, and its links to other viewers. Confined to the loop.
///
/// Without a record there are no peers; without a tracker there are only those that are known; either way the session
/// plays on from the CDN.
final class SwarmMembership {
    unowned let session: ViewerSession  // The session stops and drops it before it goes.
    let suite: SystemCryptoSuite
    let key: any AgreementKey
    let claimKey: RoleKey
    let claimSigner: any SigningKey

    var reader: CatalogueReader?
    var stream: StreamID?
    /// The keys of the presentation's renditions in the catalogue; `nil` before both are known.
    var renditionKeys: [Rendition.ID: RenditionKey]?
    /// Segments in renditions that they aren't played in, at least not now: their records.
    var spareRecords: [SegmentName: VerifiedSegment] = [:]
    /// By rendition, segments that have been looked up in the catalogue beside those that are played.
    var lookedUp: [Rendition.ID: Set<Int>] = [:]
    /// The catalogue's pages that were asked for.
    var requestedPages = Set<Int>()
    var names: [SegmentName: SegmentID] = [:]
    var records: [SegmentID: VerifiedSegment] = [:]
    /// Segments that the catalogue says nothing of.
    var unsigned = Set<SegmentID>()
    /// The catalogue's pages that have come.
    var loadedPages = Set<Int>()
    /// Segments that are not shared although they have a record: the CDN's bytes differ.
    var forgotten = Set<SegmentID>()
    /// Chunks that transfers from the CDN will bring.
    var expected: [SegmentID: ChunkSet] = [:]
    /// Whether peer-assisted delivery has ended for this session.
    var isOff = false

    var manager: PeerManager?
    var tracker: TrackerClient?
    var certificate: MembershipCertificate?
    var swarmSize = 1
    var clock = SessionClock()
    var frontValidUntil: MonotonicInstant?
    /// Which segments have which root, what peers hold of them, and whose requests are open.
    var books = PeerBooks()
    var claimSequence: UInt64 = 0
    var nextSnapshot = MonotonicInstant.origin
    var nextWant = MonotonicInstant.origin
    var hasLoggedTracker = false

    init(session: ViewerSession) {
        self.session = session
        suite = session.suite
        key = session.agreementKey
        var random = SystemRandom()
        claimSigner = suite.signingKey(seed: Self.seed(using: &random))
        claimKey = RoleKey(role: .claim, key: claimSigner, suite: suite)
        if let name = session.configuration.streamName { stream = StreamIdentity.stream(named: name, suite: suite) }
    }

    static func seed(using generator: inout some RandomNumberGenerator) -> Bytes32 {
        Bytes32(words: (generator.next(), generator.next(), generator.next(), generator.next()))
    }

    func start() {
        guard !session.configuration.trustedKeys.isEmpty else {
            return giveUp("no authority key is trusted: nothing can be checked")
        }
        fetchCatalogue()
        joinTracker()
    }

    func stop() {
        tracker?.stop()
        tracker = nil
        updateFigures()
        manager?.close()
        manager = nil
    }

    /// Ends the session's part in the swarm, with one line in the log; the CDN carries on alone.
    func giveUp(_ reason: String) {
        guard !isOff else { return }
        isOff = true
        session.log("swarm", "playing from the CDN alone: \(reason)", .warning)
        tracker?.stop()
        tracker = nil
        updateFigures()
        manager?.close()
        manager = nil
        session.feed(.swarm(.off))
        session.disk?.giveUp()
    }

    /// Looks at everything that time changes.
    func tick() {
        guard !isOff else { return }
        loadPages()
        let now = session.loop.now
        if let until = frontValidUntil, until <= now {
            frontValidUntil = nil
            session.feed(.front(nil))
        }
        updateFigures()
        guard now >= nextSnapshot else { return }
        nextSnapshot = now.advanced(by: .seconds(1))
        report()
        if books.peerCount < 8, now >= nextWant {
            nextWant = now.advanced(by: .seconds(10))
            tracker?.wantPeers(16)
        }
    }

    private func updateFigures() {
        guard let manager else { return }
        let statistics = manager.statistics
        session.figures.bytes.uploaded = Int(clamping: statistics.sentPayloadByteCount)
        session.figures.messages.sent = Int(clamping: statistics.sentControlCount)
        session.figures.messages.received = Int(clamping: statistics.receivedControlCount)
        session.figures.peersConnected = max(session.figures.peersConnected, books.peerCount)
    }

    /// What certificates and signatures are checked against.
    var now: UnixTime {
        clock.time(
            at: session.loop.now, system: UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
    }
}
