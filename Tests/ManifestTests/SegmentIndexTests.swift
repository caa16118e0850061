import CoreModel
import Foundation
import TestSupport
import Testing

@testable import Manifest

@Suite struct SegmentIndexTests {
    /// A version 0 or 1 index of (size, duration) references; a size with the top bit set leads to another index.
    static func box(
        version: UInt32 = 0, timescale: UInt32 = 1000, earliestTime: UInt64 = 0, firstOffset: UInt64 = 0,
        references: [(UInt32, UInt32)]
    ) -> [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        var body = Array("sidx".utf8) + bytes(version << 24) + bytes(UInt32(1)) + bytes(timescale)
        if version == 0 {
            body += bytes(UInt32(earliestTime)) + bytes(UInt32(firstOffset))
        } else {
            body += bytes(earliestTime) + bytes(firstOffset)
        }
        body += bytes(UInt16(0)) + bytes(UInt16(references.count))
        for (size, duration) in references { body += bytes(size) + bytes(duration) + bytes(UInt32(0x9000_0000)) }
        return bytes(UInt32(body.count + 4)) + body
    }

    @Test("References count from the end of the index plus its first offset")
    func offsets() throws {
        let box = Self.box(version: 1, earliestTime: 90, firstOffset: 10, references: [(100, 4), (200, 6)])
        let index = try SegmentIndex.parse(box, at: 1000)
        let start = UInt64(1000 + box.count + 10)
        #expect(index.timescale == 1000)
        #expect(index.references.map(\.byteRange) == [start..<(start + 100), (start + 100)..<(start + 300)])
        #expect(index.references.map(\.time) == [90, 94])
        #expect(index.references.map(\.duration) == [4, 6])
        #expect(index.references.map(\.startsWithSAP) == [true, true])
    }

    @Test("Boxes in front are passed over; an index of its own resource counts from the media's beginning")
    func otherBoxes() throws {
        let styp: [UInt8] = [0, 0, 0, 12] + Array("styp".utf8) + [1, 2, 3, 4]
        let index = try SegmentIndex.parse(styp + Self.box(firstOffset: 7, references: [(5, 1)]), at: nil)
        #expect(index.references.map(\.byteRange) == [7..<12])
    }

    @Test("An index that leads to others within the bytes is followed")
    func hierarchy() throws {
        let leaves = [
            Self.box(earliestTime: 0, firstOffset: 44, references: [(100, 5)]),
            Self.box(earliestTime: 5, firstOffset: 100, references: [(200, 5)]),
        ]
        let root = Self.box(references: leaves.map { (UInt32($0.count) | 0x8000_0000, 5) })
        let bytes = root + leaves.joined()
        let index = try SegmentIndex.parse(bytes, at: 0)
        let end = UInt64(bytes.count)
        #expect(index.references.map(\.byteRange) == [end..<(end + 100), (end + 100)..<(end + 300)])
        #expect(index.references.map(\.time) == [0, 5])
        // The second one isn't there.
        #expect(throws: ManifestError.self) { try SegmentIndex.parse(root + leaves[0], at: 0) }
    }

    @Test("Truncated and hostile boxes are errors", arguments: [0, 1, 8, 12, 20, 31, 40, 43])
    func truncation(_ count: Int) {
        let box = Self.box(references: [(100, 5)])
        #expect(throws: ManifestError.self) { try SegmentIndex.parse(Array(box.prefix(count)), at: 0) }
    }

    @Test("Values that would overflow are errors")
    func overflow() {
        for box in [
            Self.box(timescale: 0, references: [(1, 1)]), Self.box(references: [(0, 1)]),
            Self.box(version: 1, firstOffset: .max, references: [(1, 1)]),
            Self.box(version: 1, earliestTime: .max, references: [(1, 1)]),
            Self.box(version: 1, earliestTime: UInt64(Int64.max), references: [(1, 1)]),
            [0, 0, 0, 1] + Array("free".utf8) + [UInt8](repeating: 0xFF, count: 8),
            [0, 0, 0, 2] + Array("free".utf8),
        ] {
            #expect(throws: ManifestError.self) { try SegmentIndex.parse(box, at: 5) }
        }
        #expect(throws: ManifestError.self) { try SegmentIndex.parse(Self.box(references: [(1, 1)]), at: .max) }
    }

    static let ffmpeg = Programs.installed("ffmpeg")

    @Test("The index that ffmpeg writes leads to each fragment", .enabled(if: ffmpeg != nil, "ffmpeg is not installed"))
    func made() async throws {
        let folder = try TestFolder("index")
        let file = folder.path("index.mp4")
        try await ChildProcess.output(
            try #require(Self.ffmpeg),
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=6", "-c:v", "libx264", "-g", "50", "-bf",
                "0", "-movflags", "+frag_keyframe+global_sidx+empty_moov+default_base_moof", "-y", file,
            ])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        let index = try SegmentIndex.parse(bytes, at: 0)
        #expect(index.references.count == 3)
        for reference in index.references {
            let type = bytes[(Int(reference.byteRange.lowerBound) + 4)...].prefix(4)
            #expect(type.elementsEqual("moof".utf8))
            #expect(MediaTime(ticks: Int64(reference.duration), timescale: index.timescale) == MediaTime(seconds: 2))
        }
        #expect(index.references.map(\.time).map { Double($0) / Double(index.timescale) } == [0, 2, 4])
    }
}
