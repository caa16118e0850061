internal import Foundation
internal import Glibc
internal import Synchronization

/// The process's standard streams.
public enum Terminal {
    /// Whether stderr goes to a person: progress is shown only then.
    public static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether stderr may be coloured: on a terminal, and `NO_COLOR` (no-color.org) is unset or empty.
    public static var allowsColour: Bool {
        isInteractive && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
            && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// The terminal's width in columns; 80 where it is not known.
    public static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes a line to stdout at once. What can't be written, but for a pipe that nobody reads any more, makes a command
    /// that did all else fail; see ``ExitCode/leave()``.
    public static func print(_ line: String) {
        if let error = write(line + "\n", to: STDOUT_FILENO) { outputError.withLock { $0 = $0 ?? error } }
    }

    /// Why something could not be written to stdout.
    static var outputFailure: String? { outputError.withLock { $0 }.map { String(cString: strerror($0)) } }

    private static let outputError = Mutex<Int32?>(nil)

    /// Writes a line to stderr at once.
    public static func note(_ line: String) { _ = write(line + "\n", to: STDERR_FILENO) }

    /// Writes a document to stdout: the only thing there of a command with `--json`.
    public static func print(_ document: JSONValue) { print(document.text()) }

    /// Writes all of a text; the error where it can't.
    static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            // A closed pipe: whoever read the output has had enough.
            guard count > 0 else { return errno == EPIPE ? nil : errno }
            bytes = bytes.dropFirst(count)
        }
        return nil
    }
}
