internal import CSodium
internal import CoreModel

/// A key that media are encrypted with: AES, 16 or 32 bytes.
///
/// It lies in guarded memory, which is wiped with the last reference, and is never printed: its description is a constant.
public struct ContentKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let secret: SecretBytes

    /// Copies the bytes; `nil` unless there are 16 or 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 || bytes.count == 32 else { return nil }
        secret = unsafe SecretBytes(count: bytes.count) { target in
            for (index, byte) in bytes.enumerated() { unsafe target[index] = byte }
        }
    }

    /// The number of bytes: 16 or 32.
    public var byteCount: Int { secret.count }

    public var description: String { "content key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

    /// Compares in constant time.
    public static func == (left: ContentKey, right: ContentKey) -> Bool {
        guard left.byteCount == right.byteCount else { return false }
        return unsafe left.secret.withBytes { one in
            unsafe right.secret.withBytes { other in unsafe sodium_memcmp(one, other, left.byteCount) == 0 }
        }
    }

    public func hash(into hasher: inout Hasher) {
        unsafe secret.withBytes { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: bytes, count: byteCount))
        }
    }
}
