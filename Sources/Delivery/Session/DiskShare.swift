import Synchronization

/// What the sessions of a process have in files on disks: together they take a tenth of the free space at most.
final class DiskAccount: Sendable {
    /// That of this process.
    static let process = DiskAccount()

    private struct State {
        var byteCount = 0
        var shareCount = 0
    }

    private let state = Mutex(State())

    /// The bytes of all files.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// The sessions that have a file.
    var shareCount: Int { state.withLock { $0.shareCount } }

    fileprivate func change(byteCount: Int, shareCount: Int) {
        state.withLock { state in
            state.byteCount += byteCount
            state.shareCount += shareCount
        }
    }
}

/// One session's part of an account, from its making until it is released: however a session ends, what it had is given
/// back.
final class DiskShare {
    let account: DiskAccount

    /// The bytes of the session's file.
    var byteCount = 0 {
        didSet { if byteCount != oldValue { account.change(byteCount: byteCount - oldValue, shareCount: 0) } }
    }

    init(of account: DiskAccount) {
        self.account = account
        account.change(byteCount: 0, shareCount: 1)
    }

    deinit { account.change(byteCount: -byteCount, shareCount: -1) }

    /// The bytes of the other sessions' files.
    var othersByteCount: Int { account.byteCount - byteCount }
}
