import CoreModel
import Scheduling
import Testing
import ViewerCore

/// A driver that plays segments of 4 s at 1, 2 and 4 Mbps, and lets transfers take what it says.
private struct Driver {
    static let ladder = [1_000_000, 2_000_000, 4_000_000]
    static let duration = Duration.seconds(4)

    var plan: RenditionPlan
    var now = MonotonicInstant.origin.advanced(by: .seconds(100))
    private var nextTransfer: UInt32 = 1

    init() {
        var configuration = BitrateConfiguration()
        configuration.segmentMilliseconds = 4000
        plan = RenditionPlan(ladder: BitrateLadder(bitsPerSecond: Self.ladder)!, configuration: configuration)
    }

    func outlook(_ distance: Duration, missingBits: Double = 0, offers: [SegmentOffer] = []) -> RenditionPlan.Outlook {
        RenditionPlan.Outlook(
            distance: distance, missingBits: missingBits, capacity: .seconds(30), duration: Self.duration,
            segmentsLeft: 100, offers: offers, highestRung: 2)
    }

    func bits(_ index: Int) -> Double { Double(Self.ladder[plan.rung(index)] * 4) }

    mutating func begin(_ index: Int) -> TransferID {
        let id = TransferID(rawValue: nextTransfer)
        nextTransfer += 1
        plan.fetchBegan(id, index, now: now)
        return id
    }

    /// A share of a segment comes from the CDN in so many seconds, in a hundred pieces, 50 ms after the request or the piece
    /// before.
    mutating func receive(_ id: TransferID, _ index: Int, share: Double = 1, at bitsPerSecond: Double) {
        let bits = bits(index) * share
        now = now.advanced(by: .milliseconds(50))
        for piece in 0..<100 {
            plan.fetchReceived(id, byteCount: Int(bits / 800), now: now)
            if piece < 99 { now = now.advanced(by: .nanoseconds(Int64(bits / 100 / bitsPerSecond * 1e9))) }
        }
    }

    mutating func complete(_ id: TransferID, _ index: Int) {
        plan.fetchEnded(id, now: now)
        plan.completed(index, bits: bits(index), duration: Self.duration, buffer: .seconds(4), now: now)
    }

    mutating func fetch(_ index: Int, at bitsPerSecond: Double) {
        let id = begin(index)
        receive(id, index, at: bitsPerSecond)
        complete(id, index)
    }
}

@Suite struct RenditionPlanTests {
    @Test func theFirstSegmentIsOfTheLowestRungAndNothingIsChosenBeforeItIsThere() {
        var driver = Driver()
        #expect(driver.plan.frontier(from: 0) == 0)
        #expect(driver.plan.isDue(0, missingBits: 0, isShared: true))
        #expect(driver.plan.choose(0, driver.outlook(.zero)) == BitrateDecision(rung: 0, reason: .startup))
        // Chosen, and not begun: there is nothing to choose.
        #expect(driver.plan.frontier(from: 0) == 0 && !driver.plan.isDue(0, missingBits: 0, isShared: true))
        _ = driver.begin(0)
        #expect(driver.plan.frontier(from: 0) == 1 && driver.plan.bitsPerSecond(0) == 1_000_000)
        for isShared in [false, true] { #expect(!driver.plan.isDue(1, missingBits: 4e6, isShared: isShared)) }
    }

    @Test func withoutPeersOneSegmentComesAfterTheOther() {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: 50e6)
        #expect(driver.plan.isDue(1, missingBits: 0, isShared: false))
        #expect(driver.plan.choose(1, driver.outlook(.seconds(4)))?.rung == 2)
        _ = driver.begin(1)
        #expect(!driver.plan.isDue(2, missingBits: 16e6, isShared: false))
        // With them the next is chosen while this one comes, but not without end: 50 Mbps carry 400 Mbit in 8 s.
        #expect(driver.plan.isDue(2, missingBits: 16e6, isShared: true))
        #expect(!driver.plan.isDue(2, missingBits: 401e6, isShared: true))
    }

