internal import CoreModel
internal import Integrity
internal import NetworkEmulator
internal import Scheduling
internal import SwarmProtocol

/// Bytes between viewers, and from the CDN.
extension Simulation {
    typealias LinkName = LinkID
    typealias Box = CertificateBox

    /// What an answer of the CDN is for.
    enum CDNRequest {
        case manifest
        case catalogue
        case media(TransferID)
    }

    struct CDNTransfer {
        let viewer: Int
        let request: CDNRequest
        let serial: Int
        let byteCount: Int
        let wireByteCount: Int
        var flow: FlowID?
        var receivedWire = 0
        var received = 0
        var fails = false
        var hasResponded = false
    }

    /// Bytes of manifests and of a catalogue's index and first page.
    static let manifestByteCount = 8 << 10
    static let catalogueByteCount = 48 << 10
    private static let requestByteCount = 450
    private static let responseHeadByteCount = 350

    /// What travels, in the highest byte of a message's payload.
    private enum Kind: UInt64 {
        case peer, closing, request, response, toTracker, fromTracker
    }

    /// Bytes with the headers of TCP (with time stamps), IPv4 and Ethernet, of packets of 1,448 bytes.
    static func wireByteCount(_ byteCount: Int) -> Int { byteCount + (byteCount + 1447) / 1448 * 66 }

    private static func payload(_ kind: Kind, _ index: Int, _ serial: Int = 0) -> UInt64 {
        kind.rawValue << 56 | UInt64(serial & 0xFF_FFFF) << 32 | UInt64(index)
    }

    func box(_ certificate: MembershipCertificate) -> Box {
        let address = NetworkAddress(host: certificate.observedHost, port: 0)
        guard let index = viewer(at: address) else { return Box(certificate) }
        if let box = boxes[index], box.certificate == certificate { return box }
        let box = Box(certificate)
        boxes[index] = box
        return box
    }

    // MARK: - Deliveries

    func take(_ delivery: Delivery) {
        if delivery.outcome == .room {
            let connection = connections[Int(delivery.flow.rawValue >> 1)]
            let isDialer = delivery.flow.rawValue & 1 == 0
            guard let link = isDialer ? connection.dialerLink : connection.acceptorLink else { return }
            viewers[isDialer ? connection.dialer : connection.acceptor]?.hasRoom(link)
            return
        }
        let index = Int(delivery.payload & 0xFFFF_FFFF)
        let serial = Int(delivery.payload >> 32 & 0xFF_FFFF)
        let isLost = delivery.outcome == .dropped
        switch Kind(rawValue: delivery.payload >> 56) {
        case .peer:
            if isLost { lose(index) } else { arrived(index, on: delivery.flow) }
        case .closing: if !isLost { hangUp(delivery.flow, by: nil) }
        case .request:
            guard !isLost, transfers[index]?.serial == serial else { return }
            schedule(
                .respond(transfer: index, serial: serial),
                at: now.advanced(by: .clamping(seconds: scenario.cdn.latency.draw(using: &cdnGenerator))))
        case .response:
            guard !isLost, transfers[index]?.serial == serial else { return }
            responded(index, wireByteCount: Int(delivery.byteCount), isLast: delivery.outcome == .complete)
        case .toTracker:
            guard let parcel = parcels.remove(index), !isLost else { return }
            trackerReceived(parcel)
        case .fromTracker:
            guard let parcel = parcels.remove(index), !isLost else { return }
            trackerAnswered(parcel)
        case nil: preconditionFailure("a payload of no kind")
        }
    }

    // MARK: - Peers

    func dial(_ address: NetworkAddress, by viewer: SimulatedViewer, link: LinkID) {
        guard let target = self.viewer(at: address), let other = viewers[target], other.isOnline else {
            let dial = dials.insert(Dial(viewer: viewer.index, link: link, target: -1))
            return schedule(.dialled(dial), at: now.advanced(by: .milliseconds(50)))
        }
        // Nothing answers from behind what lets nobody in: the attempt runs into its own timeout.
        guard canReach(viewer, other) else { return }
        let dial = dials.insert(Dial(viewer: viewer.index, link: link, target: target))
        schedule(.dialled(dial), at: now.advanced(by: network.delay(from: viewer.node, to: other.node) * 2))
    }

