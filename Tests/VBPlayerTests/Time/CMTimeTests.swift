import Testing
import VBPlayer

/// Expectations are what CoreMedia's reference says of each function.
struct CMTimeTests {
    @Test func fieldsAndConstants() {
        let time = CMTimeMake(value: 3, timescale: 2)
        #expect(time.value == 3 && time.timescale == 2 && time.epoch == 0 && time.flags == .valid)
        #expect(CMTime.zero.value == 0 && CMTime.zero.timescale == 1 && CMTime.zero.isNumeric)
        #expect(CMTime() == .invalid && !CMTime.invalid.isValid)
        #expect(kCMTimeZero == .zero && kCMTimeInvalid == .invalid && kCMTimeIndefinite == .indefinite)
        #expect(kCMTimePositiveInfinity == .positiveInfinity && kCMTimeNegativeInfinity == .negativeInfinity)
        #expect(CMTimeFlags.valid.rawValue == 1 && CMTimeFlags.hasBeenRounded.rawValue == 2)
        #expect(CMTimeFlags.positiveInfinity.rawValue == 4 && CMTimeFlags.negativeInfinity.rawValue == 8)
        #expect(CMTimeFlags.indefinite.rawValue == 16 && CMTimeFlags.impliedValueFlagsMask.rawValue == 28)
    }

    @Test func aTimescaleIsPositive() {
        #expect(CMTIME_IS_INVALID(CMTimeMake(value: 1, timescale: 0)))
        #expect(CMTIME_IS_INVALID(CMTimeMake(value: 1, timescale: -1)))
        #expect(CMTIME_IS_INVALID(CMTimeMakeWithSeconds(1, preferredTimescale: 0)))
        #expect(CMTIME_IS_INVALID(CMTime(seconds: .nan, preferredTimescale: 600)))
    }

    @Test func kindsOfTime() {
        #expect(CMTIME_IS_POSITIVE_INFINITY(.positiveInfinity) && CMTIME_IS_NEGATIVE_INFINITY(.negativeInfinity))
        #expect(CMTIME_IS_INDEFINITE(.indefinite) && CMTIME_IS_VALID(.indefinite) && !CMTIME_IS_NUMERIC(.indefinite))
        #expect(!CMTIME_IS_INDEFINITE(.invalid) && !CMTIME_IS_NUMERIC(.positiveInfinity) && CMTIME_IS_NUMERIC(.zero))
        var notValid = CMTime.positiveInfinity
        notValid.flags.remove(.valid)
        #expect(!notValid.isPositiveInfinity && notValid == .invalid)
    }

    @Test func seconds() {
        #expect(CMTimeGetSeconds(CMTimeMake(value: 1, timescale: 3)) == 1.0 / 3)
        #expect(CMTime(value: -900, timescale: 600).seconds == -1.5)
        #expect(CMTime.invalid.seconds.isNaN && CMTime.indefinite.seconds.isNaN)
        #expect(CMTime.positiveInfinity.seconds == .infinity && CMTime.negativeInfinity.seconds == -.infinity)
    }

    @Test func fromSeconds() {
        let exact = CMTimeMakeWithSeconds(1.5, preferredTimescale: 600)
        #expect(exact.value == 900 && exact.timescale == 600 && !exact.hasBeenRounded)
        let rounded = CMTime(seconds: 1.25, preferredTimescale: 2)
        #expect(rounded.value == 2 && rounded.hasBeenRounded && CMTIME_HAS_BEEN_ROUNDED(rounded))
        #expect(CMTime(seconds: -1.75, preferredTimescale: 2).value == -3)
        #expect(CMTime(seconds: .infinity, preferredTimescale: 1) == .positiveInfinity)
        #expect(CMTime(seconds: -.infinity, preferredTimescale: 1) == .negativeInfinity)
    }

    @Test func anOverflowingTimescaleIsHalved() {
        let large = CMTime(seconds: 0x1p60, preferredTimescale: 1000)
        #expect(large.timescale == 7 && large.value == 7 << 60)
        #expect(CMTime(seconds: 1e300, preferredTimescale: 600) == .positiveInfinity)
        #expect(CMTime(seconds: -1e300, preferredTimescale: 600) == .negativeInfinity)
    }

