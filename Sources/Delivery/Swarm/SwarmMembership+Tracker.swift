import EventLoop
import CoreModel
import Integrity
import Scheduling
import SwarmProtocol
import TrackerProtocol
import ViewerCore
import WebSockets

/// The tracker: admission, peers and fronts.
extension SwarmMembership {
    /// Connects to the tracker once the stream is known.
    func joinTracker() {
        guard tracker == nil, !isOff, let stream else { return }
        let configuration = session.configuration
        guard !configuration.trackerURLs.isEmpty else {
            return giveUp("no tracker is set")
        }
        var trackers = configuration.trackerURLs
        if configuration.token != nil {
            trackers = trackers.filter(WebSocketClient.isConfidential)
            let skipped = configuration.trackerURLs.filter { !WebSocketClient.isConfidential($0) }
            if !skipped.isEmpty {
                let list = skipped.map { SessionError.redacted($0) }.joined(separator: ", ")
                session.log("tracker", "a token goes over TLS only (wss, https): not used are \(list)", .warning)
            }
            guard !trackers.isEmpty else { return giveUp("no tracker can take the token") }
        }
        let swarm = StreamIdentity.swarm(of: stream, secret: [], suite: suite)
        makeManager(swarm: swarm, at: configuration.listenAddress, membershipKeys: [])
        var flags: ViewerFlags = []
        if !uploads { flags.insert(.leechOnly) }
        // The flag says that nothing is ever uploaded, which others plan by.
        if configuration.isMetered, !configuration.uploadsOnMetered { flags.insert(.metered) }
        var token: [UInt8] = []
        if let text = configuration.token {
            guard let parsed = try? ViewerToken(text: text) else {
                return giveUp("the viewer token is malformed")
            }
            token = parsed.encoded
        }
        let request = JoinRequest(
            stream: stream, peer: PeerID(key.publicKey), claimKey: claimKey.verificationKey,
            listenPort: manager?.listenAddress?.port ?? 0, flags: flags,
            startPositionMilliseconds: UInt64(max(0, configuration.start.inMilliseconds)), token: token)
        let client = TrackerClient(
            loop: session.loop,
            configuration: TrackerSession.Configuration(
                trackers: trackers, request: request, claimKey: claimSigner,
                membershipKey: configuration.trackerKey)
        ) { [weak self] event in self?.take(event) }
        tracker = client
        client.start()
    }

    /// Whether this viewer offers uploads at all; a free rider of a test swarm says so and does not.
    private var uploads: Bool {
        let configuration = session.configuration
        return configuration.uploadRatio > 0 && configuration.uploadBitsPerSecond != 0
            && (!configuration.isMetered || configuration.uploadsOnMetered)
    }

    private func makeManager(swarm: SwarmID, at address: NetworkAddress, membershipKeys: [VerificationKey]) {
        let configuration = session.configuration
        var settings = PeerManagerConfiguration()
        settings.listenAddress = address
        settings.neighbourhood.isLocalOnly = configuration.isLocalOnly
        settings.neighbourhood.uploads = uploads
        settings.neighbourhood.maximumLinkCount = configuration.maximumPeerCount
        settings.neighbourhood.maximumOutgoingLinkCount = max(1, configuration.maximumPeerCount * 4 / 5)
        settings.neighbourhood.uploadCaps.bytesPerSecond = configuration.uploadBitsPerSecond.map { Double($0) / 8 }
        settings.neighbourhood.uploadCaps.shareOfDownload = configuration.uploadRatio
        settings.neighbourhood.downloadBytesPerSecond = configuration.downloadBitsPerSecond.map { Double($0) / 8 }
        let manager = PeerManager(
            loop: session.loop, configuration: settings, swarm: swarm, membershipKeys: membershipKeys, source: self,
            suite: suite, wallClock: { [unowned self] in now })
        manager.delegate = self
        do {
            try manager.listen()
        } catch {
            session.log("swarm", "no port can be opened for peers: \(error); links are only made from here", .warning)
        }
        self.manager = manager
    }

    private func take(_ event: TrackerSession.Event) {
        guard !isOff else { return }
        switch event {
        case .state(let state): take(state)
        case .welcome(let welcome): take(welcome)
        case .peers(let candidates): take(candidates)
        case .front(let front, let validUntil):
            frontValidUntil = validUntil
            session.feed(
                .front(
                    Scheduling.Front(
                        members: front.members.map(\.memberID),
                        leadPosition: .milliseconds(Int64(clamping: front.leadPositionMilliseconds)))))
        case .swarmSize(let size):
            swarmSize = size
            session.feed(.swarm(.joined(size: size)))
        case .certificate(let issued): take(issued)
        case .refused(let error):
            session.log("tracker", "the tracker refuses: \(error)", .warning)
        }
    }

