import Glibc

/// TCP ports of 127.0.0.1.
public enum LoopbackPort {
    /// A port that nobody listens on.
    public static func free() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw TestFailure("no free port") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Starts a server on a free port, and on another when somebody takes that one first.
    ///
    /// - Parameter start: Starts a process that listens on the port it is given, or ends.
    public static func serve(
        _ start: (UInt16) async throws -> ChildProcess
    ) async throws -> (port: UInt16, process: ChildProcess) {
        for _ in 0..<4 {
            let port = try free()
            let process = try await start(port)
            do {
                try await waitForListener(port, of: process)
                return (port, process)
            } catch is TestFailure {}
        }
        throw TestFailure("the server does not start")
    }

    /// Waits until somebody listens on a port.
    ///
    /// - Parameter process: Who should; its end is a failure.
    public static func waitForListener(_ port: UInt16, of process: ChildProcess) async throws {
        while !answers(port) {
            guard process.isRunning else { throw TestFailure("the server on port \(port) ended") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func answers(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(port)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