    /// Whether two viewers can connect: drawn once for each pair.
    private func canReach(_ viewer: SimulatedViewer, _ other: SimulatedViewer) -> Bool {
        if viewer.profile.sharedLine >= 0, viewer.profile.sharedLine == other.profile.sharedLine,
            population.sharedLines[Int(viewer.profile.sharedLine)].site != nil
        {
            return true
        }
        let probability = network.configuration.reachability.probability(
            from: NATType(rawValue: viewer.profile.nat.rawValue), to: NATType(rawValue: other.profile.nat.rawValue))
        if probability >= 1 { return true }
        let pair = UInt64(min(viewer.index, other.index)) << 32 | UInt64(max(viewer.index, other.index))
        var generator = SeededGenerator(seed: seed ^ pair &* 0xA24B_AED4_963E_E407)
        return Double(generator.next() >> 11) * 0x1p-53 < probability
    }

    func dialled(_ number: Int) {
        guard let dial = dials.remove(number), let viewer = viewers[dial.viewer], viewer.isOnline else { return }
        guard dial.target >= 0, let other = viewers[dial.target], other.isOnline else { return viewer.lost(dial.link) }
        let from = NetworkAddress(host: viewer.address.host, port: 50_000)
        var accepted: LinkID?
        other.act {
            var environment = ViewerEnvironment(viewer: other)
            accepted = other.neighbourhood.accept(from: from, now: now, environment: &environment)
            other.drive()
        }
        guard let accepted else { return viewer.lost(dial.link) }
        let flow = network.connect(viewer.node, to: other.node)
        let connection = Int(flow.rawValue >> 1)
        while connections.count <= connection { connections.append(Connection()) }
        connections[connection] = Connection(
            dialer: viewer.index, acceptor: other.index, dialerLink: dial.link, acceptorLink: accepted,
            delay: network.delay(from: viewer.node, to: other.node).nanosecondsClamped)
        other.connected(accepted, flow: flow.opposite)
        viewer.connected(dial.link, flow: flow)
    }

    func transmit(_ bytes: [UInt8], missing: Int, payload: Int, on flow: FlowID) {
        let byteCount = Self.wireByteCount(bytes.count + missing)
        let parcel = parcels.insert(Parcel(bytes: bytes, missing: missing, payload: payload, sentAt: now))
        network.send(byteCount, payload: Self.payload(.peer, parcel), priority: .data, on: flow)
    }

    private func arrived(_ number: Int, on flow: FlowID) {
        guard let (sentAt, chunkByteCount) = parcels[number].map({ ($0.sentAt, $0.payload) }) else { return }
        let isFromDialer = flow.rawValue & 1 == 0
        // Most messages are nothing to their sender any more, whose memory is far away.
        let waits = Self.noteRoundTrip(
            &connections[Int(flow.rawValue >> 1)], now.nanoseconds - sentAt.nanoseconds, isFromDialer)
        let connection = connections[Int(flow.rawValue >> 1)]
        if waits, let link = isFromDialer ? connection.dialerLink : connection.acceptorLink {
            post(
                .acknowledged(link), to: isFromDialer ? connection.dialer : connection.acceptor,
                within: Self.shortDelay)
        }
        let target = isFromDialer ? connection.acceptor : connection.dialer
        guard let link = isFromDialer ? connection.acceptorLink : connection.dialerLink, inboxes[target].isOpen else {
            return lose(number)
        }
        payload.arrived += chunkByteCount
        post(.message(parcel: Int32(number), link), to: target)
    }

    private func lose(_ number: Int) {
        if let parcel = parcels.remove(number) { payload.lost += parcel.payload }
    }

