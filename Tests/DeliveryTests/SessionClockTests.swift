import CoreModel
import Delivery
import Testing

/// The wall clock that certificates are checked against.
struct SessionClockTests {
    private let start = MonotonicInstant.origin + .seconds(1000)
    private let wrong = UnixTime(seconds: 86_400)

    @Test func theSystemsTimeHoldsUntilTheFirstWelcome() {
        var clock = SessionClock()
        #expect(clock.time(at: start, system: wrong) == wrong)
    }

    @Test(arguments: [86_400, 4_000_000_000] as [Int64])
    func theTrackersTimeGoesOnWhateverTheSystemSays(system: Int64) {
        var clock = SessionClock()
        let system = UnixTime(seconds: system)
        _ = clock.time(at: start, system: system)
        clock.set(UnixTime(seconds: 1_800_000_000), at: start)
        #expect(clock.time(at: start, system: system) == UnixTime(seconds: 1_800_000_000))
        #expect(clock.time(at: start + .seconds(90), system: system) == UnixTime(seconds: 1_800_000_090))
    }

    @Test func aLaterWelcomeMovesItForwardsOnly() {
        var clock = SessionClock()
        clock.set(UnixTime(seconds: 1_800_000_000), at: start)
        #expect(clock.time(at: start + .seconds(10), system: wrong) == UnixTime(seconds: 1_800_000_010))
        clock.set(UnixTime(seconds: 1_800_000_000), at: start + .seconds(10))
        #expect(clock.time(at: start + .seconds(15), system: wrong) == UnixTime(seconds: 1_800_000_010))
        #expect(clock.time(at: start + .seconds(25), system: wrong) == UnixTime(seconds: 1_800_000_015))
        clock.set(UnixTime(seconds: 1_800_000_100), at: start + .seconds(25))
        #expect(clock.time(at: start + .seconds(25), system: wrong) == UnixTime(seconds: 1_800_000_100))
    }

    @Test func anAbsurdTimeDoesNotTrap() {
        var clock = SessionClock()
        clock.set(UnixTime(milliseconds: .max), at: start)
        #expect(clock.time(at: start + .seconds(1), system: wrong) == UnixTime(milliseconds: .max))
    }
}
