internal import Glibc

/// Blocks SIGPIPE on the calling thread, and takes one back that came meanwhile.
///
/// libuv writes without MSG_NOSIGNAL, and a peer that has gone must be an error of that write and not the end of the
/// process. The rest of the process keeps its disposition, which is not a library's to change.
struct BrokenPipeSignal {
    private let blocked: sigset_t
    private let previous: sigset_t

    init() {
        var (blocked, previous) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&blocked)
        unsafe sigaddset(&blocked, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &previous)
        self.blocked = blocked
        self.previous = previous
    }

    /// Lets the thread have the signal again, if it had before.
    func restore() {
        var (blocked, previous) = (blocked, previous)
        guard unsafe sigismember(&previous, SIGPIPE) == 0 else { return }
        var noWait = timespec()
        unsafe _ = sigtimedwait(&blocked, nil, &noWait)
        unsafe pthread_sigmask(SIG_SETMASK, &previous, nil)
    }
}
