public import CoreModel

/// A viewer's side of the control connection: which tracker to use, when to join, report, renew and try again.
///
/// Feed every input with ``handle(_:now:using:)``, then call ``poll()`` until it returns `.wait`, and do nothing before
/// the next input or that instant (then feed `.timeout`). `now` never goes backwards. Words: an *attempt* is one
/// connection, numbered by its ``ConnectionID``; inputs of earlier attempts are ignored. A *failure* ends an attempt and
/// keeps its tracker from being tried before a back-off, which doubles from 1 s to 5 min and is forgotten only after
/// the tracker has kept the viewer for a minute: one that accepts and closes is asked ever less often.
public struct TrackerSession: Sendable {
    /// Names one connection attempt.
    public struct ConnectionID: Hashable, Sendable {
        /// Counts from 1.
        public var number: UInt64
    }

    /// What happens outside.
    public enum Input: Sendable {
        /// Begin to look for a tracker.
        case start
        /// The connection is open.
        case connected(ConnectionID)
        /// A message came.
        case received(ConnectionID, [UInt8])
        /// The connection could not be made, or ended; also the answer to `.close`, which changes nothing any more.
        case disconnected(ConnectionID, reason: String)
        /// The instant of the last `.wait` has come.
        case timeout
        /// The viewer's figures, as of now.
        case snapshot(ViewerSnapshot)
        /// Report soon and not only when the interval is over: after a seek, or when playback begins.
        case reportSoon
        /// Ask for this many more peers; several wishes become one.
        case wantPeers(Int)
        /// The token was replaced; trackers that refused the old one are tried again.
        case token([UInt8])
        /// Say good-bye and stop.
        case stop
    }

    /// What the driver does.
    public enum Output: Sendable, Equatable {
        /// Open a connection to the tracker at this address.
        case connect(ConnectionID, url: String)
        /// Send a message.
        case send(ConnectionID, [UInt8])
        /// Close the connection, after what was sent.
        case close(ConnectionID)
        /// Tell the viewer.
        case event(Event)
        /// Nothing to do before this instant; `nil` means that only an input can make progress.
        case wait(until: MonotonicInstant?)
    }

    /// What the viewer learns.
    public enum Event: Sendable, Equatable {
        /// The standing changed.
        case state(TrackerState)
        /// A tracker admitted the viewer.
        case welcome(Welcome)
        /// Peers to connect to.
        case peers([PeerCandidate])
        /// Who fetches from the CDN, until this instant.
        case front(Front, validUntil: MonotonicInstant)
        /// The number of viewers in the swarm.
        case swarmSize(Int)
        /// The certificate was renewed.
        case certificate(IssuedCertificate)
        /// The tracker refused a request but keeps the connection.
        case refused(ControlError)
    }

    /// Who the viewer is and which trackers it may use.
    public struct Configuration: Sendable {
        /// Addresses of trackers, the preferred first.
        public var trackers: [String]
        /// The request to join; its start position and previous certificate are kept up to date by the session.
        public var request: JoinRequest
        /// The secret half of the request's claim key.
        public var claimKey: any SigningKey
        /// The only membership key accepted; `nil` accepts the tracker's word.
        public var membershipKey: VerificationKey?

        /// Makes a configuration.
        ///
        /// - Precondition: `claimKey` is the secret half of the request's claim key.
        public init(
            trackers: [String], request: JoinRequest, claimKey: any SigningKey, membershipKey: VerificationKey? = nil
        ) {
            precondition(
                claimKey.verificationKey == request.claimKey, "the claim key is another one than the request's")
            self.trackers = Array(trackers.prefix(TrackerSession.maximumTrackerCount))
            self.request = request
            self.claimKey = claimKey
            self.membershipKey = membershipKey
        }
    }

    /// Trackers used at most; later ones of a longer list are left out.
    public static let maximumTrackerCount = 16
    /// From the attempt to the welcome.
    static let joinTimeout: Duration = .seconds(10)
    /// The first back-off; it doubles with each failure.
    static let minimumBackOff: Duration = .seconds(1)
    /// The longest back-off.
    static let maximumBackOff: Duration = .seconds(300)
    /// A tracker that kept the viewer so long has its failures forgotten.
    static let stableAfter: Duration = .seconds(60)
    /// A longer wait that a tracker asks for is cut to this.
    static let maximumRetryAfter: Duration = .seconds(3600)
    /// The report interval is held within these, whatever the tracker says.
    static let reportIntervals: ClosedRange<Duration> = .seconds(2)...(.seconds(120))
    /// The first report follows the welcome so soon, because the join says little.
    static let firstReportAfter: Duration = .seconds(1)
    /// Between two reports, or two requests for peers, whoever asks.
    static let minimumSpacing: Duration = .seconds(1)
    /// A tracker answers each report; without a word for so many intervals it is given up.
    static let silentIntervals = 4
    /// From a request to renew to the next, when the first was not answered.
    static let renewalRetry: Duration = .seconds(60)
    /// How long a fallback is used before a preferred tracker is tried again.
    static let fallbackUse: Duration = .seconds(600)