    /// Takes a sample of a round trip.
    ///
    /// - Returns: Whether the sender waits for what arrives; it doesn't any more.
    private static func noteRoundTrip(_ connection: inout Connection, _ oneWay: Int64, _ isFromDialer: Bool) -> Bool {
        let sample = oneWay + connection.delay
        func smoothed(_ old: Int64) -> Int64 { old == 0 ? sample : old + (sample - old) / 8 }
        if isFromDialer {
            connection.dialerRoundTrip = smoothed(connection.dialerRoundTrip)
            defer { connection.dialerWaits = false }
            return connection.dialerWaits
        }
        connection.acceptorRoundTrip = smoothed(connection.acceptorRoundTrip)
        defer { connection.acceptorWaits = false }
        return connection.acceptorWaits
    }

    /// Has the sender on a flow told when something of it arrives.
    func awaitArrival(on flow: FlowID) {
        if flow.rawValue & 1 == 0 {
            connections[Int(flow.rawValue >> 1)].dialerWaits = true
        } else {
            connections[Int(flow.rawValue >> 1)].acceptorWaits = true
        }
    }

    func waitingByteCount(on flow: FlowID) -> Int { network.byteCounts(on: flow).waiting }

    /// What is on its way, and what of the rest the transport has taken; the sender is told when something of it arrives.
    func unacknowledgedByteCount(on flow: FlowID, unsent: Int) -> Int {
        let count = network.byteCounts(on: flow)
        let byteCount = min(count.waiting, unsent) + count.inFlight
        if byteCount > 0 { awaitArrival(on: flow) }
        return byteCount
    }

    /// The round trip as the sender on a flow measures it, in nanoseconds; 0 before it has.
    func roundTrip(on flow: FlowID) -> Int64 {
        let number = Int(flow.rawValue >> 1)
        return flow.rawValue & 1 == 0 ? connections[number].dialerRoundTrip : connections[number].acceptorRoundTrip
    }

    /// One side of a connection closes it; what it has sent before arrives before that.
    func closePeer(_ flow: FlowID) {
        let number = Int(flow.rawValue >> 1)
        let isDialer = flow.rawValue & 1 == 0
        if isDialer { connections[number].dialerLink = nil } else { connections[number].acceptorLink = nil }
        guard connections[number].dialerLink != nil || connections[number].acceptorLink != nil else {
            connections[number] = Connection()
            return network.close(flow)
        }
        network.send(40, payload: Self.payload(.closing, 0), priority: .data, on: flow)
    }

    /// A connection between viewers is over: who still holds it learns of it.
    func hangUp(_ flow: FlowID, by viewer: Int?) {
        let number = Int(flow.rawValue >> 1)
        guard connections.indices.contains(number), connections[number].dialer >= 0 else { return }
        let connection = connections[number]
        connections[number] = Connection()
        network.close(flow)
        if let link = connection.dialerLink, connection.dialer != viewer { viewers[connection.dialer]?.lost(link) }
        if let link = connection.acceptorLink, connection.acceptor != viewer {
            viewers[connection.acceptor]?.lost(link)
        }
    }

    // MARK: - The CDN

    /// Asks the CDN for something; its bytes come as they arrive.
    @discardableResult func request(_ request: CDNRequest, byteCount: Int, for viewer: SimulatedViewer) -> Int {
        nextSerial = (nextSerial + 1) & 0xFF_FFFF
        let serial = nextSerial
        switch request {
        case .manifest: viewer.figures.requestsManifest += 1
        case .catalogue: viewer.figures.requestsCatalogue += 1
        case .media: break  // The viewer counts those itself.
        }
        let transfer = transfers.insert(
            CDNTransfer(
                viewer: viewer.index, request: request, serial: serial, byteCount: byteCount,
                wireByteCount: Self.wireByteCount(byteCount + Self.responseHeadByteCount)))
        if let flow = viewer.idleFlows.popLast() {
            ask(transfer, serial, on: flow)
        } else {
            // TCP and TLS 1.3 take a round trip each.
            let roundTrip = network.delay(from: viewer.node, to: cdnNode) * 2
            schedule(.connected(transfer: transfer, serial: serial), at: now.advanced(by: roundTrip * 2))
        }
        return transfer
    }

    func connected(_ transfer: Int, _ serial: Int) {
        guard transfers[transfer]?.serial == serial, let index = transfers[transfer]?.viewer,
            let viewer = viewers[index], viewer.isOnline
        else { return }
        ask(transfer, serial, on: network.connect(viewer.node, to: cdnNode))
    }

