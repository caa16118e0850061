import CoreModel

extension TrackerSession {
    /// Tries the tracker that may be tried first (the earlier in the list of two), or waits for it.
    mutating func proceed(now: MonotonicInstant, reason: TrackerFailure) {
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

    func notBefore(_ tracker: Int, _ now: MonotonicInstant) -> MonotonicInstant {
        max(trackers[tracker].notBefore, now)
    }

    /// Ends the present attempt or membership because of `failure`, and looks for another tracker.
    mutating func fail(
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
    func backOff(failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let doubled = Self.minimumBackOff * Double(UInt64(1) << UInt64(min(max(failures - 1, 0), 20)))
        return min(doubled, Self.maximumBackOff) * Double.random(in: 0.5...1.5, using: &generator)
    }

    mutating func replaceToken(_ token: [UInt8], now: MonotonicInstant) {
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

    mutating func stop() {
        if case .joined(let membership) = state {
            outputs.append(.send(membership.id, ViewerMessage.leave.encoded()))
        }
        if let id = currentConnection { outputs.append(.close(id)) }
        state = .stopped
        announce(.stopped)
    }

    mutating func announce(_ standing: TrackerState) {
        self.standing = standing
        outputs.append(.event(.state(standing)))
    }
}