    private func take(_ state: TrackerState) {
        switch state {
        case .joined(let url):
            manager?.isTrackerAnswering = true
            if hasLoggedTracker { session.log("tracker", "\(SessionError.redacted(url)) answers again") }
            hasLoggedTracker = false
        case .waiting(_, let reason), .refused(let reason):
            manager?.isTrackerAnswering = false
            if !hasLoggedTracker {
                session.log("tracker", "no tracker answers: \(reason); playing on without it", .warning)
            }
            hasLoggedTracker = true
            if certificate == nil { session.feed(.swarm(.joined(size: 1))) }
        case .idle, .connecting, .stopped: break
        }
    }

    private func take(_ welcome: Welcome) {
        guard !welcome.settings.disablesPeers else {
            return giveUp("the operator has switched peers off")
        }
        if welcome.swarm != manager?.swarm {
            // The swarm's identifier has a secret: the links belong to that one.
            let port = manager?.listenAddress?.port ?? 0
            var address = session.configuration.listenAddress
            address.port = port
            manager?.close()
            // A closed manager tells of nothing any more.
            for peer in books.peerIDs { peerGone(peer, .closed) }
            makeManager(swarm: welcome.swarm, at: address, membershipKeys: [welcome.membershipKey])
            // What came from the CDN meanwhile is to be announced there.
            for (id, record) in records.sorted(by: { $0.key < $1.key }) {
                didChange(id, chunks: record.geometry.chunks)
            }
        }
        manager?.membershipKeys = [welcome.membershipKey]
        if let bits = welcome.settings.maximumUploadBitsPerSecond {
            let own = session.configuration.uploadBitsPerSecond.map { Double($0) / 8 }
            manager?.uploadCaps.bytesPerSecond = min(own ?? .infinity, Double(bits) / 8)
        }
        if let percent = welcome.settings.maximumUploadPercent {
            manager?.uploadCaps.shareOfDownload = min(session.configuration.uploadRatio, Double(percent) / 100)
        }
        if let mebibytes = welcome.settings.maximumUploadMebibytesPerDay {
            manager?.uploadCaps.bytesPerDay = UInt64(mebibytes) << 20
        }
        if let count = welcome.settings.maximumPeerCount { manager?.limitLinks(to: Int(count)) }
        clock.set(welcome.serverTime, at: session.loop.now)
        swarmSize = Int(welcome.swarmSize)
        take(welcome.certificate)
        session.feed(.swarm(.joined(size: swarmSize)))
    }

    private func take(_ issued: IssuedCertificate) {
        guard let certificate = try? MembershipCertificate(decoding: issued.bytes[...]),
            certificate.peer.publicKey == key.publicKey, certificate.swarm == manager?.swarm
        else {
            return session.log(
                "tracker", "the tracker's certificate is not for this viewer; it is not used", .warning)
        }
        self.certificate = certificate
        manager?.join(certificate: certificate, key: key)
        redraw()
    }

    private func take(_ candidates: [PeerCandidate]) {
        for candidate in candidates { manager?.add(candidate.peer, at: candidate.address) }
    }

    /// Tells the tracker's client where the viewer stands.
    func report() {
        let figures = session.figures
        var snapshot = ViewerSnapshot()
        snapshot.isPlaying = session.report.isPlaying || session.report.isStalled
        snapshot.positionMilliseconds = UInt64(max(0, session.report.position.inMilliseconds))
        snapshot.mediaBitsPerSecond = UInt32(clamping: session.playedBitsPerSecond)
        snapshot.uplinkBitsPerSecond = UInt32(clamping: session.configuration.uploadBitsPerSecond ?? 0)
        snapshot.bytesFromCDN = UInt64(figures.bytes.cdn)
        snapshot.bytesFromPeers = UInt64(figures.bytes.peers)
        snapshot.bytesUploaded = UInt64(figures.bytes.uploaded)
        snapshot.chunksRejected = UInt64(figures.chunksRejected)
        snapshot.peersConnected = books.peerCount
        snapshot.stalls = UInt64(figures.stalls)
        tracker?.update(snapshot)
    }
}
