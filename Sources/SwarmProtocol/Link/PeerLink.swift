public import CoreModel

/// One end of a link between two peers: handshake, frames, requests and answers.
///
/// Feed it with ``receive(_:now:)`` and the commands; after each input call ``poll(now:writable:source:)`` until it
/// returns `.wait`, then do nothing before the next input or the given instant. `now` never goes backwards.
///
/// What it tracks:
/// - *Outgoing requests*: chunks that this side asked for. Each ends in one chunk or one reject, also after a cancel; a
///   peer that leaves one open past its time and a grace is dropped.
/// - *Incoming requests*: chunks that the other side asked for. A chunk is *fresh* until the source was asked about it,
///   *ready* when the source had it, *standing* while the source expects it. Chunks go out earliest deadline first, one
///   data frame for each time that the transport has room, and control frames before them. What the source has to bring
///   back first it is asked for when it could be sent, a stripe at a time: a side that takes nothing makes no work.
/// - *Gossip points*: a bucket that each frame drains which the other side may send unasked, so that a flood ends the
///   link (have and record request 4 points, peers 20, a request that is rejected at once 1, one that ends while its
///   chunks are being brought back 1, the others 1).
///
/// Bounded by ``WireLimits`` and ``LinkConfiguration``: an idle link is this struct and nothing on the heap.
public struct PeerLink: Sendable {
    enum State {
        /// The responder waits for the first two bytes.
        case awaitingPreamble(ephemeralSeed: Bytes32)
        /// Handshake messages go back and forth.
        case handshaking(HandshakeBox)
        /// The driver looks at the certificate that came in a handshake message.
        case awaitingAdmission(HandshakeBox)
        /// The driver looks at the certificate that came in a hello: XX's initiator.
        case awaitingHelloAdmission(HelloFrame)
        /// The keys are there; the other side's hello is not.
        case opening(isCertificateAwaited: Bool)
        /// Both have said hello.
        case established
        /// The last frame is on its way out; `end` is told after it.
        case closing(LinkEnd)
        /// Over.
        case closed
    }

    /// The handshake, on the heap so that an established link doesn't carry its room. Never shared by two links.
    final class HandshakeBox: Sendable {
        let handshake: NoiseHandshake
        init(_ handshake: NoiseHandshake) { self.handshake = handshake }
    }

    /// Who this side is.
    public let identity: LinkIdentity
    /// Which side opened the connection.
    public let role: NoiseRole
    /// What has been moved.
    public internal(set) var statistics = LinkStatistics()
    /// Whether this side rejects new requests.
    public private(set) var isChoking = false
    /// Whether the other side said that it rejects new requests.
    public internal(set) var isChoked = false
    /// Whether chunks that the other side waits for wait until others were brought back.
    var hasStoredChunks = false
    /// Chunks that may be outstanding at the other side.
    public internal(set) var peerQueueLimit: UInt16 = 0

    var state: State
    var transport: NoiseTransport?
    /// The other side's name, or whom this side wants to be there.
    var remoteKey: PeerID?
    /// The beginning of a message whose end hasn't come; while waiting for admission, all that came after.
    var input: [UInt8] = []
    /// Handshake bytes to send.
    var rawOutput: [UInt8] = []
    /// Frames to send, encoded, and the bytes in them: the first one apart, which mostly is the only one.
    var firstControl: [UInt8] = []
    var controlQueue: [[UInt8]] = []
    var controlByteCount = 0
    /// Events to tell, the next one first.
    var events: [LinkEvent] = []
    var nextEvent = 0
    var outgoing: [OutgoingRequest] = []
    /// Whose leaves have come; the next chunk belongs to them.
    var announcedLeaves: (root: Digest, stripe: Int)?
    var incoming: [IncomingRequest] = []
    var records: [OutgoingRecordRequest] = []
    var gossip: TokenBucket
    var chokeUntil: MonotonicInstant = .origin
    var handshakeDeadline: MonotonicInstant
    var lastReceived: MonotonicInstant
    var pingToken: UInt32 = 0
    var pingSent: MonotonicInstant?

