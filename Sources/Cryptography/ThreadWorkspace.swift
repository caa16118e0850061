internal import CCrypto
internal import CoreModel
internal import Glibc

/// One thread's libcrypto contexts, made at first use and freed when the thread ends.
///
/// A context costs an allocation and a fetch of the algorithm costs a locked table look-up; with both done once, what is
/// left of a call is libcrypto's assembler. Confined to its thread: ``current`` hands each thread its own.
@safe
final class ThreadWorkspace {
    /// Bytes of a ChaCha20-Poly1305 tag.
    static let tagByteCount = 16

    private let digestContext: OpaquePointer
    private let cipherContext: OpaquePointer

    private init() {
        guard let digestContext = unsafe EVP_MD_CTX_new(), let cipherContext = unsafe EVP_CIPHER_CTX_new(),
            unsafe EVP_DigestInit_ex2(digestContext, Algorithms.shared.sha256, nil) == 1,
            unsafe EVP_CipherInit_ex2(cipherContext, Algorithms.shared.chaCha20Poly1305, nil, nil, 1, nil) == 1
        else { preconditionFailure("libcrypto could not make a SHA-256 or ChaCha20-Poly1305 context") }
        unsafe self.digestContext = unsafe digestContext
        unsafe self.cipherContext = unsafe cipherContext
    }

    deinit {
        unsafe EVP_MD_CTX_free(digestContext)
        unsafe EVP_CIPHER_CTX_free(cipherContext)
    }

    /// The calling thread's workspace.
    static var current: ThreadWorkspace {
        if let pointer = unsafe pthread_getspecific(slot) {
            return unsafe Unmanaged<ThreadWorkspace>.fromOpaque(pointer).takeUnretainedValue()
        }
        let workspace = ThreadWorkspace()
        // Released by the slot's destructor when the thread ends.
        let status = unsafe pthread_setspecific(slot, Unmanaged.passRetained(workspace).toOpaque())
        precondition(status == 0, "no memory left for a thread's slot")
        return workspace
    }

    private static let slot: pthread_key_t = {
        var key = pthread_key_t()
        let status = unsafe pthread_key_create(&key) { pointer in
            // Balances `passRetained` in `current`.
            if let pointer = unsafe pointer { unsafe Unmanaged<ThreadWorkspace>.fromOpaque(pointer).release() }
        }
        precondition(status == 0, "the process has no thread slot left")
        return key
    }()

    /// The SHA-256 digest of `bytes`.
    func sha256(_ bytes: UnsafeRawBufferPointer) -> Digest {
        var isDone = false
        let value = unsafe Bytes32(filledBy: { digest in
            // Without a type the context keeps its own, and its memory with it.
            isDone =
                unsafe EVP_DigestInit_ex2(digestContext, nil, nil) == 1
                && EVP_DigestUpdate(digestContext, bytes.baseAddress, bytes.count) == 1
                && EVP_DigestFinal_ex(digestContext, digest, nil) == 1
        })
        precondition(isDone, "libcrypto refused a SHA-256 call")
        return Digest(value)
    }

    /// Encrypts `first` and `second` as one message and appends ciphertext and tag.
    func seal(
        key: Bytes32, nonce: UInt64, associatedData: UnsafeRawBufferPointer, _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer, appendingTo output: inout [UInt8]
    ) {
        let byteCount = first.count + second.count + Self.tagByteCount
        let isDone = unsafe output.appendUninitialised(byteCount) { target in
            unsafe begin(key: key, nonce: nonce, encrypts: true, associatedData: associatedData)
                && update(from: first, to: target)
                && update(from: second, to: target + first.count)
                && finish(target)
                && EVP_CIPHER_CTX_ctrl(
                    cipherContext, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount),
                    target + first.count + second.count) == 1
        }
        precondition(isDone, "libcrypto refused to encrypt")
    }

    /// Decrypts a message and appends the plaintext; false, with `output` as it was, when it is not authentic.
    func open(
        key: Bytes32, nonce: UInt64, associatedData: UnsafeRawBufferPointer, _ message: UnsafeRawBufferPointer,
        appendingTo output: inout [UInt8]
    ) -> Bool {
        let byteCount = message.count - Self.tagByteCount
        guard byteCount >= 0 else { return false }
        let before = output.count
        let isAuthentic = unsafe output.appendUninitialised(byteCount) { target in
            let tag = unsafe UnsafeMutableRawPointer(mutating: message.baseAddress! + byteCount)
            return unsafe begin(key: key, nonce: nonce, encrypts: false, associatedData: associatedData)
                && EVP_CIPHER_CTX_ctrl(cipherContext, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), tag) == 1
                && update(from: UnsafeRawBufferPointer(rebasing: message[..<byteCount]), to: target)
                && finish(target)
        }
        if !isAuthentic {
            output.removeLast(output.count - before)
            // A failed tag leaves entries in this thread's error queue, which would grow stale for other users.
            ERR_clear_error()
        }
        return isAuthentic
    }

    private func begin(
        key: Bytes32, nonce: UInt64, encrypts: Bool, associatedData: UnsafeRawBufferPointer
    ) -> Bool {
        var nonceWords = (UInt32(0), UInt32(truncatingIfNeeded: nonce).littleEndian, UInt32(nonce >> 32).littleEndian)
        let isKeyed = unsafe withUnsafeBytes(of: &nonceWords) { nonce in
            unsafe key.withBigEndianBytes { key in
                // Without a cipher the context keeps its own: only key and nonce are set.
                unsafe EVP_CipherInit_ex2(
                    cipherContext, nil, key.baseAddress!.assumingMemoryBound(to: UInt8.self),
                    nonce.baseAddress!.assumingMemoryBound(to: UInt8.self), encrypts ? 1 : 0, nil) == 1
            }
        }
        guard isKeyed else { return false }
        guard let base = associatedData.baseAddress, unsafe !associatedData.isEmpty else { return true }
        var written: Int32 = 0
        return unsafe EVP_CipherUpdate(
            cipherContext, nil, &written, base.assumingMemoryBound(to: UInt8.self), Int32(associatedData.count)) == 1
    }

    private func update(from source: UnsafeRawBufferPointer, to target: UnsafeMutablePointer<UInt8>) -> Bool {
        guard let base = source.baseAddress, unsafe !source.isEmpty else { return true }
        var written: Int32 = 0
        return unsafe EVP_CipherUpdate(
            cipherContext, target, &written, base.assumingMemoryBound(to: UInt8.self), Int32(source.count)) == 1
    }

    private func finish(_ target: UnsafeMutablePointer<UInt8>) -> Bool {
        // A stream cipher's last step writes nothing; it makes the tag, or checks it.
        var written: Int32 = 0
        return unsafe EVP_CipherFinal_ex(cipherContext, target, &written) == 1
    }
}
