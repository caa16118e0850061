internal import CoreModel
internal import Integrity
internal import Scheduling
internal import SwarmProtocol
internal import TrackerProtocol
internal import ViewerCore

/// The tracker: admission, peers and fronts.
extension SimulatedViewer {
    func joinTracker() {
        guard world.scenario.tracker.isPresent else { return giveUpSwarm() }
        var flags: ViewerFlags = []
        switch profile.sharing {
        case .uploads: break
        case .leechOnly: flags.insert(.leechOnly)
        case .metered: flags.formUnion([.leechOnly, .metered])
        }
        let request = JoinRequest(
            stream: world.stream.identity, peer: PeerID(key.publicKey), claimKey: claimKey.verificationKey,
            listenPort: address.port, flags: flags,
            startPositionMilliseconds: UInt64(max(0, player.position.inMilliseconds)))
        tracker = TrackerSession(
            configuration: TrackerSession.Configuration(
                trackers: ["wss://tracker"], request: request, claimKey: claimSigner))
        feedTracker(.start)
    }

    /// Without a tracker nobody is known; the viewer goes on alone.
    private func giveUpSwarm() { feed(.swarm(.joined(size: 1))) }

    func feedTracker(_ input: TrackerSession.Input) {
        guard tracker != nil else { return }
        tracker?.handle(input, now: now, using: &trackerGenerator)
        drainTracker()
    }

    private func drainTracker() {
        guard !isDrainingTracker else { return }
        isDrainingTracker = true
        defer { isDrainingTracker = false }
        while let output = tracker?.poll() {
            switch output {
            case .connect(let id, _):
                trackerConnection = id
                world.connectTracker(self, id)
            case .send(let id, let message): if id == trackerConnection { world.sendToTracker(message, from: self) }
            case .close(let id):
                guard id == trackerConnection else { continue }
                trackerConnection = nil
                world.closeTracker(self)
            case .event(let event): if isOnline { take(event) }
            case .wait(let until):
                if let until { arm(.tracker, at: max(now, until)) } else { disarm(.tracker) }
                return
            }
        }
    }

    private func take(_ event: TrackerSession.Event) {
        switch event {
        case .state(let state): take(state)
        case .welcome(let welcome): take(welcome)
        case .peers(let candidates):
            for candidate in candidates { neighbourhood.add(candidate.peer, at: candidate.address, now: now) }
            drive()
        case .front(let front, let validUntil):
            guard world.scenario.tracker.namesFronts else { return }
            frontValidUntil = validUntil
            feed(
                .front(
                    Scheduling.Front(
                        members: front.members.map(\.memberID),
                        leadPosition: .milliseconds(Int64(clamping: front.leadPositionMilliseconds)))))
        case .swarmSize(let size):
            swarmSize = size
            feed(.swarm(.joined(size: size)))
        case .certificate(let issued): take(issued)
        case .refused: figures.trackerRefusals += 1
        }
    }

    private func take(_ state: TrackerState) {
        switch state {
        case .joined: neighbourhood.isTrackerAnswering = true
        case .waiting, .refused:
            neighbourhood.isTrackerAnswering = false
            if certificate == nil { feed(.swarm(.joined(size: 1))) }
        case .idle, .connecting, .stopped: break
        }
    }

    private func take(_ welcome: Welcome) {
        neighbourhood.membershipKeys = [welcome.membershipKey]
        swarmSize = Int(welcome.swarmSize)
        take(welcome.certificate)
        feed(.swarm(.joined(size: swarmSize)))
    }

    private func take(_ issued: IssuedCertificate) {
        guard let certificate = try? MembershipCertificate(decoding: issued.bytes[...]) else { return }
        self.certificate = certificate
        neighbourhood.join(certificate: certificate, key: key, listenPort: address.port, now: now)
        drive()
        redraw()
    }

    /// Tells the tracker's client where the viewer stands.
    func report() {
        guard tracker != nil else { return }
        var snapshot = ViewerSnapshot()
        snapshot.isPlaying = player.isPlaying || player.isStalled
        snapshot.positionMilliseconds = UInt64(max(0, player.position.inMilliseconds))
        snapshot.mediaBitsPerSecond = UInt32(clamping: playedBitsPerSecond)
        let cap = neighbourhood.uploadCaps.bytesPerSecond
        snapshot.uplinkBitsPerSecond = cap.map { UInt32(clamping: Int(min($0 * 8, 4e9))) } ?? 0
        snapshot.bytesFromCDN = UInt64(figures.bytesCDN)
        snapshot.bytesFromPeers = UInt64(figures.bytesPeers)
        snapshot.bytesUploaded = UInt64(figures.bytesUploaded)
        snapshot.chunksRejected = UInt64(figures.chunksRejected)
        snapshot.peersConnected = books.peerCount
        snapshot.stalls = UInt64(figures.stalls)
        feedTracker(.snapshot(snapshot))
    }
}
