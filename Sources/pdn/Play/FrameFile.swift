import CommandLineSupport
import Foundation
import MediaEngine
import Synchronization

/// Writes a line for each decoded video frame; called on the engine's threads.
final class FrameFile: FrameObserver {
    private struct State {
        var handle: FileHandle
        var pending: [UInt8] = []
        var failed = false
    }

    private let state: Mutex<State>

    /// Creates the file.
    init(path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw CommandFailure.failed("\(path) can't be written") }
        state = Mutex(State(handle: handle, pending: Array(FrameHasher.header.utf8)))
    }

    func videoFrameDecoded(_ frame: VideoFrame) {
        guard let hasher = FrameHasher() else { return }
        let line = hasher.line(for: frame) + "\n"
        state.withLock { state in
            state.pending += Array(line.utf8)
            if state.pending.count > 32 * 1024 { Self.flush(&state) }
        }
    }

    /// Writes what is left.
    ///
    /// - Throws: When a write failed, now or before.
    func close() throws {
        let failed = state.withLock { state in
            Self.flush(&state)
            try? state.handle.close()
            return state.failed
        }
        if failed { throw CommandFailure.failed("the frame list could not be written; is the disk full?") }
    }

    private static func flush(_ state: inout State) {
        do {
            try state.handle.write(contentsOf: Data(state.pending))
        } catch {
            state.failed = true
        }
        state.pending = []
    }
}
