import CoreModel
import EventLoop
import Foundation
import Integrity
import Scheduling
import ViewerCore

/// The disk under a session's segment store: carries out what its ``DiskStore`` decides, in a file without a name.
///
/// Bytes that are read back are verified again before anybody gets them. Confined to the loop.
final class SegmentDisk {
    /// Holds the disk. Weak, since it may go in the midst of what the disk tells it.
    private weak var session: ViewerSession?
    private let loop: EventLoop
    private(set) var store: DiskStore
    private var file: TemporaryFile?
    /// The file's part of the space that all sessions share; since it is there.
    private var share: DiskShare?
    /// The sessions that share it, when it was last looked at.
    private var shareCount = 0
    /// The folder that the file is in.
    private var folder: String?
    /// Fires when the store has something to do later.
    private var wakeTimer: LoopTimer?
    /// Fires at once, but not inside the caller's call.
    private var turnTimer: LoopTimer?
    private var isDriving = false
    private var isClosed = false
    /// What was said of the disk since it last worked: the same isn't said again for each segment.
    private var complaints = Set<String>()

    init(session: ViewerSession) {
        self.session = session
        loop = session.loop
        let configuration = session.configuration
        store = DiskStore(byteCount: configuration.diskByteCount, memoryByteCount: configuration.storeByteCount)
        wakeTimer = LoopTimer(loop: loop) { [weak self] in self?.drive() }
        turnTimer = LoopTimer(loop: loop) { [weak self] in self?.drive() }
    }

    /// Gives the file up; nothing is told any more.
    func close() {
        isClosed = true
        wakeTimer = nil
        turnTimer = nil
        file?.close()
        file = nil
        share = nil
    }

    // MARK: What the session says

    /// Whether segments are taken now.
    var isAccepting: Bool { store.isAccepting(now: loop.now) }

    /// Moves a whole and verified segment to the disk; false when it can't.
    func move(_ id: SegmentID, chunkCount: Int) -> Bool {
        guard store.move(id, chunkCount: chunkCount, now: loop.now) else { return false }
        driveSoon()
        return true
    }

    /// A peer waits for chunks; false when they can't be had from here.
    func want(_ id: SegmentID, chunks: Range<Int>) -> Bool {
        guard store.want(id, chunks: chunks) else { return false }
        driveSoon()
        return true
    }

    /// The player waits for a chunk.
    func play(_ id: SegmentID, from chunk: Int) {
        store.play(id, from: chunk)
        driveSoon()
    }

    func stopPlaying(track: Int) { store.stopPlaying(track: track) }

    func unloaded(_ id: SegmentID) { store.unloaded(id) }

    func discard(_ id: SegmentID) { store.discard(id) }

    /// Looks at what takes too long, and at whom the space is shared with.
    func tick() {
        store.tick()
        if let share, share.account.shareCount != shareCount {
            shareCount = share.account.shareCount
            store.sharesChanged()
        }
        drive()
    }

    /// Uses the disk no more; what is there alone is lost.
    func giveUp() {
        store.giveUp()
        drive()
    }

    // MARK: Carrying out

    private func driveSoon() { turnTimer?.arm(after: .zero) }

    private func drive() {
        guard !isDriving, !isClosed, let session else { return }
        isDriving = true
        let hasChanged = carryOut(for: session)
        isDriving = false
        guard hasChanged, !isClosed || store.isOff else { return }
        session.evict()
        session.pumpAll()
    }

    /// Whether segments have moved or were lost.
    private func carryOut(for session: ViewerSession) -> Bool {
        var hasChanged = false
        while !isClosed {
            let output = store.poll(now: loop.now) { id, chunks in
                session.swarm?.isAwaited(id, chunks: chunks) == true
            }
            switch output {
            case .perform(let operation): perform(operation, for: session)
            case .moved(let id):
                session.didMove(id)
                hasChanged = true
            case .unload(let id, let chunks): session.unload(id, chunks)
            case .refused(let id, let chunks): session.swarm?.didChange(id, chunks: chunks)
            case .lost(let id):
                session.didLose(id)
                hasChanged = true
            case .wait(let until):
                if store.isOff { close() } else if let until { wakeTimer?.arm(at: until) }
                return hasChanged
            }
        }
        return hasChanged
    }

    private func ended(_ outcome: DiskStore.Outcome) {
        guard !isClosed else { return }
        store.ended(outcome, now: loop.now)
        share?.byteCount = store.fileByteCount
        driveSoon()
    }

