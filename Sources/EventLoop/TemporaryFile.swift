internal import CLibuv
internal import Glibc

/// A file without a name: nothing of it is left behind, however the process ends. Read and written on libuv's thread pool.
///
/// Confined to the loop. Releasing it, or ``close()``, gives its space back once the requests under way have ended.
@safe public final class TemporaryFile {
    /// What is known of the file system that a folder lies in.
    public struct Volume: Sendable, Hashable {
        /// What this user may still write there, in bytes.
        public var freeByteCount: Int
        /// Whether it keeps its files in memory.
        public var isInMemory: Bool
    }

    private let loop: EventLoop
    private var descriptor: Int32
    /// Requests under way.
    private var requestCount = 0
    private var isClosed = false

    private init(loop: EventLoop, descriptor: Int32) {
        self.loop = loop
        self.descriptor = descriptor
    }

    deinit {
        // Requests hold the file: none is under way.
        guard descriptor >= 0 else { return }
        let (loop, descriptor) = (loop, descriptor)
        if loop.isCurrent || loop.hasEnded { return Self.close(descriptor, on: loop) }
        loop.submit(.call { Self.close(descriptor, on: loop) })
    }

    // MARK: Opening

    /// Makes an empty file that only this user can read, in the file system of `folder`.
    ///
    /// Where the system can't make one without a name, it has one for the moment between its making and its removal.
    ///
    /// - Parameter completion: Called once, on the loop; before this returns when the call itself failed.
    public static func open(
        in folder: String, loop: EventLoop, completion: @escaping (Result<TemporaryFile, LoopError>) -> Void
    ) {
        guard loop.acceptsHandles else { return completion(.failure(.cancelled)) }
        let nameless = CLibuv_namelessFileFlag()
        guard nameless != 0 else { return openNamed(in: folder, loop: loop, completion: completion) }
        let flags = nameless | O_RDWR | O_EXCL
        unsafe FileRequest.begin(on: loop) { loop, request, callback in
            unsafe uv_fs_open(loop, request, folder, flags, 0o600, callback)
        } completion: { result, _ in
            if result >= 0 { return completion(.success(TemporaryFile(loop: loop, descriptor: Int32(result)))) }
            // What file systems say that have no such files, and systems that don't know the flag.
            let refusals = [UV_ENOTSUP, UV_EISDIR, UV_EINVAL, UV_ENOSYS].map { Int($0.rawValue) }
            guard refusals.contains(result) else { return completion(.failure(LoopError(rawValue: Int32(result)))) }
            openNamed(in: folder, loop: loop, completion: completion)
        }
    }

    /// Makes a file with a name and takes the name away.
    static func openNamed(
        in folder: String, loop: EventLoop, completion: @escaping (Result<TemporaryFile, LoopError>) -> Void
    ) {
        guard loop.acceptsHandles else { return completion(.failure(.cancelled)) }
        unsafe FileRequest.begin(on: loop) { loop, request, callback in
            unsafe uv_fs_mkstemp(loop, request, folder + "/.vbplayer-XXXXXX", callback)
        } completion: { result, request in
            guard result >= 0, let path = unsafe request.pointee.path else {
                return completion(.failure(LoopError(rawValue: Int32(clamping: result))))
            }
            let file = TemporaryFile(loop: loop, descriptor: Int32(result))
            // At once and on this thread: after a step through the pool a killed process would leave it behind.
            let code = unsafe unlink(path)
            completion(code == 0 ? .success(file) : .failure(LoopError(rawValue: -errno)))
        }
    }

    /// Asks for a folder's file system.
    ///
    /// - Parameter completion: As that of ``open(in:loop:completion:)``.
    public static func volume(
        of folder: String, loop: EventLoop, completion: @escaping (Result<Volume, LoopError>) -> Void
    ) {
        guard loop.acceptsHandles else { return completion(.failure(.cancelled)) }
        unsafe FileRequest.begin(on: loop) { loop, request, callback in
            unsafe uv_fs_statfs(loop, request, folder, callback)
        } completion: { result, request in
            guard result >= 0, let pointer = unsafe request.pointee.ptr else {
                return completion(.failure(LoopError(rawValue: Int32(clamping: result))))
            }
            let answer = unsafe pointer.assumingMemoryBound(to: uv_statfs_t.self).pointee
            let (free, overflow) = answer.f_bavail.multipliedReportingOverflow(by: answer.f_bsize)
            // statfs(2): TMPFS_MAGIC and RAMFS_MAGIC.
            let isInMemory = [0x0102_1994, 0x8584_58F6].contains(answer.f_type & 0xFFFF_FFFF)
            completion(.success(Volume(freeByteCount: overflow ? .max : Int(clamping: free), isInMemory: isInMemory)))
        }
    }

