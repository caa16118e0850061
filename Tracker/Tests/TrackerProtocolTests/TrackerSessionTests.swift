import CoreModel
import Cryptography
import Testing

@testable import TrackerProtocol

/// A session with the driver's part played by hand, in virtual time.
private struct Script {
    var session: TrackerSession
    var now = MonotonicInstant.origin + .seconds(100)
    var generator = SeededGenerator(seed: 1)
    /// What the session wants at last.
    var deadline: MonotonicInstant?

    init(trackers: [String] = ["a"], membershipKey: VerificationKey? = nil) {
        session = TrackerSession(
            configuration: TrackerSession.Configuration(
                trackers: trackers, request: Samples.request, claimKey: Samples.claimKey,
                membershipKey: membershipKey))
    }

    mutating func feed(_ input: TrackerSession.Input) -> [TrackerSession.Output] {
        session.handle(input, now: now, using: &generator)
        return drain()
    }

    mutating func drain() -> [TrackerSession.Output] {
        var outputs: [TrackerSession.Output] = []
        while true {
            let output = session.poll()
            if case .wait(let until) = output {
                deadline = until
                return outputs
            }
            outputs.append(output)
        }
    }

    /// Jumps to the instant the session waits for.
    mutating func sleep() -> [TrackerSession.Output] {
        guard let deadline else { return [] }
        now = max(now, deadline)
        return feed(.timeout)
    }

    mutating func receive(_ message: TrackerMessage, on id: Int) -> [TrackerSession.Output] {
        feed(.received(TrackerSession.ConnectionID(number: UInt64(id)), message.encoded()))
    }

    mutating func join(_ id: Int, welcome: Welcome = Samples.welcome()) -> [TrackerSession.Output] {
        _ = feed(.connected(TrackerSession.ConnectionID(number: UInt64(id))))
        _ = receive(.challenge(Challenge(nonce: Samples.key(0xAA))), on: id)
        return receive(.welcome(welcome), on: id)
    }

    mutating func lose(_ id: Int) -> [TrackerSession.Output] {
        feed(.disconnected(TrackerSession.ConnectionID(number: UInt64(id)), reason: "gone"))
    }
}

private func id(_ number: UInt64) -> TrackerSession.ConnectionID { TrackerSession.ConnectionID(number: number) }

private func urls(_ outputs: [TrackerSession.Output]) -> [String] {
    outputs.compactMap { if case .connect(_, let url) = $0 { url } else { nil } }
}

private func messages(_ outputs: [TrackerSession.Output]) -> [ViewerMessage] {
    outputs.compactMap {
        if case .send(_, let bytes) = $0 { try? ViewerMessage(decoding: bytes[...]) } else { nil }
    }
}

