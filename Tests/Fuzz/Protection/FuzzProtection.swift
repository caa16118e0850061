import FuzzSupport
import MediaEngine

/// What reads encrypted samples: common encryption in fragmented MP4, and SAMPLE-AES.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let mode = input.byte()
    if mode % 4 == 3 {
        MediaParsers.decryptSamples(input.rest(), codec: Int(mode) / 4)
        return 0
    }
    let file = mode % 4 == 0 ? input.rest() : input.bytes(orEditing: protectedFile(mode))
    // In one piece, or in many.
    let size = mode >= 128 ? max(file.count, 1) : 7
    MediaParsers.decryptFragments(
        stride(from: 0, to: file.count, by: size).map { Array(file[$0..<min($0 + size, file.count)]) })
    return 0
}

private func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
    let body = Array(parts.joined())
    return word(body.count + 8) + Array(type.utf8) + body
}

private func word(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
}

/// A film of one track and one fragment of three samples, in one of the schemes.
private func protectedFile(_ mode: UInt8) -> [UInt8] {
    let none = [UInt8](repeating: 0, count: 4)
    let scheme = ["cenc", "cbcs", "cens", "cbc1"][Int(mode >> 2 & 3)]
    let isConstant = scheme == "cbcs"
    let vectorSize: UInt8 = isConstant ? 0 : 8
    let parameters =
        [0, 0x19, 1, vectorSize] + [UInt8](repeating: 3, count: 16)
        + (isConstant ? [16] + [UInt8](repeating: 4, count: 16) : [])
    let sinf = box(
        "sinf", box("frma", Array("avc1".utf8)), box("schm", none, Array(scheme.utf8), none),
        box("schi", box("tenc", [1, 0, 0, 0], parameters)))
    let entry = box("encv", [UInt8](repeating: 0, count: 78), sinf)
    let track = box(
        "trak", box("tkhd", [UInt8](repeating: 0, count: 12), word(1), [UInt8](repeating: 0, count: 68)),
        box("mdia", box("minf", box("stbl", box("stsd", none, word(1), entry)))))
    let movie = box("moov", track, box("mvex", box("trex", none, word(1), word(1), none, word(40), none)))
    let description = [UInt8](repeating: 5, count: Int(vectorSize)) + [0, 1, 0, 8] + word(32)
    let samples = [description, description, description].flatMap { $0 }
    let group = box("sgpd", [1, 0, 0, 0], Array("seig".utf8), word(parameters.count), word(1), parameters)
    let members = box("sbgp", none, Array("seig".utf8), word(1), word(3), word(0x10001))
    func fragment(_ offset: Int) -> [UInt8] {
        let run = box("trun", [0, 0, 2, 1], word(3), word(offset), word(40), word(40), word(40))
        return box(
            "moof",
            box(
                "traf", box("tfhd", [0, 2, 0, 0], word(1)), run, group, members,
                box("senc", [0, 0, 0, 2], word(3), samples)))
    }
    let media = [UInt8](repeating: 6, count: 120)
    return movie + fragment(fragment(0).count + 8) + box("mdat", media)
}
