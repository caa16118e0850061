import CCrypto

/// libcrypto called as directly as can be: the limits that the project's own figures are held against.
struct Libcrypto {
    private let digest: OpaquePointer
    private let digestContext: OpaquePointer
    private let cipherContext: OpaquePointer
    private let cipher: OpaquePointer

    init() {
        digest = EVP_MD_fetch(nil, "SHA256", nil)
        cipher = EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil)
        digestContext = EVP_MD_CTX_new()
        cipherContext = EVP_CIPHER_CTX_new()
    }

    /// The SHA-256 of a buffer, in one call.
    func sha256(_ bytes: UnsafeRawBufferPointer, into output: UnsafeMutablePointer<UInt8>) {
        var count: UInt32 = 0
        EVP_DigestInit_ex(digestContext, digest, nil)
        EVP_DigestUpdate(digestContext, bytes.baseAddress, bytes.count)
        EVP_DigestFinal_ex(digestContext, output, &count)
    }

    /// Encrypts a buffer with ChaCha20-Poly1305 as messages of `messageByteCount`.
    func seal(
        _ bytes: UnsafeRawBufferPointer, messageByteCount: Int, key: [UInt8], into output: UnsafeMutableRawBufferPointer
    ) {
        var offset = 0
        var nonce = [UInt8](repeating: 0, count: 12)
        var tag = [UInt8](repeating: 0, count: 16)
        while offset < bytes.count {
            nonce[4] &+= 1
            let count = min(messageByteCount, bytes.count - offset)
            var written: Int32 = 0
            EVP_EncryptInit_ex(cipherContext, cipher, nil, key, nonce)
            EVP_EncryptUpdate(
                cipherContext, output.baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self), &written,
                bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self), Int32(count))
            EVP_EncryptFinal_ex(cipherContext, &tag, &written)
            EVP_CIPHER_CTX_ctrl(cipherContext, EVP_CTRL_AEAD_GET_TAG, 16, &tag)
            offset += count
        }
    }
}
