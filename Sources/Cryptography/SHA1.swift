internal import CCrypto

/// SHA-1 (FIPS 180-4), for protocols that name it where no collision matters, as the WebSocket handshake (RFC 6455,
/// section 4.2.2).
public enum SHA1 {
    /// The digest of `bytes`, twenty bytes.
    public static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        // It fails only where a build leaves SHA-1 out; the digest then suits nobody.
        unsafe _ = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil)
        return digest
    }
}