    // MARK: Bytes

    /// Writes pieces one behind the other.
    ///
    /// - Parameter completion: Called once, on the loop, when all is written; before this returns when the call itself
    ///   failed.
    public func write(
        _ pieces: [ArraySlice<UInt8>], at offset: Int, completion: @escaping (Result<Void, LoopError>) -> Void
    ) {
        transfer(FileMemory(pieces), from: 0, at: offset, isWrite: true) { completion($0.map { _ in }) }
    }

    /// Reads a range; ``LoopError/endOfStream`` when the file ends within it.
    ///
    /// - Parameter completion: As that of ``write(_:at:completion:)``.
    public func read(
        byteCount: Int, at offset: Int, completion: @escaping (Result<[UInt8], LoopError>) -> Void
    ) {
        transfer(FileMemory(byteCount: byteCount), from: 0, at: offset, isWrite: false) { result in
            completion(result.map(\.bytes))
        }
    }

    /// Moves what is left of the memory, in as many requests as the system wants.
    private func transfer(
        _ memory: FileMemory, from done: Int, at offset: Int, isWrite: Bool,
        completion: @escaping (Result<FileMemory, LoopError>) -> Void
    ) {
        guard done < memory.byteCount else { return completion(.success(memory)) }
        guard begin() else { return completion(.failure(.cancelled)) }
        let descriptor = descriptor
        unsafe FileRequest.begin(on: loop) { loop, request, callback in
            var rest = unsafe memory.rest(from: done)
            let position = Int64(offset + done)
            return if isWrite {
                unsafe uv_fs_write(loop, request, descriptor, &rest, 1, position, callback)
            } else {
                unsafe uv_fs_read(loop, request, descriptor, &rest, 1, position, callback)
            }
        } completion: { result, _ in
            self.end()
            guard result != 0 else { return completion(.failure(.endOfStream)) }
            guard result > 0 else { return completion(.failure(LoopError(rawValue: Int32(clamping: result)))) }
            self.transfer(memory, from: done + result, at: offset, isWrite: isWrite, completion: completion)
        }
    }

    /// Gives back the space behind `byteCount`.
    ///
    /// - Parameter completion: As that of ``write(_:at:completion:)``.
    public func truncate(to byteCount: Int, completion: @escaping (Result<Void, LoopError>) -> Void) {
        guard begin() else { return completion(.failure(.cancelled)) }
        let descriptor = descriptor
        unsafe FileRequest.begin(on: loop) { loop, request, callback in
            unsafe uv_fs_ftruncate(loop, request, descriptor, Int64(byteCount), callback)
        } completion: { result, _ in
            self.end()
            completion(result < 0 ? .failure(LoopError(rawValue: Int32(clamping: result))) : .success(()))
        }
    }

    // MARK: Closing

    /// Closes the file once the requests under way have ended; later ones are refused. On the loop, or once it has ended.
    public func close() {
        if !loop.hasEnded { loop.checkIsolated() }
        isClosed = true
        closeIfIdle()
    }

    private func begin() -> Bool {
        loop.checkIsolated()
        guard !isClosed, loop.acceptsHandles else { return false }
        requestCount += 1
        return true
    }

    private func end() {
        requestCount -= 1
        closeIfIdle()
    }

    private func closeIfIdle() {
        guard isClosed, requestCount == 0, descriptor >= 0 else { return }
        Self.close(descriptor, on: loop)
        descriptor = -1
    }

    /// Closes on the pool, since to give much space back takes time; where the loop has ended, at once.
    private static func close(_ descriptor: Int32, on loop: EventLoop) {
        guard !loop.hasEnded else {
            Glibc.close(descriptor)
            return
        }
        unsafe FileRequest.begin(on: loop) { loop, request, callback in
            unsafe uv_fs_close(loop, request, descriptor, callback)
        } completion: { _, _ in
        }
    }
}
