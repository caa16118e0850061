public import Cryptography
import Glibc
public import Integrity

/// Key files on disk.
public enum KeyStorage {
    /// Writes a key file that only its owner can read; complete or not at all.
    ///
    /// - Throws: A failure with exit code `badInput` when the file exists and `replacing` is false, `failed` otherwise.
    public static func write(_ file: KeyFile, to path: String, replacing: Bool) throws(CommandFailure) {
        // Written beside it first: a key file is never half there, and never readable by others for a moment.
        let draft = path + ".new-\(getpid())"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("\(path) can't be written: \(reason(errno))") }
        defer { unlink(draft) }
        let text = Array(file.text.utf8)
        let isWritten = text.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == text.count
        let isSafe = isWritten && fsync(descriptor) == 0
        let error = errno
        guard close(descriptor) == 0, isSafe else { throw .failed("\(path) can't be written: \(reason(error))") }
        // link() fails where a name exists; rename() replaces it.
        guard (replacing ? rename(draft, path) : link(draft, path)) == 0 else {
            if errno == EEXIST { throw .badInput("\(path) exists; --force replaces it, and the old key is lost") }
            throw .failed("\(path) can't be written: \(reason(errno))")
        }
    }

    /// Reads a key for one role.
    public static func read(_ path: String) throws(CommandFailure) -> KeyFile {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .badInput("\(path) can't be read: \(reason(errno))") }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & 0o077 != 0 {
            Terminal.note("\(path) can be read by others; 'chmod 600 \(path)' keeps the key secret")
        }
        var bytes = [UInt8](repeating: 0, count: KeyFile.maximumByteCount + 1)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw .badInput("\(path) can't be read: \(reason(errno))") }
        do {
            return try KeyFile(parsing: Array(bytes.prefix(count)))
        } catch {
            switch error {
            case .notAKeyFile, .malformed:
                throw .badInput("\(path) is no key file; 'pdn keygen' makes one")
            case .unknownVersion: throw .badInput("\(path) is a key file of a later version")
            case .unknownRole, .wrongRole: throw .badInput("\(path) holds a key of an unknown role")
            }
        }
    }

    /// The key of a file that must be for one role.
    public static func key(
        of file: KeyFile, for role: KeyRole, path: String, suite: SystemCryptoSuite
    ) throws(CommandFailure) -> RoleKey {
        do {
            return try file.key(for: role, suite: suite)
        } catch {
            throw .badInput(
                "the key in \(path) has the role \(file.role.rawValue); the role \(role.rawValue) is needed")
        }
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
