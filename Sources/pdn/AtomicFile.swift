import CommandLineSupport
import Glibc

/// Files that are there whole or not at all.
enum AtomicFile {
    /// Writes `bytes` beside `path`, waits until they are on disk, and puts them in its place.
    static func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
        let draft = path + ".new-\(getpid())"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(path) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let failure = failure(path)
                close(descriptor)
                unlink(draft)
                throw failure
            }
            rest = rest.dropFirst(count)
        }
        let isSafe = fsync(descriptor) == 0
        guard close(descriptor) == 0, isSafe, rename(draft, path) == 0 else {
            let failure = failure(path)
            unlink(draft)
            throw failure
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        .failed("\(path) can't be written: \(String(cString: strerror(errno)))")
    }
}
