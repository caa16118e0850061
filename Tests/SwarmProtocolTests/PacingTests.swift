import CoreModel
import Testing

@testable import SwarmProtocol

@Suite struct PacingTests {
    static let start = MonotonicInstant.origin.advanced(by: .seconds(5000))

    @Test func aMeteredLinkUploadsNothing() {
        var caps = UploadCaps()
        caps.isMetered = true
        var budget = UploadBudget(caps: caps, now: Self.start)
        budget.receive(1_000_000, now: Self.start)
        let allowance = budget.allowance(now: Self.start)
        #expect(allowance == 0)
    }

    @Test func theShareOfDownloadRollsOverTenMinutes() {
        var budget = UploadBudget(caps: UploadCaps(), now: Self.start)
        var allowance = budget.allowance(now: Self.start)
        #expect(allowance == 0)
        budget.receive(1000, now: Self.start)
        allowance = budget.allowance(now: Self.start)
        #expect(allowance == 2000)
        budget.spend(2500, now: Self.start)
        allowance = budget.allowance(now: Self.start)
        #expect(allowance == -500)
        let later = Self.start.advanced(by: .seconds(640))
        budget.receive(300, now: later)
        allowance = budget.allowance(now: later)
        #expect(allowance == 600)
    }

    @Test func theRateCapHoldsOverTime() {
        var caps = UploadCaps()
        caps.bytesPerSecond = 250_000
        caps.shareOfDownload = nil
        var budget = UploadBudget(caps: caps, now: Self.start)
        var sent = 0
        for step in 0..<100_000 {
            let now = Self.start.advanced(by: .microseconds(100 * step))
            if budget.allowance(now: now) > 0 {
                budget.spend(16_413, now: now)
                sent += 16_413
            }
        }
        #expect((2_480_000...2_540_000).contains(sent), "\(sent) bytes in ten seconds")
        let now = Self.start.advanced(by: .seconds(10))
        budget.spend(50_000, now: now)
        guard let next = budget.nextAllowance(now: now) else { return #expect(Bool(false)) }
        let (before, after) = (
            budget.allowance(now: next.advanced(by: .milliseconds(-1))),
            budget.allowance(now: next.advanced(by: .milliseconds(1)))
        )
        #expect(before <= 0 && after > 0)
    }

    @Test func theDailyCapIsHard() {
        var caps = UploadCaps()
        caps.shareOfDownload = nil
        caps.bytesPerDay = 100_000
        var budget = UploadBudget(caps: caps, now: Self.start)
        budget.spend(90_000, now: Self.start)
        var allowance = budget.allowance(now: Self.start.advanced(by: .seconds(80_000)))
        #expect(allowance == 10_000)
        allowance = budget.allowance(now: Self.start.advanced(by: .seconds(90_000)))
        #expect(allowance == 100_000)
    }

    /// A line of a given rate and base round trip with a queue that only this upload fills.
    private func queueDelay(rate: Double, base: Duration, seconds: Int) -> (delay: Duration, sent: Double) {
        var pacer = DelayPacer()
        var queue = 0.0
        var delivered = 0.0
        var worst = Duration.zero
        var now = Self.start
        let step = base
        var acknowledged = 0
        while Self.start.duration(to: now) < .seconds(seconds) {
            // The window's bytes are on the way or in the queue; the line drains at its rate.
            let inFlight = Double(pacer.window)
            let pipe = rate * base.inSeconds
            queue = max(0, inFlight - pipe)
            let throughput = min(rate, inFlight / max(base.inSeconds, inFlight / rate))
            acknowledged = Int(throughput * step.inSeconds)
            delivered += throughput * step.inSeconds
            let roundTrip = base + .seconds(queue / rate)
            if Self.start.duration(to: now) > .seconds(seconds / 2) { worst = max(worst, roundTrip - base) }
            now = now.advanced(by: step)
            pacer.sample(roundTrip, acknowledged: acknowledged, now: now)
        }
        return (worst, delivered)
    }

    @Test(arguments: [250_000.0, 625_000, 2_500_000], [10, 40, 120])
    func theQueueStaysNearTheTargetAndTheLineIsUsed(rate: Double, baseMilliseconds: Int) {
        let (delay, sent) = queueDelay(rate: rate, base: .milliseconds(baseMilliseconds), seconds: 60)
        // What one data frame adds can't be told from the line's own round trip.
        let floor = DelayPacer.target + .seconds(Double(DelayPacer.minimumWindow) / rate)
        #expect(delay <= max(.milliseconds(100), floor), "\(delay)")
        #expect(sent >= rate * 60 * 0.75, "\(sent / rate / 60) of the line")
    }

    @Test func handshakesAreLimitedPerPrefix() {
        var limiter = HandshakeLimiter()
        var admitted = 0
        for host in 0..<100
        where limiter.admits(NetworkAddress(ipv4: 0xCB00_7100 + UInt32(host), port: 1), now: Self.start) {
            admitted += 1
        }
        #expect(admitted == 8)
        let other = limiter.admits(NetworkAddress(ipv4: 0xCB00_7200, port: 1), now: Self.start)
        #expect(other)
        let later = limiter.admits(
            NetworkAddress(ipv4: 0xCB00_7101, port: 1), now: Self.start.advanced(by: .seconds(2)))
        #expect(later)
        for _ in 0..<100 {
            let local = limiter.admits(NetworkAddress(ipv4: 0x7F00_0001, port: 1), now: Self.start)
            #expect(local)
        }
    }

    /// A chunk takes 66 ms at 2 Mbps, so that one more in the queue would keep a control frame waiting for more than 100 ms;
    /// the last packet of one, 6 ms, does not, and the line goes on without a pause.
    @Test func oneMoreChunkGoesOutWhenTheLastPacketOfTheOneBeforeIsLeft() {
        var pacing = LinkPacing()
        var now = Self.start
        for milliseconds in [20, 64, 64] {
            pacing.sample(.milliseconds(milliseconds), acknowledged: 0, now: now)
            now = now.advanced(by: .milliseconds(milliseconds))
        }
        let window = pacing.pacer.window
        #expect(pacing.hasRoom(inFlight: window - DelayPacer.minimumWindow, now: now))
        #expect(!pacing.hasRoom(inFlight: window - DelayPacer.minimumWindow + 1, now: now))
        #expect(pacing.hasRoom(inFlight: 1448, now: now) && pacing.hasRoom(inFlight: 0, now: now))
        // When the window is a single frame, too.
        pacing = LinkPacing()
        for _ in 0..<100 {
            now = now.advanced(by: .milliseconds(500))
            pacing.sample(.milliseconds(400), acknowledged: 0, now: now)
            now = now.advanced(by: .milliseconds(500))
            pacing.sample(.milliseconds(20), acknowledged: 0, now: now)
            pacing.sample(.milliseconds(400), acknowledged: 0, now: now)
            pacing.sample(.milliseconds(400), acknowledged: 0, now: now.advanced(by: .milliseconds(450)))
            now = now.advanced(by: .milliseconds(450))
        }
        #expect(pacing.pacer.window < 2 * DelayPacer.minimumWindow)
        #expect(!pacing.hasRoom(inFlight: DelayPacer.minimumWindow, now: now))
        #expect(pacing.hasRoom(inFlight: 1448, now: now))
    }

    /// A line whose packets go out one after another and are acknowledged a round trip later, two at a time, as TCP's are;
    /// the round trip is smoothed by an eighth (RFC 6298) and everything looked at every quarter of one.
    private struct PacketLine {
        let bytesPerSecond: Double
        let base: Duration
        private(set) var now = PacingTests.start
        private var free = PacingTests.start
        private var packets: [(byteCount: Int, sentAt: MonotonicInstant, acknowledged: MonotonicInstant)] = []
        private var isOdd = false
        private var smoothed: Duration?
        private(set) var sent = 0
        private(set) var acknowledged = 0

        init(bytesPerSecond: Double, base: Duration) {
            self.bytesPerSecond = bytesPerSecond
            self.base = base
        }

        /// What waits for the line.
        var queue: Duration { max(.zero, now.duration(to: free)) }
        var roundTrip: Duration? { smoothed }

        mutating func send(_ byteCount: Int) {
            var left = byteCount
            while left > 0 {
                let packet = min(left, 1448)
                free = max(free, now).advanced(by: .seconds(Double(packet) / bytesPerSecond))
                let acknowledged = free.advanced(by: base)
                // One alone waits for a second, but not for long; what is one packet in all doesn't.
                if isOdd, !packets.isEmpty { packets[packets.count - 1].acknowledged = acknowledged }
                isOdd.toggle()
                let patience: Duration = isOdd && byteCount > 1448 ? .milliseconds(40) : .zero
                packets.append((packet, now, acknowledged.advanced(by: patience)))
                left -= packet
            }
            sent += byteCount
        }

        mutating func pass(_ span: Duration) {
            now = now.advanced(by: span)
            while let packet = packets.first, packet.acknowledged <= now {
                packets.removeFirst()
                acknowledged += packet.byteCount
                let sample = packet.sentAt.duration(to: packet.acknowledged)
                smoothed = smoothed.map { $0 + (sample - $0) / 8 } ?? sample
            }
        }
    }

    /// What is said between peers may not wait for more than 100 ms on a full uplink of 2 Mbps: for a chunk, which takes
    /// 66 ms, and what is left of the one before.
    @Test(arguments: [250_000.0, 400_000, 750_000, 2_500_000], [5, 20, 60])
    func aSlowLineIsNeitherIdleNorDoesAControlFrameWaitLong(bytesPerSecond: Double, baseMilliseconds: Int) {
        let base = Duration.milliseconds(baseMilliseconds)
        var line = PacketLine(bytesPerSecond: bytesPerSecond, base: base)
        var pacing = LinkPacing()
        var waits: [Duration] = []
        var sentBefore = 0
        // What says hello shows the round trip of the idle line.
        line.send(200)
        line.pass(.milliseconds(200))
        while Self.start.duration(to: line.now) < .seconds(60) {
            let isSettled = Self.start.duration(to: line.now) > .seconds(20)
            if !isSettled { sentBefore = line.sent }
            while true {
                let inFlight = line.sent - line.acknowledged
                pacing.note(sent: line.sent, inFlight: inFlight, now: line.now)
                if pacing.isSampleDue(now: line.now), let roundTrip = line.roundTrip {
                    pacing.sample(roundTrip, acknowledged: line.acknowledged, now: line.now)
                }
                guard pacing.hasRoom(inFlight: inFlight, now: line.now) else { break }
                line.send(DelayPacer.minimumWindow)
                pacing.didSend(now: line.now)
            }
            if isSettled { waits.append(line.queue) }
            line.pass(min(base / 4, max(.milliseconds(1), line.now.duration(to: pacing.nextFrame))))
        }
        let use = Double(line.sent - sentBefore) / bytesPerSecond / 40
        #expect(use >= 0.94)
        let wait = waits.sorted()[waits.count * 95 / 100]
        #expect(wait <= .milliseconds(100))
    }
}
