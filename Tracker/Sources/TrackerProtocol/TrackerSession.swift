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

    private struct Tracker {
        var url: String
        var failureCount = 0
        var notBefore = MonotonicInstant.origin
        /// Refused for good.
        var hasRefused = false
    }

    private struct Attempt {
        var id: ConnectionID
        var tracker: Int
        var deadline: MonotonicInstant
        var hasJoined = false
    }

    private struct Membership {
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

    private enum State {
        case idle
        case waiting(until: MonotonicInstant)
        case attempting(Attempt)
        case joined(Membership)
        case refused
        case stopped
    }

    private var configuration: Configuration
    private var trackers: [Tracker]
    private var state = State.idle
    private var lastAttempt: UInt64 = 0
    private var snapshot = ViewerSnapshot()
    /// What trackers have been told.
    private var reported = ViewerSnapshot()
    private var outputs: [Output] = []
    private var nextOutput = 0

    /// Makes a session that does nothing before `.start`.
    public init(configuration: Configuration) {
        self.configuration = configuration
        trackers = configuration.trackers.map { Tracker(url: $0) }
        snapshot.positionMilliseconds = configuration.request.startPositionMilliseconds
        reported = snapshot
    }

    /// How the viewer stands with its trackers, as last announced.
    public private(set) var standing = TrackerState.idle

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
    private var currentConnection: ConnectionID? {
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

// MARK: - Choosing a tracker

extension TrackerSession {
    /// Tries the tracker that may be tried first (the earlier in the list of two), or waits for it.
    private mutating func proceed(now: MonotonicInstant, reason: TrackerFailure) {
        let usable = trackers.indices.filter { !trackers[$0].hasRefused }
        guard let choice = usable.min(by: { notBefore($0, now) < notBefore($1, now) }) else {
            state = .refused
            announce(.refused(reason: reason))
            return
        }
        let start = notBefore(choice, now)
        guard start <= now else {
            state = .waiting(until: start)
            announce(.waiting(until: start, reason: reason))
            return
        }
        lastAttempt += 1
        let id = ConnectionID(number: lastAttempt)
        state = .attempting(Attempt(id: id, tracker: choice, deadline: now + Self.joinTimeout))
        announce(.connecting(url: trackers[choice].url))
        outputs.append(.connect(id, url: trackers[choice].url))
    }

    private func notBefore(_ tracker: Int, _ now: MonotonicInstant) -> MonotonicInstant {
        max(trackers[tracker].notBefore, now)
    }

    /// Ends the present attempt or membership because of `failure`, and looks for another tracker.
    private mutating func fail(
        _ failure: TrackerFailure, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        let tracker: Int
        switch state {
        case .attempting(let attempt):
            tracker = attempt.tracker
        case .joined(let membership):
            tracker = membership.tracker
            if membership.since.duration(to: now) >= Self.stableAfter { trackers[tracker].failureCount = 0 }
        case .idle, .waiting, .refused, .stopped: return
        }
        if let id = currentConnection { outputs.append(.close(id)) }
        var delay = Duration.zero
        if failure != .returningToPreferred {
            trackers[tracker].failureCount += 1
            delay = backOff(failures: trackers[tracker].failureCount, using: &generator)
        }
        if case .refused(let error) = failure {
            if error.retryAfterMilliseconds == ControlError.never {
                trackers[tracker].hasRefused = true
            } else {
                let asked = min(Duration.milliseconds(Int64(error.retryAfterMilliseconds)), Self.maximumRetryAfter)
                delay = max(delay, asked)
            }
        }
        trackers[tracker].notBefore = now + delay
        proceed(now: now, reason: failure)
    }

    /// 1 s, 2 s, 4 s … 5 min, each times 0.5 to 1.5, so that viewers that lost a tracker together don't return together.
    private func backOff(failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let doubled = Self.minimumBackOff * Double(UInt64(1) << UInt64(min(max(failures - 1, 0), 20)))
        return min(doubled, Self.maximumBackOff) * Double.random(in: 0.5...1.5, using: &generator)
    }

    private mutating func replaceToken(_ token: [UInt8], now: MonotonicInstant) {
        guard token != configuration.request.token else { return }
        configuration.request.token = token
        for index in trackers.indices where trackers[index].hasRefused {
            trackers[index].hasRefused = false
            trackers[index].failureCount = 0
            trackers[index].notBefore = now
        }
        switch state {
        case .refused, .waiting: proceed(now: now, reason: .timeout)
        case .idle, .attempting, .joined, .stopped: break
        }
    }

    private mutating func stop() {
        if case .joined(let membership) = state {
            outputs.append(.send(membership.id, ViewerMessage.leave.encoded()))
        }
        if let id = currentConnection { outputs.append(.close(id)) }
        state = .stopped
        announce(.stopped)
    }

    private mutating func announce(_ standing: TrackerState) {
        self.standing = standing
        outputs.append(.event(.state(standing)))
    }
}

// MARK: - Messages

extension TrackerSession {
    private mutating func receive(
        _ bytes: [UInt8], on id: ConnectionID, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        guard id == currentConnection else { return }
        let message: TrackerMessage?
        do {
            message = try TrackerMessage.decode(bytes[...])
        } catch {
            fail(.malformed(error), now: now, using: &generator)
            return
        }
        if case .error(let error) = message {
            receive(error, now: now, using: &generator)
            return
        }
        switch state {
        case .attempting(let attempt):
            switch message {
            case .challenge(let challenge): join(challenge, attempt, now: now, using: &generator)
            case .welcome(let welcome): enter(welcome, attempt, now: now, using: &generator)
            case nil: break
            case .peers, .front, .swarm, .certificate, .error:
                fail(.unexpectedMessage, now: now, using: &generator)
            }
        case .joined(var membership):
            membership.silence = now + membership.reportInterval * Self.silentIntervals
            switch message {
            case .peers(let peers): outputs.append(.event(.peers(peers)))
            case .front(let front):
                // A lower generation was overtaken; the same one again extends its validity.
                if front.generation >= membership.frontGeneration {
                    membership.frontGeneration = front.generation
                    let validUntil = now + .milliseconds(Int64(front.validForMilliseconds))
                    outputs.append(.event(.front(front, validUntil: validUntil)))
                }
            case .swarm(let size): outputs.append(.event(.swarmSize(Int(size))))
            case .certificate(let certificate):
                configuration.request.previousCertificate = certificate.bytes
                membership.renewal = renewal(of: certificate, now: now, using: &generator)
                outputs.append(.event(.certificate(certificate)))
            case nil: break
            case .challenge, .welcome, .error:
                fail(.unexpectedMessage, now: now, using: &generator)
                return
            }
            state = .joined(membership)
        case .idle, .waiting, .refused, .stopped: break
        }
    }

    private mutating func receive(
        _ error: ControlError, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        if case .joined = state, error.code == .rateLimited {
            // Only a request was refused; the membership stands.
            outputs.append(.event(.refused(error)))
        } else {
            fail(.refused(error), now: now, using: &generator)
        }
    }

    private mutating func join(
        _ challenge: Challenge, _ attempt: Attempt, now: MonotonicInstant,
        using generator: inout some RandomNumberGenerator
    ) {
        var attempt = attempt
        guard !attempt.hasJoined else { return fail(.unexpectedMessage, now: now, using: &generator) }
        guard
            (challenge.lowestVersion...max(challenge.lowestVersion, challenge.highestVersion))
                .contains(ControlProtocol.version)
        else { return fail(.unsupportedVersion, now: now, using: &generator) }
        attempt.hasJoined = true
        state = .attempting(attempt)
        configuration.request.startPositionMilliseconds = snapshot.positionMilliseconds
        let request = configuration.request
        let statement = ControlProtocol.joinStatement(challenge: challenge.nonce, request: request)
        let signature = configuration.claimKey.sign(statement)
        outputs.append(.send(attempt.id, ViewerMessage.join(request, signature: signature).encoded()))
    }

    private mutating func enter(
        _ welcome: Welcome, _ attempt: Attempt, now: MonotonicInstant,
        using generator: inout some RandomNumberGenerator
    ) {
        guard attempt.hasJoined else { return fail(.unexpectedMessage, now: now, using: &generator) }
        if let key = configuration.membershipKey, key != welcome.membershipKey {
            return fail(.wrongMembershipKey(welcome.membershipKey), now: now, using: &generator)
        }
        let asked = Duration.milliseconds(Int64(welcome.reportIntervalMilliseconds))
        let interval = min(max(asked, Self.reportIntervals.lowerBound), Self.reportIntervals.upperBound)
        configuration.request.previousCertificate = welcome.certificate.bytes
        let hasPreferred = trackers[..<attempt.tracker].contains { !$0.hasRefused }
        state = .joined(
            Membership(
                id: attempt.id, tracker: attempt.tracker, since: now, reportInterval: interval,
                nextReport: now + jittered(Self.firstReportAfter, using: &generator), lastReport: now,
                renewal: renewal(of: welcome.certificate, now: now, using: &generator),
                silence: now + interval * Self.silentIntervals, nextWant: now,
                preferredCheck: hasPreferred
                    ? now + jittered(Self.fallbackUse, using: &generator) : .distantFuture))
        announce(.joined(url: trackers[attempt.tracker].url))
        outputs.append(.event(.welcome(welcome)))
        outputs.append(.event(.swarmSize(Int(welcome.swarmSize))))
    }

    /// After two thirds of the life that is left.
    private func renewal(
        of certificate: IssuedCertificate, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) -> MonotonicInstant {
        let life = Duration.seconds(Int64(max(certificate.validForSeconds, 3)))
        return now + jittered(life * 2 / 3, using: &generator)
    }

    /// The span ±10 %, so that viewers that came together don't act together for ever.
    private func jittered(_ span: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        span * Double.random(in: 0.9...1.1, using: &generator)
    }
}

// MARK: - Time

extension TrackerSession {
    private mutating func timeout(now: MonotonicInstant, using generator: inout some RandomNumberGenerator) {
        switch state {
        case .idle, .refused, .stopped: break
        case .waiting(let until):
            if now >= until { proceed(now: now, reason: .timeout) }
        case .attempting(let attempt):
            if now >= attempt.deadline { fail(.timeout, now: now, using: &generator) }
        case .joined(var membership):
            if now >= membership.silence { return fail(.silent, now: now, using: &generator) }
            if now >= membership.preferredCheck {
                if trackers[..<membership.tracker].contains(where: { !$0.hasRefused && $0.notBefore <= now }) {
                    outputs.append(.send(membership.id, ViewerMessage.leave.encoded()))
                    return fail(.returningToPreferred, now: now, using: &generator)
                }
                membership.preferredCheck = now + jittered(Self.fallbackUse, using: &generator)
            }
            if now >= membership.nextReport {
                let report = snapshot.report(since: reported)
                reported = snapshot
                membership.lastReport = now
                membership.nextReport = now + jittered(membership.reportInterval, using: &generator)
                outputs.append(.send(membership.id, ViewerMessage.report(report).encoded()))
            }
            if membership.wantedPeers > 0, now >= membership.nextWant {
                let count = UInt8(membership.wantedPeers)
                membership.wantedPeers = 0
                membership.nextWant = now + Self.minimumSpacing
                outputs.append(.send(membership.id, ViewerMessage.wantPeers(count: count).encoded()))
            }
            if now >= membership.renewal {
                membership.renewal = now + jittered(Self.renewalRetry, using: &generator)
                outputs.append(.send(membership.id, ViewerMessage.renew.encoded()))
            }
            state = .joined(membership)
        }
    }
}