    /// Opens a link over a connection that has been made.
    ///
    /// - Parameters:
    ///   - peer: The other side's name, when a tracker or a peer gave it: the handshake is then one round trip (IK);
    ///     without it, XX.
    ///   - generator: The source of the ephemeral key; cryptographically secure in production.
    public init(
        connectingTo peer: PeerID?, identity: LinkIdentity, now: MonotonicInstant,
        using generator: inout some RandomNumberGenerator
    ) {
        let pattern: NoisePattern = peer == nil ? .xx : .ik
        let preamble = LinkPreamble(pattern: pattern)
        var handshake = Self.makeHandshake(
            preamble: preamble, role: .initiator, peer: peer, identity: identity, seed: Self.makeSeed(using: &generator)
        )
        let message: [UInt8]
        do {
            message = try handshake.writeMessage(payload: pattern == .ik ? identity.certificate : [])
        } catch {
            // The given key is no key: nobody can own it.
            self.init(role: .initiator, identity: identity, state: .closing(.handshake(error)), now: now)
            remoteKey = peer
            return
        }
        self.init(role: .initiator, identity: identity, state: .handshaking(HandshakeBox(handshake)), now: now)
        remoteKey = peer
        rawOutput = preamble.bytes
        appendHandshake(message)
    }

    /// Answers on a connection that the other side has made.
    ///
    /// - Parameter generator: The source of the ephemeral key; cryptographically secure in production.
    public init(
        acceptingWith identity: LinkIdentity, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        self.init(
            role: .responder, identity: identity,
            state: .awaitingPreamble(ephemeralSeed: Self.makeSeed(using: &generator)), now: now)
    }

    private init(role: NoiseRole, identity: LinkIdentity, state: State, now: MonotonicInstant) {
        self.role = role
        self.identity = identity
        self.state = state
        gossip = TokenBucket(capacity: identity.configuration.gossipBurst, now: now)
        handshakeDeadline = now.advanced(by: identity.configuration.handshakeTimeout)
        lastReceived = now
    }

    /// The other side's name, once its handshake has proved it.
    public var peer: PeerID? {
        // An initiator that was given a name has the keys only when the other side owns it.
        role == .initiator && transport == nil ? nil : remoteKey
    }

    /// Whether both sides have said hello and neither goodbye.
    public var isEstablished: Bool {
        if case .established = state { return true }
        return false
    }

    /// Whether the link is over or about to be.
    public var isOver: Bool {
        switch state {
        case .closing, .closed: true
        case .awaitingPreamble, .handshaking, .awaitingAdmission, .awaitingHelloAdmission, .opening, .established:
            false
        }
    }

    /// Chunks that this side waits for.
    public var outstandingChunkCount: Int { outgoing.reduce(0) { $0 + $1.outstanding.count } }

    /// Chunks that the other side waits for and that can be sent now.
    public var readyChunkCount: Int { incoming.reduce(0) { $0 + $1.ready.count } }

    /// Whether there are such.
    var hasReadyChunks: Bool {
        for index in incoming.indices where !incoming[index].ready.isEmpty { return true }
        return false
    }

    /// Whether requests wait for chunks that are expected.
    var hasStandingChunks: Bool {
        for index in incoming.indices where !incoming[index].standing.isEmpty { return true }
        return false
    }

    /// How much the most urgent request that has such chunks needs them; in place, since a link is large to copy.
    mutating func readyNeed() -> UploadNeed { mostUrgent().map { incoming[$0].need } ?? .none }

    /// Ends the link: what is queued is dropped, events too, a bye goes out, and then ``LinkEvent/closed(_:)`` is told.
    public mutating func close(_ code: ByeCode) {
        guard !isOver else { return }
        events = []
        nextEvent = 0
        close(.local(code), saying: code)
    }

    /// Takes note that the connection is gone. No event follows.
    public mutating func connectionLost() {
        dropEverything()
        state = .closed
    }