struct TrackerSessionTests {
    @Test func `A viewer joins with a signature over the challenge`() throws {
        var script = Script()
        #expect(
            script.feed(.start) == [.event(.state(.connecting(url: "a"))), .connect(id(1), url: "a")])
        #expect(script.deadline == script.now + TrackerSession.joinTimeout)
        let outputs = script.receive(.challenge(Challenge(nonce: Samples.key(0xAA))), on: 1)
        guard case .join(let request, let signature) = messages(outputs).first else {
            Issue.record("no join in \(outputs)")
            return
        }
        #expect(request == Samples.request)
        let statement = ControlProtocol.joinStatement(challenge: Samples.key(0xAA), request: request)
        #expect(Samples.suite.isValid(signature, of: statement, by: request.claimKey))
        #expect(
            script.receive(.welcome(Samples.welcome()), on: 1) == [
                .event(.state(.joined(url: "a"))), .event(.welcome(Samples.welcome())),
                .event(.swarmSize(17)),
            ])
        #expect(script.session.standing == .joined(url: "a"))
    }

    @Test func `Reports carry what the totals grew by`() {
        var script = Script()
        _ = script.feed(.start)
        _ = script.join(1)
        var snapshot = ViewerSnapshot()
        snapshot.positionMilliseconds = 91_000
        snapshot.bytesFromCDN = 1000
        _ = script.feed(.snapshot(snapshot))
        #expect(
            messages(script.sleep()) == [
                .report(ViewerReport(isPlaying: true, positionMilliseconds: 91_000, bytesFromCDN: 1000))
            ])
        let sent = script.now
        snapshot.bytesFromCDN = 1500
        snapshot.bytesUploaded = 70
        snapshot.isPlaying = false
        _ = script.feed(.snapshot(snapshot))
        _ = script.receive(.swarm(size: 3), on: 1)
        #expect(
            messages(script.sleep()) == [
                .report(
                    ViewerReport(
                        isPlaying: false, positionMilliseconds: 91_000, bytesFromCDN: 500, bytesUploaded: 70))
            ])
        #expect((Duration.seconds(9)...Duration.seconds(11)).contains(sent.duration(to: script.now)))
    }

    @Test func `A report asked for comes soon, but no two within a second`() {
        var script = Script()
        _ = script.feed(.start)
        _ = script.join(1)
        _ = script.sleep()
        #expect(messages(script.feed(.reportSoon)).isEmpty)
        #expect(script.deadline == script.now + TrackerSession.minimumSpacing)
        #expect(messages(script.sleep()).count == 1)
        script.now = script.now + .seconds(5)
        #expect(messages(script.feed(.reportSoon)).count == 1)
    }

    @Test func `Wishes for peers become one message a second`() {
        var script = Script()
        _ = script.feed(.start)
        _ = script.join(1)
        #expect(messages(script.feed(.wantPeers(10))) == [.wantPeers(count: 10)])
        #expect(messages(script.feed(.wantPeers(5))).isEmpty)
        #expect(messages(script.feed(.wantPeers(1000))).isEmpty)
        script.now = script.now + .seconds(1)
        #expect(messages(script.feed(.timeout)).contains(.wantPeers(count: 64)))
    }

    @Test func `The certificate is renewed at two thirds of its life and serves the next join`() {
        var script = Script()
        _ = script.feed(.start)
        _ = script.join(1, welcome: Samples.welcome(reportInterval: 120_000, certificateLife: 1800))
        let joined = script.now
        var renewals = 0
        while renewals == 0, script.now < joined + .seconds(3000) {
            renewals += messages(script.sleep()).count { $0 == .renew }
            _ = script.receive(.swarm(size: 1), on: 1)
        }
        #expect((Duration.seconds(1080)...Duration.seconds(1320)).contains(joined.duration(to: script.now)))
        let renewed = IssuedCertificate(bytes: [7, 7], validForSeconds: 1800)
        #expect(script.receive(.certificate(renewed), on: 1) == [.event(.certificate(renewed))])
        _ = script.lose(1)
        #expect(urls(script.sleep()) == ["a"])
        let outputs = script.receive(.challenge(Challenge(nonce: Samples.key(1))), on: 2)
        guard case .join(let request, _) = messages(outputs).first else {
            Issue.record("no join in \(outputs)")
            return
        }
        #expect(request.previousCertificate == [7, 7])
    }

    @Test func `A front that was overtaken is left out, a repeated one extends its validity`() {
        var script = Script()
        _ = script.feed(.start)
        _ = script.join(1)
        let until = script.now + .seconds(60)
        #expect(
            script.receive(.front(Samples.front), on: 1) == [
                .event(.front(Samples.front, validUntil: until))
            ])
        var older = Samples.front
        older.generation = 4
        #expect(script.receive(.front(older), on: 1).isEmpty)
        #expect(script.receive(.front(Samples.front), on: 1).count == 1)
    }
}

