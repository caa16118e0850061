import Testing

@testable import MediaEngine

/// What boxes of common encryption may claim, and what comes of it: an error, at once.
struct ProtectionTests {
    struct Claim: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var fragment: [UInt8]
    }

    private static let none = [UInt8](repeating: 0, count: 4)

    private static func word(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        let body = Array(parts.joined())
        return word(body.count + 8) + Array(type.utf8) + body
    }

    /// One encrypted track.
    private static func movie(scheme: String = "cenc", vectorByteCount: UInt8 = 8) -> [UInt8] {
        let tenc = box("tenc", none, [0, 0, 1, vectorByteCount], [UInt8](repeating: 3, count: 16))
        let sinf = box(
            "sinf", box("frma", Array("avc1".utf8)), box("schm", none, Array(scheme.utf8), none), box("schi", tenc))
        let entry = box("encv", [UInt8](repeating: 0, count: 78), sinf)
        let header = box("tkhd", [UInt8](repeating: 0, count: 12), word(1), [UInt8](repeating: 0, count: 68))
        let media = box("mdia", box("minf", box("stbl", box("stsd", none, word(1), entry))))
        return box(
            "moov", box("trak", header, media), box("mvex", box("trex", none, word(1), word(1), none, word(40), none)))
    }

    /// A fragment of two samples of 40 bytes.
    private static func fragment(run: [UInt8]? = nil, _ rest: [UInt8]...) -> [UInt8] {
        let run = run ?? box("trun", [0, 0, 0, 1], word(2), word(4096))
        return box("moof", box("traf", box("tfhd", [0, 2, 0, 0], word(1)), run, Array(rest.joined())))
    }

    /// A vector, and one protected range.
    private static func description(clear: UInt8, protected: Int) -> [UInt8] {
        [UInt8](repeating: 5, count: 8) + [0, 1, 0, clear] + word(protected)
    }

    private static let good = description(clear: 8, protected: 32)

    static let claims = [
        Claim(
            testDescription: "four thousand million samples",
            fragment: fragment(run: box("trun", [0, 0, 0, 1], word(0xFFFF_FFFF), word(4096)))),
        Claim(
            testDescription: "fewer descriptions than samples",
            fragment: fragment(box("senc", [0, 0, 0, 2], word(1), good))),
        Claim(
            testDescription: "descriptions that the box has no room for",
            fragment: fragment(box("senc", [0, 0, 0, 2], word(0xFFFF_FFFF), good))),
        Claim(
            testDescription: "a protected range beyond its sample",
            fragment: fragment(
                box("senc", [0, 0, 0, 2], word(2), good, description(clear: 8, protected: 33)))),
        Claim(
            testDescription: "a range of four gigabytes",
            fragment: fragment(
                box("senc", [0, 0, 0, 2], word(2), good, description(clear: 8, protected: 0xFFFF_FFFF)))),
        Claim(
            testDescription: "samples inside of the fragment's own boxes",
            fragment: fragment(
                run: box("trun", [0, 0, 0, 1], word(2), word(8)), box("senc", [0, 0, 0, 2], word(2), good, good))),
        Claim(
            testDescription: "sizes of four thousand million descriptions",
            fragment: fragment(
                box("saiz", none, [0], word(0xFFFF_FFFF)), box("saio", none, word(1), word(0)))),
        Claim(
            testDescription: "a group that isn't there",
            fragment: fragment(
                box("sbgp", none, Array("seig".utf8), word(1), word(2), word(0x10009)),
                box("senc", [0, 0, 0, 2], word(2), good, good))),
    ]

    @Test(arguments: claims) func anAbsurdClaimIsMalformed(claim: Claim) throws {
        var decryptor = FragmentDecryptor()
        _ = try decryptor.append(Self.movie()[...])
        let fault = #expect(throws: FragmentDecryptor.Fault.self) { try decryptor.append(claim.fragment[...]) }
        guard case .malformed = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func aSchemeThatIsNotKnownIsNamed() {
        var decryptor = FragmentDecryptor()
        #expect(throws: FragmentDecryptor.Fault.unsupported(BoxType("piff"))) {
            try decryptor.append(Self.movie(scheme: "piff")[...])
        }
    }

    @Test func vectorsThatLieOutsideOfTheFragmentAreNotSupported() throws {
        var decryptor = FragmentDecryptor()
        _ = try decryptor.append(Self.movie()[...])
        let fragment = Self.fragment(
            Self.box("saiz", Self.none, [8], Self.word(2)), Self.box("saio", Self.none, Self.word(1), Self.word(9000)))
        #expect(throws: FragmentDecryptor.Fault.unsupported(BoxType("saio"))) { try decryptor.append(fragment[...]) }
    }

    @Test func encryptedSamplesOfNoFragmentAreNotTakenForClearOnes() throws {
        var decryptor = FragmentDecryptor()
        _ = try decryptor.append(Self.movie()[...])
        #expect(throws: FragmentDecryptor.Fault.unsupported(BoxType("mdat"))) {
            try decryptor.append(Self.box("mdat", [1, 2, 3])[...])
        }
    }
}
