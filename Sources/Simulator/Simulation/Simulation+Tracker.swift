internal import CoreModel
internal import NetworkEmulator
internal import TrackerCore
internal import TrackerProtocol

/// The tracker's server: connections, time, and outages.
extension Simulation {
    struct TrackerConnection {
        let viewer: Int
        let attempt: TrackerSession.ConnectionID
        let flow: FlowID
        var isOpen = true
        /// Answers keep their order, however long each takes.
        var nextAnswer = MonotonicInstant.origin
    }

    private static let trackerTickInterval: Duration = .milliseconds(200)

    func connectTracker(_ viewer: SimulatedViewer, _ attempt: TrackerSession.ConnectionID) {
        // TCP, TLS and the upgrade to WebSockets take a round trip each.
        let roundTrip = network.delay(from: viewer.node, to: trackerNode) * 2
        schedule(
            .trackerOpened(viewer: viewer.index, attempt: Int(truncatingIfNeeded: attempt.number)),
            at: now.advanced(by: roundTrip * 3))
    }

    func trackerOpened(_ index: Int, _ attempt: Int) {
        guard let viewer = viewers[index], viewer.isOnline, let id = viewer.trackerConnection,
            Int(truncatingIfNeeded: id.number) & 0xFF_FFFF == attempt
        else { return }
        guard !isTrackerOut else {
            viewer.trackerConnection = nil
            return viewer.feedTracker(.disconnected(id, reason: "the tracker is away"))
        }
        let flow = network.connect(viewer.node, to: trackerNode)
        let number = trackerConnections.count
        trackerConnections.append(TrackerConnection(viewer: index, attempt: id, flow: flow))
        viewer.trackerFlow = flow
        viewer.trackerKey = UInt64(number)
        viewer.feedTracker(.connected(id))
        store.connected(ConnectionKey(rawValue: UInt64(number)), now: now, using: &trackerGenerator)
        drainStore()
    }

    func trackerReceived(_ parcel: Parcel) {
        let connection = trackerConnections[parcel.connection]
        guard connection.isOpen, !isTrackerOut else { return }
        store.received(
            parcel.bytes, on: ConnectionKey(rawValue: UInt64(parcel.connection)),
            from: Self.address(of: connection.viewer), now: now, time: time, using: &trackerGenerator)
        drainStore()
    }

    func trackerTick() {
        if !isTrackerOut {
            store.tick(now: now)
            drainStore()
        }
        schedule(.trackerTick, at: now.advanced(by: Self.trackerTickInterval))
    }

    private func drainStore() {
        while let output = store.poll() {
            switch output {
            case .send(let key, let message):
                if case .front(let front) = message { maximumFront = max(maximumFront, front.members.count) }
                var parcel = Parcel(bytes: message.encoded(), missing: 0, sentAt: now)
                parcel.connection = Int(key.rawValue)
                schedule(.trackerSends(parcel: parcels.insert(parcel)), at: nextAnswer(on: parcel.connection))
            case .close(let key):
                schedule(.trackerCloses(connection: Int(key.rawValue)), at: nextAnswer(on: Int(key.rawValue)))
            }
        }
    }

    private func nextAnswer(on connection: Int) -> MonotonicInstant {
        let latency = Duration.clamping(seconds: scenario.tracker.latency.draw(using: &trackerGenerator))
        let instant = max(now.advanced(by: latency), trackerConnections[connection].nextAnswer)
        trackerConnections[connection].nextAnswer = instant
        return instant
    }

    func trackerSends(_ number: Int) {
        guard let parcel = parcels.remove(number), trackerConnections[parcel.connection].isOpen else { return }
        sendFromTracker(parcel, on: trackerConnections[parcel.connection].flow.opposite)
    }

    func trackerAnswered(_ parcel: Parcel) {
        let connection = trackerConnections[parcel.connection]
        guard let viewer = viewers[connection.viewer], viewer.isOnline, viewer.trackerConnection == connection.attempt
        else { return }
        viewer.feedTracker(.received(connection.attempt, parcel.bytes))
    }

    /// The tracker closes a connection, or takes note that the viewer did.
    func trackerCloses(_ number: Int) {
        guard trackerConnections[number].isOpen else { return }
        trackerConnections[number].isOpen = false
        network.close(trackerConnections[number].flow)
        store.disconnected(ConnectionKey(rawValue: UInt64(number)), now: now)
        drainStore()
        let connection = trackerConnections[number]
        guard let viewer = viewers[connection.viewer], viewer.trackerConnection == connection.attempt else { return }
        viewer.trackerConnection = nil
        viewer.trackerFlow = nil
        viewer.feedTracker(.disconnected(connection.attempt, reason: "the tracker closed the connection"))
    }

    /// A viewer closes its connection: what it sent before still arrives.
    func closeTracker(_ viewer: SimulatedViewer) {
        guard viewer.trackerFlow != nil else { return }
        viewer.trackerFlow = nil
        schedule(.trackerCloses(connection: Int(viewer.trackerKey)), at: now.advanced(by: .seconds(1)))
    }

    /// A viewer is gone.
    func disconnectTracker(_ viewer: SimulatedViewer) {
        guard viewer.trackerKey != .max, trackerConnections[Int(viewer.trackerKey)].isOpen else { return }
        trackerConnections[Int(viewer.trackerKey)].isOpen = false
        store.disconnected(ConnectionKey(rawValue: viewer.trackerKey), now: now)
        drainStore()
    }

    func trackerOutage(_ number: Int) {
        isTrackerOut = number % 2 == 0
        guard isTrackerOut else { return }
        for connection in trackerConnections.indices { trackerCloses(connection) }
    }
}