    @Test(arguments: [(0.8e6, 0), (20e6, 2)])
    func theRateThatWasMeasuredDecides(bitsPerSecond: Double, rung: Int) {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: bitsPerSecond)
        #expect(abs(driver.plan.bitrate.estimates.cdnKilobitsPerSecond! / (bitsPerSecond / 1000) - 1) < 0.02)
        #expect(driver.plan.choose(1, driver.outlook(.seconds(4)))?.rung == rung)
    }

    /// Two seconds at 200 kbps are less than one sample asks for: two of them are one.
    @Test func smallSegmentsCountTogether() {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        func receive(_ bitsPerSecond: Double) {
            let id = driver.begin(0)
            driver.receive(id, 0, share: 0.2, at: bitsPerSecond)
            driver.plan.fetchEnded(id, now: driver.now)
        }
        receive(8e6)
        // Better than nothing.
        #expect(abs(driver.plan.bitrate.estimates.cdnKilobitsPerSecond! / 8000 - 1) < 0.02)
        receive(2e6)
        #expect(abs(driver.plan.bitrate.estimates.cdnKilobitsPerSecond! / 8000 - 1) < 0.02)
        receive(2e6)
        #expect(driver.plan.bitrate.estimates.cdnKilobitsPerSecond! < 5000)
    }

    /// The buffer that the fetch will find is what counts, not what is ahead when all that was asked for is still to come.
    @Test func whatIsStillToComeLowersTheBuffer() {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: 4.4e6)
        var busy = driver
        #expect(driver.plan.choose(1, driver.outlook(.seconds(20)))?.rung == 2)
        #expect(busy.plan.choose(1, busy.outlook(.seconds(20), missingBits: 80e6))?.rung ?? 9 < 2)
    }

    /// A line of 10 Mbps that a transfer shares with peers or another transfer: it alone would have had more than its own
    /// rate. A transfer that has a bound of its own does not get what all of them get together.
    @Test func transfersBesideEachOtherDontMisleadTheEstimate() {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: 10e6)
        _ = driver.plan.choose(1, driver.outlook(.seconds(4)))
        let (first, second) = (driver.begin(1), driver.begin(1))
        for _ in 0..<100 {
            driver.now = driver.now.advanced(by: .milliseconds(20))
            for id in [first, second] { driver.plan.fetchReceived(id, byteCount: 12_500, now: driver.now) }
        }
        driver.plan.fetchEnded(first, now: driver.now)
        #expect(abs(driver.plan.bitrate.estimates.cdnKilobitsPerSecond! - 10_000) < 200)

        var slow = Driver()
        _ = slow.plan.choose(0, slow.outlook(.zero))
        slow.fetch(0, at: 4e6)
        _ = slow.plan.choose(1, slow.outlook(.seconds(4)))
        let id = slow.begin(1)
        for _ in 0..<100 {
            slow.now = slow.now.advanced(by: .milliseconds(20))
            slow.plan.fetchReceived(id, byteCount: 10_000, now: slow.now)
            slow.plan.requested(1, now: slow.now)
            slow.plan.peerReceived(byteCount: 50_000, now: slow.now)
        }
        slow.plan.fetchEnded(id, now: slow.now)
        #expect(abs(slow.plan.bitrate.estimates.cdnKilobitsPerSecond! - 4000) < 100)
    }

    @Test func whatPeersHoldIsPreferredWithinTheTolerance() {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: 50e6)
        var other = driver
        let lower = [SegmentOffer(peerShare: 0), SegmentOffer(peerShare: 1), SegmentOffer(peerShare: 0)]
        // Half the bitrate is more than the tolerance; nothing is taken down for it.
        #expect(driver.plan.choose(1, driver.outlook(.seconds(20), offers: lower))?.rung == 2)
        let same = [SegmentOffer(peerShare: 0), SegmentOffer(peerShare: 0), SegmentOffer(peerShare: 1)]
        #expect(other.plan.choose(1, other.outlook(.seconds(20), offers: same))?.rung == 2)
    }

    @Test func aSegmentOfWhichNothingWasAskedForIsChosenAgain() {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: 50e6)
        #expect(driver.plan.choose(1, driver.outlook(.seconds(4)))?.rung == 2)
        let id = driver.begin(1)
        #expect(driver.plan.choose(2, driver.outlook(.seconds(8)))?.rung == 2)
        // The link breaks down while segment 1 comes.
        driver.receive(id, 1, at: 0.9e6)
        driver.complete(id, 1)
        #expect(driver.plan.frontier(from: 0) == 2 && driver.plan.isDue(2, missingBits: 0, isShared: true))
        #expect(driver.plan.choose(2, driver.outlook(.seconds(1)))?.rung == 0)
        #expect(driver.plan.count == 3 && driver.plan.choose(2, driver.outlook(.seconds(1))) == nil)
    }

    @Test func whatWouldTakeTooLongIsGivenUpOnce() throws {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: 50e6)
        _ = driver.plan.choose(1, driver.outlook(.seconds(4)))
        #expect(driver.plan.rung(1) == 2)
        let id = driver.begin(1)
        #expect(driver.plan.contested == nil)
        // At 600 kbps the rest takes 25 s; 3 s of media are left.
        var decision: BitrateDecision?
        for step in 1...40 where decision == nil {
            driver.now = driver.now.advanced(by: .milliseconds(100))
            driver.plan.fetchReceived(id, byteCount: 7500, now: driver.now)
            #expect(driver.plan.contested == 1)
            decision = driver.plan.abandon(
                1, bits: 16e6, receivedBits: Double(60_000 * step),
                driver.outlook(.milliseconds(Int64(3000 - 100 * step))), now: driver.now)
        }
        #expect(try #require(decision).reason == .abandoned && driver.plan.rung(1) == 0)
        #expect(driver.plan.contested == nil && !driver.plan.isBegun(1) && driver.plan.frontier(from: 0) == 1)
    }

    @Test func afterASeekWhatHasNothingThereIsChosenAgain() {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: 50e6)
        _ = driver.plan.choose(1, driver.outlook(.seconds(4)))
        _ = driver.begin(1)
        driver.plan.sought { $0 == 0 }
        #expect(driver.plan.isBegun(0) && !driver.plan.isBegun(1))
        // Behind the last segment that was chosen: those between take the same rung, and are not begun.
        #expect(driver.plan.frontier(from: 9) == 9)
        _ = driver.plan.choose(9, driver.outlook(.zero))
        #expect(driver.plan.count == 10 && driver.plan.rung(5) == driver.plan.rung(9) && !driver.plan.isBegun(5))
    }

    @Test func aRungThatHasNotTheSegmentIsPassedOverForALowerOneOrElseAHigher() {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: 50e6)
        var outlook = driver.outlook(.seconds(4))
        outlook.absentRungs = [2]
        #expect(driver.plan.choose(1, outlook) == BitrateDecision(rung: 1, reason: .unavailable))
        outlook.absentRungs = [0, 1]
        var other = Driver()
        #expect(other.plan.choose(0, outlook) == BitrateDecision(rung: 2, reason: .unavailable))
    }

    @Test func whatTheViewerChoseIsTaken() {
        var driver = Driver()
        #expect(driver.plan.set(0, to: 2) == BitrateDecision(rung: 2, reason: .manual))
        #expect(driver.plan.set(0, to: 2) == nil && driver.plan.rung(0) == 2)
        driver.fetch(0, at: 50e6)
        // What is there is void then.
        #expect(driver.plan.set(0, to: 1) != nil && !driver.plan.isBegun(0) && !driver.plan.isComplete(0))
    }

    /// A second's worth of a line of 8 Mbps comes at once. Of 16 Mbit in 4 s that is enough: a half. Of one of 4 Mbps it isn't.
    @Test(arguments: [(8e6, true), (4e6, false)])
    func theFirstOfASegmentIsPlayedOnceTheRestKeepsUp(bitsAtOnce: Double, isEnough: Bool) {
        var driver = Driver()
        _ = driver.plan.set(0, to: 2)
        let id = driver.begin(0)
        func keepsUp(_ driver: Driver) -> Bool {
            driver.plan.keepsUp(0, missingBits: 16e6 - bitsAtOnce, duration: Driver.duration, now: driver.now)
        }
        #expect(!keepsUp(driver))
        driver.receive(id, 0, share: bitsAtOnce / 16e6, at: 10e9)
        for _ in 0..<5 {
            driver.now = driver.now.advanced(by: .milliseconds(100))
            #expect(keepsUp(driver) == isEnough)
        }
    }

    /// A low rendition's segments are small: each tells of the line all the same.
    @Test(arguments: [8_000.0, 100_000])
    func aSmallSegmentTellsThatTheLineHasRecovered(byteCount: Double) throws {
        var driver = Driver()
        _ = driver.plan.choose(0, driver.outlook(.zero))
        driver.fetch(0, at: 0.3e6)
        let before = try #require(driver.plan.bitrate.estimates.cdnKilobitsPerSecond)
        _ = driver.plan.choose(1, driver.outlook(.seconds(4)))
        let id = driver.begin(1)
        driver.receive(id, 1, share: byteCount * 8 / driver.bits(1), at: 20e6)
        driver.plan.completed(1, bits: byteCount * 8, duration: Driver.duration, buffer: .seconds(4), now: driver.now)
        #expect(try #require(driver.plan.bitrate.estimates.cdnKilobitsPerSecond) > before * 1.5)
    }
}
