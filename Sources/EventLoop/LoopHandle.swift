internal import CLibuv

/// One libuv handle: its memory, from initialisation to its close callback.
///
/// The handle's `data` retains this object from `init` to the close callback, so that the loop can close every handle
/// when it stops; ``pointer`` is `nil` as soon as closing has begun, whoever began it. Owners hold the object strongly
/// and are held weakly by the closures they put into it. Confined to the loop.
@safe final class LoopHandle {
    let loop: EventLoop
    private(set) var pointer: UnsafeMutableRawPointer?
    /// Called once, on the loop, when closing begins because the loop stops.
    var onLoopStop: (() -> Void)?
    /// What C callbacks find: the owner, weakly.
    weak var owner: AnyObject?

    /// Allocates a handle of a type and initialises it with `start`.
    ///
    /// - Throws: ``LoopError`` of `start`; nothing is left then.
    init(
        loop: EventLoop, byteCount: Int,
        _ start: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutableRawPointer) -> Int32
    ) throws(LoopError) {
        loop.checkIsolated()
        self.loop = loop
        guard loop.acceptsHandles else { throw .cancelled }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        let code = unsafe start(loop.uv, memory)
        guard code == 0 else {
            unsafe memory.deallocate()
            throw LoopError(rawValue: code)
        }
        unsafe pointer = memory
        // Balanced in the close callback.
        unsafe memory.assumingMemoryBound(to: uv_handle_t.self).pointee.data =
            Unmanaged.passRetained(self).toOpaque()
        loop.register(self)
    }

    /// The handle as libuv's base type.
    var base: UnsafeMutablePointer<uv_handle_t>? { unsafe pointer?.assumingMemoryBound(to: uv_handle_t.self) }

    /// The handle as a stream; only for TCP.
    var stream: UnsafeMutablePointer<uv_stream_t>? { unsafe pointer?.assumingMemoryBound(to: uv_stream_t.self) }

    /// The handle as a TCP socket.
    var tcp: UnsafeMutablePointer<uv_tcp_t>? { unsafe pointer?.assumingMemoryBound(to: uv_tcp_t.self) }

    /// Closes the handle from its owner's `deinit`, which runs wherever the last reference was dropped.
    func closeFromAnywhere() {
        if loop.isCurrent { return close() }
        guard !loop.hasEnded else { return }  // It closed every handle.
        // This object is the loop's own from here on: its owner, who could have used it elsewhere, is gone.
        nonisolated(unsafe) let handle = self
        loop.submit(.call { unsafe handle.close() })
    }

    /// Begins closing; no callback of the handle comes after it. Harmless when closed.
    func close() {
        guard let handle = unsafe base else { return }
        loop.checkIsolated()
        unsafe pointer = nil
        loop.unregister(self)
        unsafe uv_close(handle) { handle in
            guard let handle = unsafe handle else { return }
            if let data = unsafe handle.pointee.data { unsafe Unmanaged<LoopHandle>.fromOpaque(data).release() }
            unsafe UnsafeMutableRawPointer(handle).deallocate()
        }
    }

    /// Closes the handle because the loop stops, and tells the owner.
    func closeForLoopStop() {
        let notify = onLoopStop
        onLoopStop = nil
        close()
        notify?()
    }

    /// The owner that a C callback's handle leads to; `nil` when it was released.
    static func owner<Owner: AnyObject>(of handle: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner? {
        guard let handle = unsafe handle,
            let data = unsafe handle.assumingMemoryBound(to: uv_handle_t.self).pointee.data
        else { return nil }
        return unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue().owner as? Owner
    }
}
