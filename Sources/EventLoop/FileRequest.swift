internal import CLibuv

/// One request of libuv's file functions, which run on its thread pool: its memory and who is told of its end.
@safe final class FileRequest {
    /// What the system answered: a count or a descriptor, or a negative code; and the request with what else it gives.
    typealias Completion = (_ result: Int, _ request: UnsafeMutablePointer<uv_fs_t>) -> Void

    private let loop: EventLoop
    private let completion: Completion

    private init(on loop: EventLoop, _ completion: @escaping Completion) {
        self.loop = loop
        unsafe self.completion = unsafe completion
    }

    /// Begins a request; on the loop's thread.
    ///
    /// - Parameter completion: Called once, on the loop; before this returns when the call itself failed. A loop that
    ///   stops waits for what has begun, but not for ever: what hangs is never told of.
    static func begin(
        on loop: EventLoop,
        _ start: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutablePointer<uv_fs_t>, uv_fs_cb) -> Int32,
        completion: @escaping Completion
    ) {
        loop.checkIsolated()
        let request = UnsafeMutablePointer<uv_fs_t>.allocate(capacity: 1)
        unsafe request.initialize(to: uv_fs_t())
        let owner = unsafe FileRequest(on: loop, completion)
        // Balanced in the callback, which always comes when the call succeeds.
        unsafe request.pointee.data = Unmanaged.passRetained(owner).toOpaque()
        let code = unsafe start(loop.uv, request) { request in
            guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
            let owner = unsafe Unmanaged<FileRequest>.fromOpaque(data).takeRetainedValue()
            owner.loop.fileRequestCount -= 1
            unsafe owner.completion(request.pointee.result, request)
            unsafe uv_fs_req_cleanup(request)
            unsafe request.deallocate()
        }
        guard code < 0 else {
            loop.fileRequestCount += 1
            return
        }
        unsafe Unmanaged.passUnretained(owner).release()
        unsafe completion(Int(code), request)
        unsafe uv_fs_req_cleanup(request)
        unsafe request.deallocate()
    }
}

/// Memory that a request reads into or writes from; freed with its last reference.
@safe final class FileMemory {
    let base: UnsafeMutableRawPointer
    let byteCount: Int

    /// Allocates without clearing.
    init(byteCount: Int) {
        unsafe base = .allocate(byteCount: max(1, byteCount), alignment: 16)
        self.byteCount = byteCount
    }

    /// Copies pieces one behind the other.
    convenience init(_ pieces: [ArraySlice<UInt8>]) {
        self.init(byteCount: pieces.reduce(0) { $0 + $1.count })
        var offset = 0
        for piece in pieces {
            unsafe piece.withUnsafeBytes { bytes in
                guard let source = bytes.baseAddress else { return }
                unsafe base.advanced(by: offset).copyMemory(from: source, byteCount: bytes.count)
            }
            offset += piece.count
        }
    }

    deinit { unsafe base.deallocate() }

    /// The bytes, copied.
    var bytes: [UInt8] { unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: byteCount)) }

    /// The bytes from `offset` on, as libuv wants them.
    func rest(from offset: Int) -> uv_buf_t {
        unsafe uv_buf_init(
            base.advanced(by: offset).assumingMemoryBound(to: CChar.self), UInt32(clamping: byteCount - offset))
    }
}
