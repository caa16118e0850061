// FFmpeg's headers bring the pthread types in, so that the compiler counts them to its module.
internal import CFFmpeg
internal import CFFmpegShims
internal import Glibc

/// Starts threads that nobody joins: each ends by itself when its body returns.
enum WorkerThread {
    private final class Box {
        let name: String
        let body: () -> Void

        init(name: String, body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Runs `body` on a new thread. Returns false when the system has no thread left.
    ///
    /// - Parameter name: shown by debuggers; at most 15 bytes.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, 2 << 20)
        // The new thread takes the box over and releases it when the body has returned.
        let context = unsafe Unmanaged.passRetained(Box(name: name, body: body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                let box = unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
                unsafe CFFmpegShims_nameThread(box.name)
                box.body()
                return nil
            }, context.toOpaque())
        if result != 0 { unsafe context.release() }
        return result == 0
    }
}