    @Test func sumsAreExactInTheLeastCommonTimescale() {
        let same = CMTimeMake(value: 1, timescale: 600) + CMTimeMake(value: 2, timescale: 600)
        #expect(same.value == 3 && same.timescale == 600)
        let sum = CMTimeAdd(CMTimeMake(value: 1, timescale: 4), CMTimeMake(value: 1, timescale: 6))
        #expect(sum.value == 5 && sum.timescale == 12 && !sum.hasBeenRounded)
        let difference = CMTimeSubtract(CMTimeMake(value: 1, timescale: 4), CMTimeMake(value: 1, timescale: 6))
        #expect(difference.value == 1 && difference.timescale == 12)
        let least = CMTime.zero - CMTime(value: .min, timescale: 1)
        #expect(least == .positiveInfinity)
        #expect((CMTime(value: -1, timescale: 1) - CMTime(value: .min, timescale: 1)).value == .max)
    }

    @Test func aTimescaleBeyond32BitsIsTheLargestAndRounds() {
        let sum = CMTimeMake(value: 1, timescale: 2_147_483_647) + CMTimeMake(value: 1, timescale: 2_147_483_646)
        #expect(sum.timescale == kCMTimeMaxTimescale && sum.value == 2 && sum.hasBeenRounded)
        #expect((sum + .zero).hasBeenRounded)
    }

    @Test func anOverflowingSumHalvesTheTimescale() {
        let sum = CMTime(value: .max, timescale: 4) + CMTime(value: 1, timescale: 4)
        #expect(sum.timescale == 2 && sum.value == 1 << 62 && !sum.hasBeenRounded)
        #expect(CMTime(value: .max, timescale: 1) + CMTime(value: 1, timescale: 1) == .positiveInfinity)
        #expect(CMTime(value: .min, timescale: 1) - CMTime(value: 1, timescale: 1) == .negativeInfinity)
    }

