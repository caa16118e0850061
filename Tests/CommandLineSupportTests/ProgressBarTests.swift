import Testing

@testable import CommandLineSupport

struct ProgressBarTests {
    @Test func `The line fits the terminal`() {
        for columns in [1, 20, 40, 80, 200] {
            for fraction in [-1, 0, 0.5, 1, 2, Double.nan] {
                #expect(ProgressBar.line(fraction, "120/600 segments", columns: columns).count <= columns)
            }
        }
        #expect(ProgressBar.line(0.5, "x", columns: 80).hasPrefix(" 50% ███████████████░"))
    }
}
