import CoreModel
import Testing

@testable import MediaEngine

extension EngineTests {
    /// MP4 boxes that lie about their size or about what they list: a decoder must not be asked for room by them.
    @Suite struct BoxTrackerTests {
        static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
            words([UInt32(payload.count + 8)]) + Array(type.utf8) + payload
        }

        static func words(_ values: [UInt32]) -> [UInt8] {
            values.flatMap { value in (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        }

        static func fragment(_ table: [UInt8]) -> [UInt8] { box("moof", box("traf", table)) }

        static func movie(_ table: [UInt8]) -> [UInt8] {
            track(box("mdia", box("minf", box("stbl", table))))
        }

        static func track(_ boxes: [UInt8]) -> [UInt8] { box("moov", box("trak", box("tkhd", [0]) + boxes)) }

        static func accepts(_ bytes: [UInt8], pieces: Int) -> Bool {
            var tracker = BoxTracker()
            var start = 0
            while start < bytes.count {
                guard tracker.take(bytes[start..<min(start + pieces, bytes.count)]) else { return false }
                start += pieces
            }
            return tracker.isAtBorder
        }

        /// ISO/IEC 14496-12: 8.6.1 to 8.8.8 give the layouts.
        @Test(arguments: [
            movie(box("stts", words([0, 2, 10, 1, 20, 1]))), movie(box("stsz", words([0, 0, 2, 100, 200]))),
            movie(box("stsz", words([0, 512, 90_000]))), movie(box("stz2", words([0, 16, 2, 0x0064_00C8]))),
            movie(box("stsc", words([0, 1, 1, 1, 1]))), movie(box("co64", words([0, 1, 0, 48]))),
            movie(box("sbgp", words([0, 0x726F_6C6C, 1, 90, 1]))),
            movie(box("sbgp", words([1 << 24, 0, 0, 1, 90, 1]))),
            movie(box("stco", words([0, 0]))), fragment(box("trun", words([0x301, 2, 8, 10, 100, 20, 200]))),
            fragment(box("trun", words([0x1, 1024, 8]))),
            track(box("edts", box("elst", words([0, 1, 100, 0, 0x10000])))),
            box("mfra", box("tfra", words([0, 1, 0, 1, 0, 48, 0x0101_0100]))),
            track(box("free", []) + [0, 0, 0, 0]), box("mdat", [1, 2, 3]) + box("free", []),
        ])
        func whatFitsIsTakenInAnySplit(_ bytes: [UInt8]) {
            for pieces in 1...bytes.count { #expect(Self.accepts(bytes, pieces: pieces), "in pieces of \(pieces)") }
        }

        @Test(arguments: [
            // More entries than bytes.
            movie(box("stts", words([0, 0x0500_0000, 10, 1]))), movie(box("ctts", words([0, 2, 10, 1]))),
            movie(box("stsc", words([0, 2, 1, 1, 1]))), movie(box("stco", words([0, 3, 1, 2]))),
            movie(box("co64", words([0, 2, 0, 48]))), movie(box("stss", words([0, 0x4000_0000]))),
            movie(box("stsz", words([0, 0, 0x7FFF_FFFF]))), movie(box("stz2", words([0, 16, 3, 0x0064_00C8]))),
            movie(box("sbgp", words([0, 0x726F_6C6C, 2, 90, 1]))),
            movie(box("sbgp", words([1 << 24, 0, 0, 2, 90, 1]))),
            fragment(box("trun", words([0x7E0A, 0x0500_0000, 0x0200_0000]))),
            track(box("edts", box("elst", words([0, 0x1000_0000, 100, 0])))),
            box("mfra", box("tfra", words([0, 1, 0, 0x3E00_0000, 0, 48, 0x0101_0100]))),
            // Entries that take no byte.
            movie(box("stsz", words([0, 1, 0x7FFF_FFFF]))), movie(box("stz2", words([0, 0, 0x7FFF_FFFF]))),
            fragment(box("trun", words([0x1, 0x0500_0000, 8]))),
            // A table without its head.
            movie(box("stsz", [0, 0, 0])), movie(box("stts", [])),
            // A box that is larger than what holds it.
            box("moov", words([64]) + Array("trak".utf8) + [0, 0, 0, 0]),
            // Tracks without a number.
            box("moov", box("trak", box("free", []))), box("moov", box("trak", [])),
            // Containers without end.
            (0..<9).reduce([]) { inner, _ in box("trak", inner + [0, 0, 0, 0]) },
        ])
        func whatLiesIsRefusedInAnySplit(_ bytes: [UInt8]) {
            for pieces in 1...bytes.count { #expect(!Self.accepts(bytes, pieces: pieces), "in pieces of \(pieces)") }
        }
    }
}