    @Test func sumsOfWhatIsNoNumber() {
        #expect(CMTime.invalid + .positiveInfinity == .invalid)
        #expect(
            CMTime.positiveInfinity + .zero == .positiveInfinity && .zero - CMTime.positiveInfinity == .negativeInfinity
        )
        #expect(CMTime.positiveInfinity + .negativeInfinity == .invalid)
        #expect(CMTime.positiveInfinity - .negativeInfinity == .positiveInfinity)
        #expect(CMTime.indefinite + .zero == .indefinite && CMTime.indefinite + .negativeInfinity == .negativeInfinity)
    }

    @Test func epochs() {
        let first = CMTimeMakeWithEpoch(value: 5, timescale: 1, epoch: 1)
        let second = CMTimeMakeWithEpoch(value: 1, timescale: 1, epoch: 2)
        #expect(first < second && first + second == .invalid)
        #expect((first - first).epoch == 0 && (first + CMTime(value: 1, timescale: 1)).epoch == 1)
        #expect(CMTimeMakeWithEpoch(value: 5, timescale: 0, epoch: 1) == .invalid)
    }

    @Test func orderIsTotal() {
        let ascending: [CMTime] = [
            .negativeInfinity, CMTime(value: -1, timescale: 3), .zero, CMTime(value: 1, timescale: 3),
            CMTime(value: .max, timescale: 1), .indefinite, .positiveInfinity, .invalid,
        ]
        #expect(ascending.shuffled().sorted() == ascending)
        #expect(CMTimeCompare(ascending[0], ascending[1]) == -1 && CMTimeCompare(.invalid, .zero) == 1)
        #expect(CMTimeCompare(.indefinite, .indefinite) == 0)
        #expect(CMTimeMinimum(.zero, .indefinite) == .zero && CMTimeMaximum(.zero, .indefinite) == .indefinite)
    }

    @Test func equalInstantsAreEqualAndHashAlike() {
        let half = CMTime(value: 1, timescale: 2)
        let same = CMTime(value: 300, timescale: 600)
        #expect(half == same && half.hashValue == same.hashValue && Set([half, same]).count == 1)
        #expect(CMTime(value: 0, timescale: 5).hashValue == CMTime.zero.hashValue)
        #expect(CMTime(value: .max, timescale: .max) != CMTime(value: .max - 1, timescale: .max))
    }

    struct Conversion: CustomTestStringConvertible, Sendable {
        var method: CMTimeRoundingMethod
        var values: [Int64]
        var testDescription: String { "\(method)" }
    }

    /// 5/4, 6/4, 7/4 and 1/4 in halves, then the same below zero.
    static let conversions: [Conversion] = [
        Conversion(method: .default, values: [3, 3, 4, 1, -3, -3, -4, -1]),
        Conversion(method: .roundTowardZero, values: [2, 3, 3, 0, -2, -3, -3, 0]),
        Conversion(method: .roundAwayFromZero, values: [3, 3, 4, 1, -3, -3, -4, -1]),
        Conversion(method: .quickTime, values: [2, 3, 3, 0, -2, -3, -3, -1]),
        Conversion(method: .roundTowardPositiveInfinity, values: [3, 3, 4, 1, -2, -3, -3, 0]),
        Conversion(method: .roundTowardNegativeInfinity, values: [2, 3, 3, 0, -3, -3, -4, -1]),
    ]

    @Test(arguments: conversions) func conversionsRoundAsTheMethodSays(_ conversion: Conversion) {
        let quarters: [Int64] = [5, 6, 7, 1, -5, -6, -7, -1]
        let converted = quarters.map {
            CMTimeConvertScale(CMTimeMake(value: $0, timescale: 4), timescale: 2, method: conversion.method)
        }
        #expect(converted.map(\.value) == conversion.values)
        #expect(converted.map(\.hasBeenRounded) == quarters.map { $0 % 2 != 0 })
    }

    @Test func quickTimeRoundsAwayFromZeroIntoAFinerTimescale() {
        #expect(CMTime(value: 1, timescale: 2).convertScale(3, method: .quickTime).value == 2)
        #expect(CMTime(value: 1, timescale: 3).convertScale(2, method: .quickTime).value == 0)
    }

    @Test func conversionKeepsWhatIsNoNumber() {
        #expect(CMTime.indefinite.convertScale(600, method: .default) == .indefinite)
        #expect(CMTime.zero.convertScale(0, method: .default) == .invalid)
        #expect(CMTime(value: .max, timescale: 1).convertScale(2, method: .default) == .positiveInfinity)
    }

    @Test func products() {
        let third = CMTime(value: 1, timescale: 3)
        #expect(CMTimeMultiply(third, multiplier: -6) == CMTime(value: -2, timescale: 1))
        #expect(CMTimeMultiply(third, multiplier: 2).timescale == 3)
        #expect(CMTimeMultiply(.negativeInfinity, multiplier: -1) == .positiveInfinity)
        #expect(CMTimeMultiply(.indefinite, multiplier: 2) == .indefinite)
        let ratio = CMTimeMultiplyByRatio(third, multiplier: 1, divisor: 2)
        #expect(ratio.value == 1 && ratio.timescale == 6 && !ratio.hasBeenRounded)
        #expect(CMTimeMultiplyByRatio(third, multiplier: 1, divisor: 0) == .invalid)
        #expect(
            CMTimeMultiplyByFloat64(CMTime(value: 1, timescale: 2), multiplier: 0.25) == CMTime(value: 1, timescale: 8))
        #expect(!CMTimeMultiplyByFloat64(CMTime(value: 1, timescale: 2), multiplier: 0.25).hasBeenRounded)
        let inexact = CMTimeMultiplyByFloat64(CMTime(value: 1, timescale: 1), multiplier: 0.1)
        #expect(inexact.hasBeenRounded && abs(inexact.seconds - 0.1) < 1e-9)
        #expect(CMTimeAbsoluteValue(CMTime(value: -5, timescale: 2)) == CMTime(value: 5, timescale: 2))
        #expect(CMTimeAbsoluteValue(.negativeInfinity) == .positiveInfinity)
    }
}
