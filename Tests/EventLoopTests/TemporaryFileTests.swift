import CLibuv
@testable import EventLoop
import Foundation
import Glibc
import TestSupport
import Testing

/// Files without a name, on a real file system.
@Suite(.timeLimit(.minutes(5))) struct TemporaryFileTests {
    /// Runs a script on a loop until it calls its last argument.
    private func onLoop<Result: Sendable>(
        _ script: @escaping @Sendable (EventLoop, @escaping (Result) -> Void) -> Void
    ) async throws -> Result {
        let loop = try EventLoop.startThread(named: "file")
        let result = await withCheckedContinuation { continuation in
            loop.execute { script(loop) { continuation.resume(returning: $0) } }
        }
        loop.stopAndWait()
        return result
    }

    /// The open descriptors of this process that lead into a folder.
    private static func descriptors(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .filter { $0.hasPrefix(folder) }
    }

    @Test(arguments: [false, true])
    func bytesComeBackAndNothingIsLeft(isNamedAtFirst: Bool) async throws {
        let folder = try TestFolder("file")
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        struct Outcome: Sendable {
            var names: [String]
            var read: [UInt8] = []
            var beyond: LoopError?
            var shortened: LoopError?
        }
        let path = folder.path
        let outcome: Outcome = try await onLoop { loop, end in
            let use = { (result: Result<TemporaryFile, LoopError>) in
                guard case .success(let file) = result else { return end(Outcome(names: ["\(result)"])) }
                var outcome = Outcome(names: (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? ["?"])
                file.write([bytes[..<10], bytes[10..<2_000_000], bytes[2_000_000...]], at: 5) { _ in
                    file.read(byteCount: bytes.count - 7, at: 12) { result in
                        outcome.read = (try? result.get()) ?? []
                        file.read(byteCount: 100, at: bytes.count - 50) { result in
                            if case .failure(let error) = result { outcome.beyond = error }
                            file.truncate(to: 1000) { _ in
                                file.read(byteCount: 1, at: 1000) { result in
                                    if case .failure(let error) = result { outcome.shortened = error }
                                    file.close()
                                    file.close()
                                    end(outcome)
                                }
                            }
                        }
                    }
                }
            }
            if isNamedAtFirst {
                TemporaryFile.openNamed(in: path, loop: loop, completion: use)
            } else {
                TemporaryFile.open(in: path, loop: loop, completion: use)
            }
        }
        #expect(outcome.names == [])
        #expect(outcome.read == Array(bytes[7...]))
        #expect(outcome.beyond == .endOfStream && outcome.shortened == .endOfStream)
        #expect(Self.descriptors(in: path).isEmpty)
    }

    @Test func aFolderThatIsNotThereIsAnError() async throws {
        let folder = try TestFolder("file")
        let missing = folder.path("missing")
        let codes: [LoopError?] = try await onLoop { loop, end in
            TemporaryFile.open(in: missing, loop: loop) { result in
                TemporaryFile.volume(of: missing, loop: loop) { volume in
                    var codes: [LoopError?] = [nil, nil]
                    if case .failure(let error) = result { codes[0] = error }
                    if case .failure(let error) = volume { codes[1] = error }
                    end(codes)
                }
            }
        }
        #expect(codes.allSatisfy { $0 != nil })
    }

    @Test func theVolumeSaysWhatIsFree() async throws {
        let folder = try TestFolder("file")
        let path = folder.path
        let volume: TemporaryFile.Volume? = try await onLoop { loop, end in
            TemporaryFile.volume(of: path, loop: loop) { end(try? $0.get()) }
        }
        #expect(try #require(volume).freeByteCount > 0)
    }

    /// A file that leaves its loop; used by one thread at a time.
    private final class Holder: @unchecked Sendable { var file: TemporaryFile? }

    /// Opens a file, and does the first thing with it on its loop.
    private static func hold(
        in path: String, _ loop: EventLoop, first: @escaping @Sendable (TemporaryFile?) -> Void = { _ in }
    ) async -> Holder {
        let holder = Holder()
        await withCheckedContinuation { continuation in
            loop.execute {
                TemporaryFile.open(in: path, loop: loop) { result in
                    holder.file = try? result.get()
                    first(holder.file)
                    continuation.resume()
                }
            }
        }
        return holder
    }

    /// A file outlives its loop: it is closed at once, on whichever thread.
    @Test func aFileIsClosedAfterItsLoop() async throws {
        let folder = try TestFolder("file")
        let path = folder.path
        let loop = try EventLoop.startThread(named: "file")
        let holder = await Self.hold(in: path, loop)
        loop.stopAndWait()
        #expect(Self.descriptors(in: path).count == 1)
        try #require(holder.file).close()
        #expect(Self.descriptors(in: path).isEmpty)
        holder.file?.close()
    }

    /// A file request that never ends, as on a disk or file server that hangs, doesn't keep the loop for ever.
    @Test func aLoopEndsAlthoughADiskHangs() async throws {
        let folder = try TestFolder("file")
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let loop = try EventLoop.startThread(named: "file")
        final class Flag: @unchecked Sendable { var isSet = false }  // One thread at a time.
        let told = Flag()
        await withCheckedContinuation { continuation in
            loop.execute {
                // Waits for somebody who writes.
                unsafe FileRequest.begin(on: loop) { loop, request, callback in
                    unsafe uv_fs_open(loop, request, pipe, O_RDONLY, 0, callback)
                } completion: { _, _ in
                    told.isSet = true
                }
                continuation.resume()
            }
        }
        await loop.shutDown()
        #expect(!told.isSet)
        #expect(!loop.execute {})
        // The disk works again, and touches only what is still there.
        let writer = open(pipe, O_WRONLY | O_CLOEXEC)
        #expect(writer >= 0)
        close(writer)
    }

    /// A loop that stops, and a file that is released elsewhere, leave nothing open.
    @Test func everyEndClosesTheFile() async throws {
        let folder = try TestFolder("file")
        let path = folder.path
        for isStopped in [false, true] {
            let loop = try EventLoop.startThread(named: "file")
            // A write is under way when the loop stops.
            let holder = await Self.hold(in: path, loop) { file in
                file?.write([[UInt8](repeating: 1, count: 1 << 20)[...]], at: 0) { _ in }
            }
            #expect(holder.file != nil)
            if isStopped { loop.stopAndWait() }
            holder.file = nil
            if !isStopped { loop.stopAndWait() }
            #expect(Self.descriptors(in: path).isEmpty)
        }
    }
}
