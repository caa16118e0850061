internal import CCrypto

/// One keyed AES decryption of libcrypto. Its key schedule is wiped when it goes.
@safe
struct CipherContext: ~Copyable {
    /// How blocks are chained.
    enum Mode { case cbcPadded, cbc, ctr, gcm }

    private let context: OpaquePointer

    static let blockByteCount = 16

    /// Sets the key up; the vector comes with ``begin(_:)``.
    init(_ mode: Mode, key: ContentKey) {
        let isLong = key.byteCount == 32
        let cipher =
            switch mode {
            case .cbcPadded, .cbc: unsafe isLong ? EVP_aes_256_cbc() : EVP_aes_128_cbc()
            case .ctr: unsafe isLong ? EVP_aes_256_ctr() : EVP_aes_128_ctr()
            case .gcm: unsafe isLong ? EVP_aes_256_gcm() : EVP_aes_128_gcm()
            }
        guard let context = unsafe EVP_CIPHER_CTX_new(),
            unsafe EVP_DecryptInit_ex(context, cipher, nil, nil, nil) == 1,
            unsafe mode != .gcm
                || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(Self.blockByteCount), nil) == 1,
            unsafe key.secret.withBytes({ bytes in unsafe EVP_DecryptInit_ex(context, nil, nil, bytes, nil) == 1 })
        else { preconditionFailure("libcrypto could not set up AES") }
        unsafe EVP_CIPHER_CTX_set_padding(context, mode == .cbcPadded ? 1 : 0)
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Starts a message with a vector of 16 bytes.
    func begin(_ vector: [UInt8]) {
        precondition(vector.count == Self.blockByteCount, "a vector has 16 bytes")
        let isDone = unsafe EVP_DecryptInit_ex(context, nil, nil, nil, vector) == 1
        precondition(isDone, "libcrypto refused a vector")
    }

    /// Decrypts in place. Without padding, CBC takes whole blocks only.
    func decrypt(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let base = bytes.baseAddress, unsafe !bytes.isEmpty else { return }
        let memory = unsafe base.assumingMemoryBound(to: UInt8.self)
        var written: Int32 = 0
        let isDone = unsafe EVP_DecryptUpdate(context, memory, &written, memory, Int32(bytes.count)) == 1
        precondition(isDone && Int(written) == bytes.count, "AES wants whole blocks")
    }

    /// Decrypts what has come; CBC with padding holds the last block back.
    func decrypt(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        return unsafe bytes.withUnsafeBufferPointer { source in
            unsafe [UInt8](unsafeUninitializedCapacity: source.count + Self.blockByteCount) { target, count in
                var written: Int32 = 0
                let isDone = unsafe EVP_DecryptUpdate(
                    context, target.baseAddress, &written, source.baseAddress, Int32(source.count))
                precondition(isDone == 1, "libcrypto refused to decrypt")
                count = Int(written)
            }
        }
    }

    /// What was held back, without its padding; `nil` when there is no whole block, or no padding in it.
    func finish() -> [UInt8]? {
        var last = [UInt8](repeating: 0, count: 2 * Self.blockByteCount)
        var written: Int32 = 0
        guard unsafe EVP_DecryptFinal_ex(context, &last, &written) == 1 else {
            // What failed here would look like a failure of this thread's next user.
            ERR_clear_error()
            return nil
        }
        return Array(last.prefix(Int(written)))
    }

    /// GCM: whether the tag of 16 bytes is that of what was decrypted.
    func verify(tag: [UInt8]) -> Bool {
        precondition(tag.count == Self.blockByteCount, "a tag has 16 bytes")
        var tag = tag
        guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1 else {
            return false
        }
        return finish() != nil
    }
}
