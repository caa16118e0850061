import CoreModel
@testable import Delivery
import EventLoop
import Foundation
import Glibc
import Integrity
import TestSupport
import Testing
import TrackerCore
import TrackerProtocol

/// The store's disk under whole sessions: an origin, a tracker, and viewers whose memory holds two fifths of the title.
@Suite(.timeLimit(.minutes(5))) struct DiskTests {
    private static let memoryByteCount = 1 << 20

    private let title = TestTitle(segmentCount: 24, segmentDuration: 250, byteCount: 100_000)
    private let folder: TestFolder

    init() throws { folder = try TestFolder("disk") }

    /// A viewer with a disk.
    private static func store(_ path: String, byteCount: Int = 64 << 20) -> (inout SessionConfiguration) -> Void {
        { configuration in
            configuration.storeByteCount = memoryByteCount
            // What is handed over lies behind the playhead soon.
            configuration.feedAhead = .seconds(1)
            configuration.diskByteCount = byteCount
            configuration.diskFolder = path
        }
    }

    /// What lies in a folder: names, and the sizes of this process's files without one.
    private struct Contents: Sendable {
        var names: [String] = []
        var descriptors: [Int32] = []
        var byteCount = 0

        init() {}

        init(of folder: String) {
            names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? ["?"]
            for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                guard target?.hasPrefix(folder) == true, let descriptor = Int32(name) else { continue }
                var status = stat()
                guard fstat(descriptor, &status) == 0 else { continue }
                descriptors.append(descriptor)
                byteCount += max(Int(status.st_size), Int(status.st_blocks) * 512)
            }
        }
    }

    private struct Outcome: Sendable {
        var first: ViewerResult
        var second: ViewerResult?
        /// The first viewer once more, later.
        var later: ViewerResult?
        var contents = Contents()
        /// What the first viewer's session held in memory; a segment that comes late is noticed with the next one.
        var heldByteCounts: [Int] = []
    }

    @Test func aLateViewerGetsFromTheDiskWhatTheFirstHasNoMemoryFor() async throws {
        let (title, path) = (title, folder.path)
        let outcome: Outcome = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play(Self.store(path)) { first in
                var outcome = Outcome(first: first, contents: Contents(of: path))
                outcome.heldByteCounts.append(stage.session(0)?.heldByteCount ?? .max)
                stage.play { second in
                    outcome.second = second
                    outcome.heldByteCounts.append(stage.session(0)?.heldByteCount ?? .max)
                    outcome.first.figures = stage.session(0)?.figures ?? outcome.first.figures
                    end(outcome)
                }
            }
        }
        let second = try #require(outcome.second)
        #expect(outcome.first.error == nil)
        #expect(outcome.first.differences(from: title.segments) == [])
        #expect(second.error == nil)
        #expect(second.differences(from: title.segments) == [])
        // More than the first one's memory holds.
        #expect(second.figures.bytes.peers > Self.memoryByteCount, "\(second.figures)")
        #expect(second.figures.bytes.peers > second.figures.bytes.cdn, "\(second.figures)")
        #expect(second.figures.chunksRejected == 0)
        #expect(outcome.first.figures.bytes.diskWritten > 0 && outcome.first.figures.bytes.diskRead > 0)
        #expect(outcome.heldByteCounts.allSatisfy { $0 <= Self.memoryByteCount * 5 / 4 }, "\(outcome.heldByteCounts)")
        // The file has no name while it is there, and is gone with its session.
        #expect(outcome.contents.names == [] && outcome.contents.descriptors.count == 1)
        #expect(outcome.contents.byteCount > Self.memoryByteCount)
        #expect(outcome.first.lines(saying: "store: ") == [])
        try await isEmpty()
    }

    /// Waits until nothing is left in the folder: files are closed on another thread.
    private func isEmpty() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !Contents(of: folder.path).descriptors.isEmpty, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        let contents = Contents(of: folder.path)
        #expect(contents.names == [] && contents.descriptors == [])
    }

    @Test func seekingBackPlaysFromTheDiskAndNotFromTheCDN() async throws {
        let (title, path) = (title, folder.path)
        let outcome: Outcome = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play(Self.store(path)) { first in
                stage.replay(0) { later in
                    end(
                        Outcome(
                            first: first, later: later, heldByteCounts: [stage.session(0)?.heldByteCount ?? .max]))
                }
            }
        }
        let later = try #require(outcome.later)
        #expect(later.error == nil)
        #expect(later.differences(from: title.segments) == [])
        // A disk that is slower than the CDN may have cost a segment.
        let all = title.segments.reduce(0) { $0 + $1.count }
        let again = later.figures.bytes.cdn - outcome.first.figures.bytes.cdn
        #expect(again <= all / 4, "\(later.figures)")
        #expect(later.figures.bytes.store >= all - again && later.figures.bytes.store <= all)
        #expect(later.figures.bytes.diskRead > 0 && later.figures.segments == title.segments.count)
        #expect(outcome.heldByteCounts.allSatisfy { $0 <= Self.memoryByteCount * 5 / 4 }, "\(outcome.heldByteCounts)")
    }

    /// Changes a byte of each page of the first viewer's file.
    private static func alter(_ path: String) {
        for descriptor in Contents(of: path).descriptors {
            var offset = 1000
            var byte: UInt8 = 0
            while pread(descriptor, &byte, 1, offset) == 1 {
                byte ^= 0x20
                #expect(pwrite(descriptor, &byte, 1, offset) == 1)
                offset += 16 * 1024
            }
        }
    }

    /// Puts a file that can neither be read nor written in the place of the first viewer's.
    private static func breakDisk(_ path: String) {
        for descriptor in Contents(of: path).descriptors {
            let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
            #expect(dup2(null, descriptor) == descriptor)
            close(null)
        }
    }

    @Test(arguments: ["altered", "broken"])
    func aDiskThatFailsCostsOffloadAlone(how: String) async throws {
        let (title, path) = (title, folder.path)
        let outcome: Outcome = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play(Self.store(path)) { first in
                if how == "altered" { Self.alter(path) } else { Self.breakDisk(path) }
                stage.play { second in
                    stage.replay(0) { later in
                        end(
                            Outcome(
                                first: first, second: second, later: later,
                                heldByteCounts: [stage.session(0)?.heldByteCount ?? .max]))
                    }
                }
            }
        }
        let (second, later) = (try #require(outcome.second), try #require(outcome.later))
        // Not one altered byte was served, or played.
        #expect(second.error == nil)
        #expect(second.differences(from: title.segments) == [])
        #expect(second.figures.chunksRejected == 0 && second.figures.peersBanned == 0)
        #expect(later.error == nil)
        #expect(later.differences(from: title.segments) == [])
        #expect(later.figures.bytes.cdn > outcome.first.figures.bytes.cdn)
        let lines = later.lines(saying: how == "altered" ? "is not what was written" : "can't be read on the disk")
        #expect((1...3).contains(lines.count), "\(later.log)")
        #expect(outcome.heldByteCounts.allSatisfy { $0 <= Self.memoryByteCount * 5 / 4 }, "\(outcome.heldByteCounts)")
    }

    @Test func aFolderThatIsNotThereLeavesTheMemory() async throws {
        let (title, path) = (title, folder.path("missing"))
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play(Self.store(path), onEnd: end)
        }
        #expect(result.error == nil)
        #expect(result.differences(from: title.segments) == [])
        #expect(result.lines(saying: "kept in memory alone").count == 1)
        #expect(result.figures.bytes.diskWritten == 0)
    }

    @Test func theDiskLimitIsKept() async throws {
        let (title, path) = (title, folder.path)
        let limit = 512 << 10
        let outcome: Outcome = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play(Self.store(path, byteCount: limit)) { first in
                var outcome = Outcome(first: first, contents: Contents(of: path))
                stage.play {
                    outcome.second = $0
                    end(outcome)
                }
            }
        }
        #expect(outcome.first.error == nil)
        #expect(outcome.second?.differences(from: title.segments) == [])
        #expect(outcome.first.figures.bytes.diskWritten > limit)
        #expect(outcome.contents.byteCount <= limit && outcome.contents.descriptors.count == 1)
        #expect(outcome.second?.figures.chunksRejected == 0)
    }

    /// Segments that the disk can't take are dropped as without a disk, the oldest first.
    @Test func whatIsLargerThanTheDiskLimitLeavesTheMemory() async throws {
        let (title, path) = (title, folder.path)
        let outcome: Outcome = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play(Self.store(path, byteCount: 64 << 10)) { first in
                let oldest = (0..<8).map { stage.session(0)?.tracks[0].buffers[$0]?.heldByteCount ?? 0 }
                end(Outcome(first: first, heldByteCounts: [stage.session(0)?.heldByteCount ?? .max] + oldest))
            }
        }
        #expect(outcome.first.error == nil)
        #expect(outcome.first.differences(from: title.segments) == [])
        #expect(outcome.first.figures.bytes.diskWritten == 0)
        #expect(outcome.heldByteCounts[0] <= Self.memoryByteCount * 5 / 4, "\(outcome.heldByteCounts)")
        #expect(outcome.heldByteCounts[1...].allSatisfy { $0 == 0 }, "\(outcome.heldByteCounts)")
    }

    /// What the player has been given long before it plays it isn't dropped for it to be fetched again.
    @Test(arguments: [0, 64 << 20])
    func whatIsFedAheadIsFetchedOnce(diskByteCount: Int) async throws {
        let (title, path) = (title, folder.path)
        let result: ViewerResult = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            stage.play { configuration in
                Self.store(path, byteCount: diskByteCount)(&configuration)
                configuration.feedAhead = .seconds(60)
            } onEnd: {
                end($0)
            }
        }
        #expect(result.error == nil)
        #expect(result.differences(from: title.segments) == [])
        let all = title.segments.reduce(0) { $0 + $1.count }
        #expect(result.figures.bytes.cdn == all, "\(result.figures)")
    }

    /// What the disk was asked for may come when its session is gone.
    @Test func aDiskOutlivesItsSession() async throws {
        let (title, path) = (title, folder.path)
        let isGone: Bool = try await Stage.run(title) { stage, end in
            try stage.startTracker()
            var timer: LoopTimer?
            stage.play(Self.store(path)) { _ in
                let disk = stage.session(0)?.disk
                weak let session = stage.session(0)
                stage.session(0)?.swarm?.stop()
                stage.session(0)?.swarm = nil
                stage.release(0)
                // Not from inside the session's own call.
                timer = LoopTimer(loop: stage.loop) {
                    disk?.tick()
                    disk?.giveUp()
                    end(disk != nil && session == nil)
                    timer = nil
                }
                timer?.arm(after: .zero)
            }
        }
        #expect(isGone)
        try await isEmpty()
    }

    @Test func aShareIsGivenBackHoweverItEnds() {
        let account = DiskAccount()
        let first = DiskShare(of: account)
        var second: DiskShare? = DiskShare(of: account)
        first.byteCount = 100
        second?.byteCount = 70
        second?.byteCount = 50
        #expect(account.byteCount == 150 && account.shareCount == 2)
        #expect(first.othersByteCount == 50 && second?.othersByteCount == 100)
        second = nil
        #expect(account.byteCount == 100 && account.shareCount == 1 && first.othersByteCount == 0)
    }

    @Test(arguments: ["off", "switched off by the operator", "no tracker", "limit 0"])
    func nothingIsOnTheDiskWithoutPeers(why: String) async throws {
        let (title, path) = (title, folder.path)
        let outcome: Outcome = try await Stage.run(title) { stage, end in
            try stage.startTracker { $0.settings.disablesPeers = why == "switched off by the operator" }
            stage.play { configuration in
                Self.store(path, byteCount: why == "limit 0" ? 0 : 64 << 20)(&configuration)
                if why == "off" { configuration.usesPeers = false }
                if why == "no tracker" { configuration.trackerURLs = [] }
            } onEnd: {
                end(Outcome(first: $0, contents: Contents(of: path)))
            }
        }
        #expect(outcome.first.error == nil)
        #expect(outcome.first.differences(from: title.segments) == [])
        #expect(outcome.contents.names == [] && outcome.contents.descriptors == [])
        if why != "switched off by the operator" { #expect(outcome.first.figures.bytes.diskWritten == 0) }
    }

    @Test func theCacheFolderIsTheUsers() {
        typealias Configuration = SessionConfiguration
        #expect(Configuration.cacheFolders([:]) == ["/tmp"])
        #expect(Configuration.cacheFolders(["HOME": "/home/a", "TMPDIR": "/t"]) == ["/home/a/.cache", "/t", "/tmp"])
        #expect(
            Configuration.cacheFolders(["HOME": "/home/a", "XDG_CACHE_HOME": "/c"]) == ["/c", "/tmp"])
        // XDG Base Directory Specification: paths that aren't absolute don't count.
        #expect(Configuration.cacheFolders(["HOME": "/home/a", "XDG_CACHE_HOME": "c"]) == ["/home/a/.cache", "/tmp"])
    }
}
