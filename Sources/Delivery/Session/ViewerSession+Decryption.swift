import Cryptography
import Manifest

/// From the bytes that the store, the CDN and peers have, which stay encrypted, to those that the player reads.
extension ViewerSession {
    /// How the bytes of a resource are read.
    enum Reading {
        case asTheyAre
        /// The resource is encrypted as a whole.
        case resource(ResourceCipher)
        /// Its samples are encrypted: the player decrypts them.
        case samples(SampleKeys)
    }

    /// Segments in a row of which the end can't be decrypted, before that is no accident any more.
    private static let undecryptableLimit = 3

    /// How something encrypted is read; `nil` while its key is awaited, or when it can't be had, which ends the session.
    func reading(_ encryption: Encryption?, url: String) -> Reading? {
        guard let encryption else {
            // Media may say of themselves what the manifest keeps to itself.
            let keys = configuration.contentKeys
            return keys.isEmpty ? .asTheyAre : .samples(SampleKeys(byID: keys))
        }
        do throws(SessionError) {
            if let obstacle = encryption.obstacle(knowing: Set(configuration.contentKeys.keys)) {
                throw .contentKey(url: url, reason: "the media are encrypted (\(encryption)), \(obstacle)")
            }
            guard let method = ResourceCipher.Method(rawValue: encryption.method) else {
                return try samples(encryption).map { .samples($0) }
            }
            guard let address = encryption.keyURL,
                let key = try contentKeys.key(at: address, byteCount: method.keyByteCount)
            else { return nil }
            // Without a vector there is no more than a map that should have one (section 4.4.4.5).
            let vector = encryption.initializationVector ?? [UInt8](repeating: 0, count: 16)
            return ResourceCipher(method, key: key, vector: vector).map { .resource($0) }
        } catch {
            fail(error)
            return nil
        }
    }

    private func samples(_ encryption: Encryption) throws(SessionError) -> SampleKeys? {
        var keys = SampleKeys(byID: configuration.contentKeys, vector: encryption.initializationVector)
        guard let url = encryption.keyURL else { return keys }
        guard let key = try contentKeys.key(at: url, byteCount: 16) else { return nil }
        keys.other = key
        return keys
    }

    /// Asks for the key of a segment, so that it is there when the segment is.
    func loadKey(track: Int, segment: Int) {
        guard segment < tracks[track].segments.count, tracks[track].isKnown(segment),
            let encryption = tracks[track].segment(segment).encryption, let url = encryption.keyURL
        else { return }
        let byteCount = ResourceCipher.Method(rawValue: encryption.method)?.keyByteCount ?? 16
        // What is wrong with it is said when it is needed.
        _ = try? contentKeys.key(at: url, byteCount: byteCount)
    }

    /// The bytes of an initialization section as the player reads them; `nil` while its key is awaited.
    func readable(_ bytes: [UInt8], of initialization: InitializationReference) -> [UInt8]? {
        switch reading(initialization.encryption, url: initialization.url) {
        case nil: return nil
        case .asTheyAre, .samples: return bytes
        case .resource(let cipher):
            let front = cipher.decrypt(bytes[...])
            do throws(ResourceCipher.Failure) {
                return front + (try cipher.finish())
            } catch {
                fail(.undecryptable(url: initialization.url, error))
                return nil
            }
        }
    }

    /// The end of a segment that is encrypted as a whole.
    ///
    /// One that can't be decrypted to its end is damaged, as any other may be; several in a row end the session.
    func finishDecryption(_ cipher: ResourceCipher, of segment: SegmentReference, track: Int) -> [UInt8] {
        do throws(ResourceCipher.Failure) {
            let rest = try cipher.finish()
            tracks[track].undecryptableCount = 0
            return rest
        } catch {
            tracks[track].undecryptableCount += 1
            let failure = SessionError.undecryptable(url: segment.url, error)
            if tracks[track].undecryptableCount >= Self.undecryptableLimit {
                fail(failure)
            } else {
                log("session", "\(failure)", .warning)
            }
            return []
        }
    }
}