    struct Tracker {
        var url: String
        var failureCount = 0
        var notBefore = MonotonicInstant.origin
        /// Refused for good.
        var hasRefused = false
    }

    struct Attempt {
        var id: ConnectionID
        var tracker: Int
        var deadline: MonotonicInstant
        var hasJoined = false
    }

    struct Membership {
        var id: ConnectionID
        var tracker: Int
        var since: MonotonicInstant
        var reportInterval: Duration
        var nextReport: MonotonicInstant
        var lastReport: MonotonicInstant
        var renewal: MonotonicInstant
        var silence: MonotonicInstant
        var wantedPeers = 0
        var nextWant: MonotonicInstant
        var frontGeneration: UInt64 = 0
        /// When to try a preferred tracker; never on the first.
        var preferredCheck: MonotonicInstant
    }

    enum State {
        case idle
        case waiting(until: MonotonicInstant)
        case attempting(Attempt)
        case joined(Membership)
        case refused
        case stopped
    }

    var configuration: Configuration
    var trackers: [Tracker]
    var state = State.idle
    var lastAttempt: UInt64 = 0
    var snapshot = ViewerSnapshot()
    /// What trackers have been told.
    var reported = ViewerSnapshot()
    var outputs: [Output] = []
    private var nextOutput = 0

    /// Makes a session that does nothing before `.start`.
    public init(configuration: Configuration) {
        self.configuration = configuration
        trackers = configuration.trackers.map { Tracker(url: $0) }
        snapshot.positionMilliseconds = configuration.request.startPositionMilliseconds
        reported = snapshot
    }

    /// How the viewer stands with its trackers, as last announced.
    public internal(set) var standing = TrackerState.idle

    /// Takes one input in.
    public mutating func handle(
        _ input: Input, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        switch input {
        case .start:
            if case .idle = state { proceed(now: now, reason: .timeout) }
        case .connected: break  // The tracker speaks first.
        case .received(let id, let bytes): receive(bytes, on: id, now: now, using: &generator)
        case .disconnected(let id, let reason):
            if id == currentConnection { fail(.connection(reason), now: now, using: &generator) }
        case .timeout: timeout(now: now, using: &generator)
        case .snapshot(let snapshot): self.snapshot = snapshot
        case .reportSoon:
            if case .joined(var membership) = state {
                membership.nextReport = min(
                    membership.nextReport, max(now, membership.lastReport + Self.minimumSpacing))
                state = .joined(membership)
                timeout(now: now, using: &generator)
            }
        case .wantPeers(let count):
            if case .joined(var membership) = state, count > 0 {
                membership.wantedPeers = min(
                    ControlProtocol.maximumPeerCount, max(membership.wantedPeers, count))
                state = .joined(membership)
                timeout(now: now, using: &generator)
            }
        case .token(let token): replaceToken(token, now: now)
        case .stop: stop()
        }
    }

    /// The next thing to do.
    public mutating func poll() -> Output {
        guard nextOutput < outputs.count else {
            outputs.removeAll(keepingCapacity: true)
            nextOutput = 0
            return .wait(until: deadline)
        }
        defer { nextOutput += 1 }
        return outputs[nextOutput]
    }

    /// The connection of the present attempt or membership.
    var currentConnection: ConnectionID? {
        switch state {
        case .attempting(let attempt): attempt.id
        case .joined(let membership): membership.id
        case .idle, .waiting, .refused, .stopped: nil
        }
    }

    private var deadline: MonotonicInstant? {
        switch state {
        case .idle, .refused, .stopped: nil
        case .waiting(let until): until
        case .attempting(let attempt): attempt.deadline
        case .joined(let membership):
            [
                membership.nextReport, membership.renewal, membership.silence, membership.preferredCheck,
                membership.wantedPeers > 0 ? membership.nextWant : .distantFuture,
            ].min()
        }
    }
}
