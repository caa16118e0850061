internal import CSodium

/// Unkeyed BLAKE2b with 64 bytes of output (RFC 7693), and HMAC (RFC 2104) over it.
enum BLAKE2b {
    /// Bytes of a digest.
    static let digestByteCount = 64
    /// Bytes of a block, which HMAC pads its key to.
    static let blockByteCount = 128

    /// The digest of `bytes`.
    static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: digestByteCount)
        _ = unsafe crypto_generichash(&digest, digestByteCount, bytes, UInt64(bytes.count), nil, 0)
        return digest
    }

    /// HMAC-BLAKE2b of `bytes`.
    static func authenticate(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var pad = key.count > blockByteCount ? hash(key) : key
        pad.append(contentsOf: repeatElement(0, count: blockByteCount - pad.count))
        for index in pad.indices { pad[index] ^= 0x36 }
        let inner = hash(pad + bytes)
        for index in pad.indices { pad[index] ^= 0x36 ^ 0x5C }
        defer { unsafe sodium_memzero(&pad, blockByteCount) }
        return hash(pad + inner)
    }
}
