import CoreModel
import Testing

@testable import Manifest

@Suite struct TextTests {
    @Test(
        "xs:duration, exactly",
        arguments: [
            ("PT7.5S", MediaTime(ticks: 15, timescale: 2)), ("P0Y0M0DT0H3M30.000S", MediaTime(seconds: 210)),
            ("PT924000000S", MediaTime(seconds: 924_000_000)), ("-PT66785S", MediaTime(seconds: -66_785)),
            ("P1DT1H1M1S", MediaTime(seconds: 90_061)), ("PT0.001S", MediaTime(ticks: 1, timescale: 1000)),
            (" PT4S\n", MediaTime(seconds: 4)), ("P1Y1M", MediaTime(seconds: 395 * 86_400)),
        ])
    func duration(_ text: String, _ expected: MediaTime) {
        #expect(DurationText.parse(text) == expected)
    }

    @Test(
        "What is no duration",
        arguments: ["", "P", "PT", "PT5", "5S", "PTS", "PT5H3", "PT99999999999999999999S", "P5H", "PT-5S", "PT5SS5"])
    func noDuration(_ text: String) { #expect(DurationText.parse(text) == nil) }

    @Test(
        "Dates: zones, fractions, and UTC where there is no zone",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2024-01-01T00:00:00", 1_704_067_200_000),
            ("2017-04-28T11:50:46+03:00", 1_493_369_446_000), ("2017-10-21T15:00:10.157Z", 1_508_598_010_157),
            ("2018-10-12T22:33:52.037+0000", 1_539_383_632_037), ("2000-02-29T12:00:00.5-01:30", 951_831_000_500),
            ("1969-12-31T23:59:59.999Z", -1), ("2020-05-13", 1_589_328_000_000),
        ])
    func date(_ text: String, _ milliseconds: Int64) {
        #expect(DateText.parse(text)?.milliseconds == milliseconds)
    }

    @Test(
        "What is no date",
        arguments: ["", "now", "2024-13-01", "2024-01-01T", "2024-01-01T25:00", "2024-01-01T00:00:00X"])
    func noDate(_ text: String) { #expect(DateText.parse(text) == nil) }

    @Test("Decimals keep every digit; digits beyond 64 bits are dropped from the fraction only")
    func decimals() {
        #expect("9.97667".decimalNumber == MediaTime(ticks: 997_667, timescale: 100_000))
        #expect("-0.5".decimalNumber == MediaTime(ticks: -1, timescale: 2))
        #expect("2.".decimalNumber == MediaTime(seconds: 2))
        #expect(".5".decimalNumber == MediaTime(ticks: 1, timescale: 2))
        #expect("0.3333333333333333333333333".decimalNumber?.seconds == 0.3333333333333333)
        for text in ["", ".", "-", "1e3", "99999999999999999999", "1.2.3", "0x10", "NaN"] {
            #expect(text.decimalNumber == nil)
        }
    }

    @Test("The first byte that is no UTF-8 is found")
    func utf8() {
        #expect(UTF8Check.firstFault(in: Array("aé€😀".utf8)) == nil)
        #expect(UTF8Check.firstFault(in: [0x61, 0x80]) == 1)
        #expect(UTF8Check.firstFault(in: [0xC0, 0xAF]) == 0)
        #expect(UTF8Check.firstFault(in: [0xE2, 0x82]) == 0)
        #expect(UTF8Check.firstFault(in: [0x61, 0xED, 0xA0, 0x80]) == 1)
        #expect(UTF8Check.firstFault(in: [0xF4, 0x90, 0x80, 0x80]) == 0)
        #expect(UTF8Check.firstFault(in: [0xE2, 0x28, 0xA1]) == 0)
        #expect(UTF8Check.firstFault(in: [0xF0, 0x9F, 0x98, 0x28]) == 0)
    }
}
