internal import CCrypto

/// The algorithms fetched from libcrypto's provider, once for the process and never freed.
///
/// `@unchecked Sendable`: libcrypto's algorithm objects are immutable and counted atomically.
@safe
final class Algorithms: @unchecked Sendable {
    static let shared = Algorithms()

    let sha256: OpaquePointer
    let chaCha20Poly1305: OpaquePointer

    private init() {
        guard let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil),
            let chaCha20Poly1305 = unsafe EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil)
        else { preconditionFailure("libcrypto offers no SHA-256 or no ChaCha20-Poly1305 (a FIPS-only set-up?)") }
        unsafe self.sha256 = unsafe sha256
        unsafe self.chaCha20Poly1305 = unsafe chaCha20Poly1305
    }
}