/// Trackers that fail.
struct TrackerFailoverTests {
    @Test func `The next tracker is tried at once, then the first again after its back-off`() {
        var script = Script(trackers: ["a", "b"])
        _ = script.feed(.start)
        #expect(
            script.lose(1) == [
                .close(id(1)), .event(.state(.connecting(url: "b"))), .connect(id(2), url: "b"),
            ])
        let outputs = script.lose(2)
        #expect(urls(outputs).isEmpty)
        guard case .waiting(let until, .connection("gone")) = script.session.standing else {
            Issue.record("not waiting: \(script.session.standing)")
            return
        }
        #expect(until <= script.now + .milliseconds(1500))
        #expect(urls(script.sleep()).count == 1)
    }

    @Test func `A tracker that accepts and closes is asked ever less often`() {
        var script = Script()
        _ = script.feed(.start)
        let start = script.now
        var attempts = 1
        while script.now < start + .seconds(3600) {
            // It even welcomes, and closes then.
            _ = script.join(attempts)
            _ = script.lose(attempts)
            attempts += urls(script.sleep()).count
        }
        #expect(attempts < 30)
        var last = script.now
        _ = script.lose(attempts)
        _ = script.sleep()
        swap(&last, &script.now)
        #expect(script.now.duration(to: last) >= .seconds(150))
    }

    @Test func `A tracker that kept the viewer for a minute is asked again within two seconds`() {
        var script = Script()
        _ = script.feed(.start)
        for attempt in 1...8 {
            _ = script.lose(attempt)
            _ = script.sleep()
        }
        _ = script.join(9)
        let joined = script.now
        while script.now < joined + .seconds(61) {
            _ = script.sleep()
            _ = script.receive(.swarm(size: 1), on: 9)
        }
        _ = script.lose(9)
        #expect(script.deadline.map { $0 <= script.now + .seconds(2) } == true)
    }

    @Test func `No welcome within ten seconds is a failure`() {
        var script = Script()
        _ = script.feed(.start)
        script.now = script.now + TrackerSession.joinTimeout
        #expect(script.feed(.timeout).first == .close(id(1)))
        guard case .waiting(_, .timeout) = script.session.standing else {
            Issue.record("not waiting: \(script.session.standing)")
            return
        }
    }

    @Test func `A silent tracker is given up after four intervals`() {
        var script = Script()
        _ = script.feed(.start)
        _ = script.join(1)
        let joined = script.now
        while script.session.standing == .joined(url: "a") { _ = script.sleep() }
        #expect(joined.duration(to: script.now) == .seconds(40))
        guard case .waiting(_, .silent) = script.session.standing else {
            Issue.record("not waiting: \(script.session.standing)")
            return
        }
    }

    @Test func `A refusal for good ends the attempts until the token changes`() {
        var script = Script()
        _ = script.feed(.start)
        let error = ControlError(code: .tokenInvalid, retryAfterMilliseconds: ControlError.never)
        _ = script.receive(.error(error), on: 1)
        #expect(script.session.standing == .refused(reason: .refused(error)))
        #expect(script.deadline == nil)
        #expect(urls(script.feed(.token([9]))) == ["a"])
    }

    @Test func `A tracker's retry-after is kept to, up to an hour`() {
        var script = Script()
        _ = script.feed(.start)
        _ = script.receive(.error(ControlError(code: .full, retryAfterMilliseconds: 600_000)), on: 1)
        #expect(script.deadline == script.now + .seconds(600))
        _ = script.sleep()
        _ = script.receive(.error(ControlError(code: .full, retryAfterMilliseconds: 86_400_000)), on: 2)
        #expect(script.deadline == script.now + .seconds(3600))
    }

    @Test func `A tracker with another membership key is not believed`() {
        var script = Script(membershipKey: Samples.request.claimKey)
        _ = script.feed(.start)
        let outputs = script.join(1)
        #expect(outputs.first == .close(id(1)))
        guard case .waiting(_, .wrongMembershipKey(Samples.membershipKey)) = script.session.standing else {
            Issue.record("not waiting: \(script.session.standing)")
            return
        }
    }

    @Test(arguments: [
        TrackerMessage.swarm(size: 1).encoded(), TrackerMessage.welcome(Samples.welcome()).encoded(), [0x41], [],
        TrackerMessage.challenge(Challenge(lowestVersion: 2, highestVersion: 3, nonce: .zero)).encoded(),
        TrackerMessage.challenge(Challenge(lowestVersion: 3, highestVersion: 2, nonce: .zero)).encoded(),
    ])
    func `A tracker that breaks the protocol is left`(bytes: [UInt8]) {
        var script = Script(trackers: ["a", "b"])
        _ = script.feed(.start)
        #expect(urls(script.feed(.received(id(1), bytes))) == ["b"])
    }

    @Test func `From a fallback the viewer returns to the preferred tracker, and back when that fails`() {
        var script = Script(trackers: ["a", "b"])
        _ = script.feed(.start)
        _ = script.lose(1)
        _ = script.join(2)
        let joined = script.now
        var outputs: [TrackerSession.Output] = []
        while urls(outputs).isEmpty {
            _ = script.receive(.swarm(size: 1), on: 2)
            outputs = script.sleep()
        }
        #expect(messages(outputs) == [.leave])
        #expect(urls(outputs) == ["a"])
        #expect(joined.duration(to: script.now) >= .seconds(540))
        #expect(urls(script.lose(3)) == ["b"])
    }

    @Test func `What an earlier connection does has no effect`() {
        var script = Script(trackers: ["a", "b"])
        _ = script.feed(.start)
        _ = script.lose(1)
        #expect(script.lose(1).isEmpty)
        #expect(script.receive(.welcome(Samples.welcome()), on: 1).isEmpty)
        #expect(script.session.standing == .connecting(url: "b"))
    }

    @Test func `A refused request leaves the membership as it is`() {
        var script = Script()
        _ = script.feed(.start)
        _ = script.join(1)
        let error = ControlError(code: .rateLimited, retryAfterMilliseconds: 1000)
        #expect(script.receive(.error(error), on: 1) == [.event(.refused(error))])
        #expect(script.session.standing == .joined(url: "a"))
    }

    @Test func `Stopping says good-bye`() {
        var script = Script()
        _ = script.feed(.start)
        _ = script.join(1)
        #expect(
            script.feed(.stop) == [
                .send(id(1), [5]), .close(id(1)), .event(.state(.stopped)),
            ])
        #expect(script.deadline == nil)
    }

    @Test func `Without a tracker there is nothing to do`() {
        var script = Script(trackers: [])
        _ = script.feed(.start)
        #expect(script.deadline == nil)
    }
}