    private func ask(_ transfer: Int, _ serial: Int, on flow: FlowID) {
        transfers[transfer]?.flow = flow
        network.send(
            Self.wireByteCount(Self.requestByteCount), payload: Self.payload(.request, transfer, serial),
            priority: .data, on: flow)
    }

    func respond(_ transfer: Int, _ serial: Int) {
        guard transfers[transfer]?.serial == serial, let flow = transfers[transfer]?.flow else { return }
        let isOut = scenario.cdn.outages.contains { $0.contains(now) }
        let draw = Double(cdnGenerator.next() >> 11) * 0x1p-53
        if isOut || draw < scenario.cdn.failures {
            transfers[transfer]?.fails = true
            network.send(
                Self.wireByteCount(Self.responseHeadByteCount), payload: Self.payload(.response, transfer, serial),
                priority: .data, on: flow.opposite)
            return
        }
        network.send(
            transfers[transfer]?.wireByteCount ?? 1, payload: Self.payload(.response, transfer, serial),
            priority: .data, isReportingProgress: true, on: flow.opposite)
    }

    private func responded(_ number: Int, wireByteCount: Int, isLast: Bool) {
        guard var transfer = transfers[number] else { return }
        transfer.receivedWire += wireByteCount
        let total =
            isLast
            ? transfer.byteCount
            : Int(Double(transfer.byteCount) * Double(transfer.receivedWire) / Double(transfer.wireByteCount))
        let byteCount = transfer.fails ? 0 : max(0, total - transfer.received)
        transfer.received += byteCount
        let isFirst = !transfer.hasResponded
        transfer.hasResponded = true
        if isLast {
            _ = transfers.remove(number)
            if let flow = transfer.flow {
                if let viewer = viewers[transfer.viewer], viewer.isOnline {
                    viewer.idleFlows.append(flow)
                } else {
                    network.close(flow)
                }
            }
        } else {
            transfers[number] = transfer
        }
        if case .media(let id) = transfer.request, !transfer.fails {
            // How long the CDN takes to answer, and from then on, is measured.
            return post(
                .media(id, byteCount: Int32(byteCount), isLast: isLast), to: transfer.viewer,
                within: isFirst ? .zero : Self.shortDelay)
        }
        guard let viewer = viewers[transfer.viewer], viewer.isOnline else { return }
        switch transfer.request {
        case .media(let id): viewer.act { viewer.failed(id) }
        case .manifest:
            viewer.figures.bytesManifest += byteCount
            guard isLast else { return }
            // The retries of a manifest are the client's own.
            if transfer.fails {
                request(.manifest, byteCount: transfer.byteCount, for: viewer)
            } else {
                viewer.act { viewer.manifestArrived() }
            }
        case .catalogue:
            viewer.figures.bytesCatalogue += byteCount
            guard isLast else { return }
            if transfer.fails {
                request(.catalogue, byteCount: transfer.byteCount, for: viewer)
            } else {
                viewer.act { viewer.catalogueArrived() }
            }
        }
    }

    /// Takes a request back. Its connection is closed, as HTTP/1.1 has it.
    func cancel(_ transfer: Int) {
        guard let flow = transfers.remove(transfer)?.flow else { return }
        network.close(flow)
    }

    // MARK: - The tracker's wire

    func sendToTracker(_ message: [UInt8], from viewer: SimulatedViewer) {
        guard let flow = viewer.trackerFlow else { return }
        var parcel = Parcel(bytes: message, missing: 0, sentAt: now)
        parcel.connection = Int(viewer.trackerKey)
        network.send(
            Self.wireByteCount(message.count + 40), payload: Self.payload(.toTracker, parcels.insert(parcel)),
            priority: .data, on: flow)
    }

    func sendFromTracker(_ parcel: Parcel, on flow: FlowID) {
        network.send(
            Self.wireByteCount(parcel.bytes.count + 30), payload: Self.payload(.fromTracker, parcels.insert(parcel)),
            priority: .data, on: flow)
    }
}
