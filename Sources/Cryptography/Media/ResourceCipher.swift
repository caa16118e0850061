/// Decrypts a resource that is encrypted as a whole, in any split of its bytes: RFC 8216bis, section 4.4.4.4.
public final class ResourceCipher {
    /// How the resource is encrypted.
    public enum Method: String, Sendable {
        /// CBC with a key of 16 bytes, padded (RFC 5652, section 6.3). Decrypted as it comes.
        case aes128 = "AES-128"
        /// The same with a key of 32 bytes.
        case aes256 = "AES-256"
        /// Counter mode with a key of 32 bytes, not padded.
        case aes256CTR = "AES-256-CTR"
        /// Authenticated, with a key of 32 bytes: a vector of 16 bytes stands in front, a tag of 16 bytes at the end. Nothing
        /// is given out before the tag is verified.
        case aes256GCM = "AES-256-GCM"

        /// The size of its key.
        public var keyByteCount: Int { self == .aes128 ? 16 : 32 }
        /// Whether a vector must be given.
        public var needsVector: Bool { self != .aes256GCM }
    }

    /// Why the end of a resource could not be decrypted. What came before it has been given out.
    public enum Failure: Error, Equatable {
        /// The bytes end inside a block, or before there is any.
        case truncated
        /// The last block has no padding: another key, or other bytes.
        case badPadding
        /// The tag is not that of the bytes and the key.
        case notAuthentic
    }

    private let method: Method
    private let context: CipherContext
    /// GCM: everything so far.
    private var held: [UInt8] = []
    private var byteCount = 0

    /// Begins a resource.
    ///
    /// - Parameter vector: 16 bytes; without a meaning for GCM.
    /// - Returns: `nil` when the key has another size than the method's, or there is no vector.
    public init?(_ method: Method, key: ContentKey, vector: [UInt8]?) {
        guard key.byteCount == method.keyByteCount else { return nil }
        guard !method.needsVector || vector?.count == CipherContext.blockByteCount else { return nil }
        self.method = method
        switch method {
        case .aes128, .aes256: context = CipherContext(.cbcPadded, key: key)
        case .aes256CTR: context = CipherContext(.ctr, key: key)
        case .aes256GCM: context = CipherContext(.gcm, key: key)
        }
        if method.needsVector, let vector { context.begin(vector) }
    }

    /// Takes the next bytes; what can be read of them already.
    public func decrypt(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        byteCount += bytes.count
        guard method == .aes256GCM else { return context.decrypt(bytes) }
        held += bytes
        return []
    }

    /// Ends the resource; the rest.
    public func finish() throws(Failure) -> [UInt8] {
        switch method {
        case .aes256CTR: return []
        case .aes128, .aes256:
            guard byteCount > 0, byteCount % CipherContext.blockByteCount == 0 else { throw .truncated }
            guard let last = context.finish() else { throw .badPadding }
            return last
        case .aes256GCM:
            let size = CipherContext.blockByteCount
            guard held.count >= 2 * size else { throw .truncated }
            context.begin(Array(held.prefix(size)))
            let clear = context.decrypt(held[size..<held.count - size])
            guard context.verify(tag: Array(held.suffix(size))) else { throw .notAuthentic }
            held = []
            return clear
        }
    }
}
