public import CoreModel
internal import CSodium

/// A secret Ed25519 key (RFC 8032) in guarded memory.
public struct Ed25519SigningKey: SigningKey {
    public let verificationKey: VerificationKey
    private let secret: SecretBytes

    /// Expands `seed` to the key pair.
    public init(seed: Bytes32) {
        var publicKey = Bytes32.zero
        secret = unsafe SecretBytes(count: 64) { secret in
            unsafe publicKey = Bytes32(filledBy: { publicKey in
                unsafe seed.withBigEndianBytes { seed in
                    _ = unsafe crypto_sign_seed_keypair(
                        publicKey, secret, seed.baseAddress!.assumingMemoryBound(to: UInt8.self))
                }
            })
        }
        verificationKey = VerificationKey(publicKey)
    }

    /// A key from the system's random source.
    public init() { self.init(seed: SystemRandom.bytes32()) }

    public func sign(_ message: [UInt8]) -> Signature {
        var bytes = [UInt8](repeating: 0, count: 64)
        unsafe secret.withBytes { secret in
            _ = unsafe crypto_sign_detached(&bytes, nil, message, UInt64(message.count), secret)
        }
        return Signature(bytes)!  // 64 bytes by construction.
    }
}
