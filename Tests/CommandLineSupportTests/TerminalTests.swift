import Glibc
import Testing

@testable import CommandLineSupport

struct TerminalTests {
    @Test func `What a full disk doesn't take is an error, what nobody reads any more is none`() throws {
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        defer { close(full) }
        #expect(Terminal.write("a line\n", to: full) == ENOSPC)
        #expect(Terminal.write("", to: full) == nil)

        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        #expect(Terminal.write("a line\n", to: ends[1]) == nil)
    }
}
