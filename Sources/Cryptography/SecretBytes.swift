internal import CoreModel
internal import CSodium

/// A secret in memory of its own: guarded by unmapped pages, kept out of core dumps and swap where the system allows it,
/// and wiped when the last reference goes.
///
/// `@unchecked Sendable`: the bytes are written in the initialiser only, and read only afterwards.
@safe
final class SecretBytes: @unchecked Sendable {
    /// The number of bytes.
    let count: Int
    private let pointer: UnsafeMutablePointer<UInt8>

    /// Allocates `count` bytes and lets `fill` write them.
    init(count: Int, fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        Sodium.initialise()
        guard let memory = unsafe sodium_malloc(count) else {
            preconditionFailure("no memory left for a secret of \(count) bytes")
        }
        self.count = count
        unsafe pointer = unsafe memory.assumingMemoryBound(to: UInt8.self)
        unsafe fill(pointer)
    }

    /// Copies thirty-two bytes.
    convenience init(_ value: Bytes32) {
        unsafe self.init(count: 32) { pointer in
            unsafe value.withBigEndianBytes { bytes in
                unsafe UnsafeMutableRawPointer(pointer).copyMemory(from: bytes.baseAddress!, byteCount: 32)
            }
        }
    }

    deinit { unsafe sodium_free(pointer) }

    /// Lends the bytes for the duration of `body`.
    func withBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        unsafe body(UnsafePointer(pointer))
    }
}
