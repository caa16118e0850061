public import CoreModel
internal import CSodium

/// A secret X25519 key (RFC 7748) in guarded memory.
public struct X25519AgreementKey: AgreementKey {
    public let publicKey: Bytes32
    private let secret: SecretBytes

    /// Takes `seed` as the secret scalar; it is clamped where it is used.
    public init(seed: Bytes32) {
        let secret = SecretBytes(seed)
        self.secret = secret
        publicKey = unsafe Bytes32(filledBy: { publicKey in
            unsafe secret.withBytes { secret in
                _ = unsafe crypto_scalarmult_curve25519_base(publicKey, secret)
            }
        })
    }

    /// A key from the system's random source.
    public init() { self.init(seed: SystemRandom.bytes32()) }

    public func sharedSecret(with publicKey: Bytes32) -> Bytes32? {
        var isContributory = false
        let shared = unsafe Bytes32(filledBy: { shared in
            unsafe publicKey.withBigEndianBytes { publicKey in
                unsafe secret.withBytes { secret in
                    // Returns -1 for the all-zero secret that keys of small order give (RFC 7748, section 6.1).
                    isContributory =
                        unsafe crypto_scalarmult_curve25519(
                            shared, secret, publicKey.baseAddress!.assumingMemoryBound(to: UInt8.self)) == 0
                }
            }
        })
        return isContributory ? shared : nil
    }
}