    /// Sends a frame that needs no table: have, claim, peers, and the like.
    ///
    /// - Returns: false when the link is not established; the frame is then dropped.
    @discardableResult
    public mutating func send(_ frame: Frame) -> Bool { send(encoded: frame.encoded) }

    /// Sends a frame that was encoded for several links at once.
    @discardableResult
    public mutating func send(encoded frame: [UInt8]) -> Bool {
        guard isEstablished else { return false }
        enqueue(frame)
        return true
    }

    /// Rejects new requests for a while; those that are queued stay.
    public mutating func choke(for pause: Duration, now: MonotonicInstant) {
        chokeUntil = now.advanced(by: min(pause, WireLimits.retryAfter))
        guard !isChoking else { return }
        isChoking = true
        send(.choke(retryAfter: min(pause, WireLimits.retryAfter)))
    }

    /// Takes requests again.
    public mutating func unchoke() {
        guard isChoking else { return }
        isChoking = false
        send(.unchoke)
    }

    /// Measures the round trip, unless that is under way.
    public mutating func probe(now: MonotonicInstant) {
        guard isEstablished, pingSent == nil else { return }
        pingToken &+= 1
        pingSent = now
        enqueue(.ping(pingToken))
    }

    // MARK: Pieces that the other files use

    mutating func enqueue(_ frame: Frame) { enqueue(frame.encoded) }

    mutating func enqueue(_ frame: [UInt8]) {
        if firstControl.isEmpty { firstControl = frame } else { controlQueue.append(frame) }
        controlByteCount += frame.count
        if controlByteCount > identity.configuration.controlByteLimit { finish(.local(.flood)) }
    }

    mutating func tell(_ event: LinkEvent) { events.append(event) }

    /// Ends the link because the other side broke a rule; what it sent before that is still told.
    mutating func violate(_ code: ByeCode) { close(.local(code), saying: code) }

    /// Ends the link with a last frame, when there are keys to send one.
    mutating func close(_ end: LinkEnd, saying code: ByeCode) {
        guard !isOver else { return }
        let canSpeak: Bool
        switch state {
        case .awaitingHelloAdmission, .opening, .established: canSpeak = true
        case .awaitingPreamble, .handshaking, .awaitingAdmission, .closing, .closed: canSpeak = false
        }
        dropEverything()
        state = .closing(end)
        if canSpeak {
            firstControl = Frame.bye(code).encoded
            controlByteCount = firstControl.count
        }
    }

    /// Ends the link without a word.
    mutating func finish(_ end: LinkEnd) {
        guard !isOver else { return }
        dropEverything()
        state = .closing(end)
    }

    private mutating func dropEverything() {
        input = []
        rawOutput = []
        firstControl = []
        controlQueue = []
        controlByteCount = 0
        outgoing = []
        incoming = []
        records = []
    }

    /// Gives back the room of requests that have ended: most links are quiet most of the time.
    mutating func releaseRequestStorage() {
        if outgoing.isEmpty { outgoing = [] }
        if incoming.isEmpty { incoming = [] }
    }

    /// Gives back the room that a burst left behind.
    mutating func releaseStorage() {
        if input.isEmpty { input = [] }
        if controlQueue.isEmpty { controlQueue = [] }
        if outgoing.isEmpty { outgoing = [] }
        if incoming.isEmpty { incoming = [] }
        if records.isEmpty { records = [] }
    }

    static func makeSeed(using generator: inout some RandomNumberGenerator) -> Bytes32 {
        Bytes32(words: (generator.next(), generator.next(), generator.next(), generator.next()))
    }

    static func makeHandshake(
        preamble: LinkPreamble, role: NoiseRole, peer: PeerID?, identity: LinkIdentity, seed: Bytes32
    ) -> NoiseHandshake {
        NoiseHandshake(
            pattern: preamble.pattern, role: role, staticKey: identity.key, remoteKey: peer,
            prologue: preamble.prologue(swarm: identity.swarm), ephemeralSeed: seed, suite: identity.suite)
    }
}
