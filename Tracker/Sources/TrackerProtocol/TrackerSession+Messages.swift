import CoreModel

extension TrackerSession {
    mutating func receive(
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

    mutating func receive(
        _ error: ControlError, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        if case .joined = state, error.code == .rateLimited {
            // Only a request was refused; the membership stands.
            outputs.append(.event(.refused(error)))
        } else {
            fail(.refused(error), now: now, using: &generator)
        }
    }

    mutating func join(
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

    mutating func enter(
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
    func renewal(
        of certificate: IssuedCertificate, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) -> MonotonicInstant {
        let life = Duration.seconds(Int64(max(certificate.validForSeconds, 3)))
        return now + jittered(life * 2 / 3, using: &generator)
    }

    /// The span ±10 %, so that viewers that came together don't act together for ever.
    func jittered(_ span: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        span * Double.random(in: 0.9...1.1, using: &generator)
    }
}
