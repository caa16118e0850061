import CoreModel

extension TrackerSession {
    mutating func timeout(now: MonotonicInstant, using generator: inout some RandomNumberGenerator) {
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
