public import CoreModel
internal import CSodium

/// The system's random source (getrandom through libsodium), fit for secrets.
///
/// A call costs a system call; what needs many numbers that are no secrets seeds a ``SeededGenerator`` from it.
public struct SystemRandom: RandomNumberGenerator, Sendable {
    /// Makes a generator; it holds no state.
    public init() { Sodium.initialise() }

    public mutating func next() -> UInt64 {
        var value: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &value) { unsafe randombytes_buf($0.baseAddress!, $0.count) }
        return value
    }

    /// Fresh random bytes.
    public static func bytes(_ count: Int) -> [UInt8] {
        Sodium.initialise()
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialised in
            if let base = buffer.baseAddress { unsafe randombytes_buf(base, count) }
            initialised = count
        }
    }

    /// Thirty-two fresh random bytes: a seed for a key.
    public static func bytes32() -> Bytes32 {
        var generator = SystemRandom()
        return Bytes32(words: (generator.next(), generator.next(), generator.next(), generator.next()))
    }

    /// Sixteen fresh random bytes: a nonce or a pseudonym.
    public static func bytes16() -> Bytes16 {
        var generator = SystemRandom()
        return Bytes16(high: generator.next(), low: generator.next())
    }
}
