import CoreModel
import EventLoop
import Integrity
import SwarmProtocol

/// A TCP connection with a link on it: moves bytes between the two and holds uploads back. Confined to the loop.
///
/// Control frames go to the system at once. A data frame goes only when all before it has been taken by the system, the
/// upload budget allows it, and what is unacknowledged fits into the pacer's window; so a control frame never waits
/// behind more than one data frame and what the pacer lets into the line's queue.
final class PeerConnection {
    /// Bytes that may wait in this process: a peer that does not read is dropped.
    private static let queueLimit = 512 * 1024
    /// Unsent bytes that the system may hold before it says that it is full.
    private static let notSentLowWater = 16 * 1024
    private static let dataFrameByteCount = SegmentGeometry.chunkByteCount + WireLimits.dataOverhead

    /// Where the other side is; its port is the one dialled, or the ephemeral one of an incoming connection.
    let address: NetworkAddress
    /// Whether this side opened the connection.
    let isOutgoing: Bool
    /// The peer that was dialled.
    let dialled: PeerID?
    private(set) var link: PeerLink
    /// The other side's certificate, once it holds.
    private(set) var certificate: MembershipCertificate?
    /// The other side's hello, once it came.
    private(set) var hello: HelloFrame?
    /// When the link is told of other peers next.
    var nextExchange: MonotonicInstant = .distantFuture
    /// When the link may tell of other peers again.
    var nextExchangeAccepted: MonotonicInstant = .origin

    private let loop: EventLoop
    private let connection: TCPConnection
    private unowned let manager: PeerManager  // The manager closes its connections before it goes.
    private var timer: LoopTimer?
    private let dialDeadline: MonotonicInstant
    /// What may be passed on of others' claims.
    private var relays: TokenBucket
    private var readTimer: LoopTimer?
    /// Paces uploads; `nil` on loopback, which has no queue to spare.
    private var pacer: DelayPacer?
    private var nextSample: MonotonicInstant = .origin
    private var acknowledgedAtSample = 0
    private var isServicing = false
    private var isServiceDue = false
    private var isClosed = false

    /// Wraps a connection that is being opened, or that a listener accepted.
    init(
        _ connection: TCPConnection, to address: NetworkAddress, dialled: PeerID?, isOutgoing: Bool, link: PeerLink,
        loop: EventLoop, manager: PeerManager
    ) {
        self.connection = connection
        self.address = address
        self.dialled = dialled
        self.isOutgoing = isOutgoing
        self.link = link
        self.loop = loop
        self.manager = manager
        pacer = address.isLoopback ? nil : DelayPacer()
        relays = TokenBucket(capacity: manager.configuration.relayBurst, now: loop.now)
        dialDeadline = loop.now.advanced(by: link.identity.configuration.handshakeTimeout)
        timer = LoopTimer(loop: loop) { [weak self] in self?.service() }
        connection.onOpen = { [weak self] in self?.opened() }
        connection.onRead = { [weak self] bytes in self?.receive(bytes) }
        connection.onDrain = { [weak self] in self?.service() }
        connection.onClose = { [weak self] error in self?.lost(error) }
    }

    /// Begins: an accepted connection reads, one that is dialled waits.
    func start() {
        if connection.isOpen {
            opened()
        } else {
            timer?.arm(at: dialDeadline)
        }
    }

    /// Whether there is something to upload that only waits for its turn.
    var isReadyToUpload: Bool {
        link.isEstablished && link.readyChunkCount > 0 && isTransportReady(now: loop.now)
    }

    // MARK: Commands

    func request(_ request: ChunkRequest) -> Bool {
        let isTaken = link.request(request, now: loop.now)
        service()
        return isTaken
    }

    func cancel(_ id: ChunkRequestID) {
        link.cancel(id, now: loop.now)
        service()
    }

    func requestRecord(_ id: RecordRequestID, of name: SegmentName) -> Bool {
        let isTaken = link.requestRecord(id, of: name, now: loop.now)
        service()
        return isTaken
    }

    func send(_ frame: [UInt8]) {
        link.send(encoded: frame)
        service()
    }

    /// Passes on another's claim, or drops it when there were too many of late.
    func relay(_ frame: [UInt8]) {
        let (rate, burst) = (manager.configuration.relayRate, manager.configuration.relayBurst)
        guard link.isEstablished, relays.level(rate: rate, capacity: burst, now: loop.now) >= 1 else { return }
        relays.take(1)
        send(frame)
    }

    func chunksAvailable(root: Digest, chunks: Range<Int>) {
        if link.chunksAvailable(root: root, chunks: chunks) { service() }
    }

    /// Rejects what is queued and new requests for a while: the caps are used up.
    func choke(for pause: Duration) {
        link.choke(for: pause, now: loop.now)
        link.rejectQueued(.capped, retryAfter: pause)
        service()
    }

    func unchoke() {
        link.unchoke()
        service()
    }

    func probe() {
        link.probe(now: loop.now)
        service()
    }

    func close(_ code: ByeCode) {
        link.close(code)
        service()
    }

    // MARK: Work

