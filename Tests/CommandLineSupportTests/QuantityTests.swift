import CommandLineSupport
import Testing

struct QuantityTests {
    @Test func `Durations`() {
        #expect(Quantity.duration("4s") == .seconds(4))
        #expect(Quantity.duration("250ms") == .milliseconds(250))
        #expect(Quantity.duration("10min") == .seconds(600))
        #expect(Quantity.duration("1.5") == .milliseconds(1500))
        for text in ["", "s", "-1s", "4 parsecs", "1e400", "nan", "1..2", "99999999999"] {
            #expect(Quantity.duration(text) == nil, "\(text)")
        }
    }

    @Test func `Rates and sizes`() {
        #expect(Quantity.bitsPerSecond("5Mbps") == 5_000_000)
        #expect(Quantity.bitsPerSecond("600kbps") == 600_000)
        #expect(Quantity.bitsPerSecond("5MBps") == nil)
        #expect(Quantity.byteCount("64MiB") == 64 << 20)
        #expect(Quantity.byteCount("1.5 kB") == 1500)
        #expect(Quantity.byteCount("99999999999999999999") == nil)
        #expect(Quantity.describe(byteCount: 1023) == "1023 B")
        #expect(Quantity.describe(byteCount: 1_468_006) == "1.4 MiB")
    }
}