    private func perform(_ operation: DiskStore.Operation, for session: ViewerSession) {
        // The file may become longer from now on.
        share?.byteCount = store.fileByteCount
        switch operation {
        case .measure: measure(for: session)
        case .truncate(let byteCount):
            guard let file else { return ended(.failed) }
            file.truncate(to: byteCount) { [weak self] result in self?.end(result, "made smaller") }
        case .write(let id, let run): write(id, run, of: session)
        case .read(let id, let run): read(id, run, of: session)
        }
    }

    private func write(_ id: SegmentID, _ run: DiskRun, of session: ViewerSession) {
        let buffer = session.tracks[id.track].buffers[id.index]
        let pieces = run.chunks.compactMap { buffer?.chunk(at: $0) }
        // It was dropped a moment ago: the store knows, and asks what became of it.
        guard let file, pieces.count == run.chunks.count else { return ended(.failed) }
        file.write(pieces, at: run.offset) { [weak self] result in self?.end(result, "written") }
    }

    private func read(_ id: SegmentID, _ run: DiskRun, of session: ViewerSession) {
        guard let file, let geometry = session.tracks[id.track].buffers[id.index]?.verifiedSegment?.geometry,
            geometry.chunks.contains(run.chunks.upperBound - 1)
        else { return ended(.failed) }
        let byteCount = geometry.byteRange(ofChunks: run.chunks).count
        file.read(byteCount: byteCount, at: run.offset) { [weak self] result in
            guard let self, !isClosed else { return }
            switch result {
            case .success(let bytes): take(bytes, of: id, chunks: run.chunks)
            case .failure: end(result.map { _ in }, "read")
            }
        }
    }

    /// Takes what was read, when it is what was written.
    private func take(_ bytes: [UInt8], of id: SegmentID, chunks: Range<Int>) {
        guard let session else { return }
        // Meanwhile the segment may have been dropped.
        guard store.holds(id), let buffer = session.tracks[id.track].buffers[id.index] else { return ended(.failed) }
        var rest = bytes[...]
        for chunk in chunks {
            let piece = rest.prefix(SegmentGeometry.chunkByteCount)
            rest = rest.dropFirst(piece.count)
            do {
                _ = try buffer.take(chunk: piece, at: chunk)
            } catch {
                complain("what was read of segment \(id) from the disk is not what was written; it is not used")
                return ended(.failed)
            }
        }
        session.figures.bytes.diskRead += bytes.count
        complaints = []
        ended(.done)
        session.didRead(id, chunks: chunks)
    }

    private func end(_ result: Result<Void, LoopError>, _ verb: String) {
        guard !isClosed else { return }
        switch result {
        case .success:
            complaints = []
            ended(.done)
        case .failure(let error):
            complain("segments can't be \(verb) on the disk: \(error)")
            ended(.failed)
        }
    }

    private func complain(_ sentence: String) {
        guard complaints.insert(sentence).inserted else { return }
        session?.log("store", sentence, .warning)
    }

    // MARK: The file

    private func measure(for session: ViewerSession) {
        guard let folder, file != nil else { return open(in: session.configuration.diskFolders[...]) }
        TemporaryFile.volume(of: folder, loop: loop) { [weak self] result in
            guard let self, !isClosed else { return }
            switch result {
            case .success(let volume): measured(volume)
            case .failure: end(result.map { _ in }, "written")
            }
        }
    }

    private func measured(_ volume: TemporaryFile.Volume) {
        guard let share else { return ended(.failed) }
        shareCount = share.account.shareCount
        ended(
            .measured(
                freeByteCount: volume.freeByteCount, othersByteCount: share.othersByteCount, sessionCount: shareCount))
    }

    /// Makes the file in the first folder that is there and not in memory.
    private func open(in folders: ArraySlice<SessionConfiguration.DiskFolder>) {
        guard let candidate = folders.first else {
            session?.log("store", "segments are kept in memory alone: no folder on a disk takes a file", .warning)
            store.giveUp()
            return driveSoon()
        }
        let loop = loop
        TemporaryFile.volume(of: candidate.path, loop: loop) { [weak self] result in
            guard let self, !isClosed else { return }
            guard case .success(let volume) = result, !volume.isInMemory || candidate.isChosen else {
                return open(in: folders.dropFirst())
            }
            TemporaryFile.open(in: candidate.path, loop: loop) { [weak self] result in
                guard let self, !isClosed else { return }
                guard case .success(let file) = result else { return open(in: folders.dropFirst()) }
                self.file = file
                share = DiskShare(of: .process)
                folder = candidate.path
                measured(volume)
            }
        }
    }
}