    /// Lets the link work until it waits.
    func service() {
        guard !isClosed else { return }
        guard connection.isOpen else {
            // Dialled and not answered in time, or ended before that.
            let end: LinkEnd = link.isOver ? .local(.done) : .handshakeTimeout
            if !link.isOver, loop.now < dialDeadline { return arm(at: dialDeadline) }
            return finish(.link(end))
        }
        // An event's handler may send a command, which comes here again: the outer call goes on with it.
        guard !isServicing else {
            isServiceDue = true
            return
        }
        isServicing = true
        defer { isServicing = false }
        repeat {
            isServiceDue = false
            work()
        } while isServiceDue && !isClosed
    }

    private func work() {
        while !isClosed {
            let now = loop.now
            let writable = writable(now: now)
            let payload = link.statistics.sentPayloadByteCount
            switch link.poll(now: now, writable: writable, source: manager.source) {
            case .transmit(let bytes):
                transmit(bytes, now: now)
                if link.statistics.sentPayloadByteCount > payload { manager.tookTurn(self) }
            case .event(let event): handle(event, now: now)
            case .wait(let deadline):
                // Requests that had just come have become ready in this poll.
                if writable <= 0, self.writable(now: now) > 0 { continue }
                arm(deadline, now: now)
                return
            }
        }
    }

    private func arm(at deadline: MonotonicInstant) {
        if deadline == .distantFuture { timer?.cancel() } else { timer?.arm(at: deadline) }
    }

    private func transmit(_ bytes: [UInt8], now: MonotonicInstant) {
        manager.uploaded(bytes.count, now: now)
        connection.write(bytes)
        if connection.queuedByteCount > Self.queueLimit { link.close(.silent) }
    }

    private func handle(_ event: LinkEvent, now: MonotonicInstant) {
        switch event {
        case .candidate(let peer, let bytes):
            switch manager.check(bytes[...], of: peer, for: self) {
            case .success(let certificate):
                self.certificate = certificate
                link.admit(now: now)
            case .failure(let refusal): link.refuse(refusal.code)
            }
        case .established(_, let hello):
            self.hello = hello
            manager.established(self)
        case .closed(let end): finish(.link(end))
        case .have, .claim, .recordRequested, .record, .leaves, .chunk, .rejected, .requestTimedOut, .choked,
            .unchoked, .peers, .roundTrip:
            manager.received(event, from: self)
        }
    }

    private func arm(_ deadline: MonotonicInstant?, now: MonotonicInstant) {
        var earliest = deadline ?? .distantFuture
        if link.readyChunkCount > 0 {
            if manager.isUploadMetered {
                manager.pumpWhenAllowed()
            } else if connection.queuedByteCount == 0 {
                // The pacer's window is full. The system does not tell when the other side acknowledges.
                let pause = (connection.roundTrip ?? .milliseconds(20)) / 4
                earliest = min(earliest, now.advanced(by: min(max(pause, .milliseconds(2)), .milliseconds(50))))
            }
        }
        arm(at: earliest)
    }

    private func writable(now: MonotonicInstant) -> Int {
        guard link.readyChunkCount > 0, isTransportReady(now: now) else { return 0 }
        return manager.mayUpload(self, now: now)
    }

    private func isTransportReady(now: MonotonicInstant) -> Bool {
        guard connection.queuedByteCount == 0 else { return false }
        guard pacer != nil else { return true }
        let inFlight = connection.kernelQueuedByteCount
        sample(inFlight: inFlight, now: now)
        return inFlight == 0 || inFlight + Self.dataFrameByteCount <= pacer?.window ?? .max
    }

    /// Shows the pacer the round trip, once in each.
    private func sample(inFlight: Int, now: MonotonicInstant) {
        guard now >= nextSample, let roundTrip = connection.roundTrip else { return }
        let acknowledged = connection.sentByteCount - inFlight
        pacer?.sample(roundTrip, acknowledged: max(0, acknowledged - acknowledgedAtSample), now: now)
        acknowledgedAtSample = acknowledged
        nextSample = now.advanced(by: max(roundTrip, .milliseconds(1)))
    }

    private func receive(_ bytes: RawSpan) {
        guard !isClosed else { return }
        let now = loop.now
        link.receive(bytes, now: now)
        if let pause = manager.downloaded(bytes.byteCount, now: now) { pauseReading(for: pause) }
        service()
    }

    private func pauseReading(for pause: Duration) {
        connection.pauseReading()
        if readTimer == nil {
            readTimer = LoopTimer(loop: loop) { [weak self] in self?.connection.resumeReading() }
        }
        readTimer?.arm(after: pause)
    }

    private func opened() {
        connection.setNotSentLowWater(Self.notSentLowWater)
        connection.startReading()
        service()
    }

    private func lost(_ error: LoopError) {
        link.connectionLost()
        finish(.connection(code: error.rawValue))
    }

    private func finish(_ end: PeerEnd) {
        guard !isClosed else { return }
        isClosed = true
        timer?.cancel()
        readTimer?.cancel()
        switch end {
        case .link(.local): manager.linger(connection)
        case .link, .connection, .closed: connection.close()
        }
        manager.ended(self, end)
    }

    /// Ends without a word to anybody: the manager goes.
    func abandon() {
        guard !isClosed else { return }
        isClosed = true
        timer?.cancel()
        readTimer?.cancel()
        connection.close()
    }
}
