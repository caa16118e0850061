import CoreModel
import Manifest
import Scheduling

/// The renditions of a presentation that a player may change between without anybody noticing but for the picture's quality.
struct RenditionLadder {
    /// The lowest bit rate first; at least two.
    let renditions: [Rendition]
    /// The same as rungs.
    let rungs: BitrateLadder

    /// The ladder that a rendition is part of: of renditions that hold the same, in the same kind of container and format.
    ///
    /// - Parameter keyIDs: The identifiers of the content keys that the viewer was given.
    /// - Returns: `nil` where there is no other to change to, or a bit rate is not known.
    init?(around id: Rendition.ID, in presentation: Presentation, keyIDs: Set<Bytes16> = []) {
        guard let main = presentation.rendition(id), main.kind != .text, main.kind != .image else { return nil }
        // Audio beside video stays as it was chosen; audio alone is chosen by rate.
        let isAlone = presentation.variants.allSatisfy { $0.video == nil }
        guard main.kind != .audio || isAlone else { return nil }
        let ids = presentation.variants.compactMap { main.kind == .audio ? $0.audio : $0.video }
        var members: [Rendition] = []
        for id in ids where !members.contains(where: { $0.id == id }) {
            guard let member = presentation.rendition(id), Self.bitRate(member) > 0, Self.fits(member, main),
                member.unsupportedReason(keyIDs: keyIDs) == nil
            else { continue }
            members.append(member)
        }
        // As the rates say; of equal ones, such as copies on another host, one is enough.
        members.sort { (Self.bitRate($0), $0.height ?? 0) < (Self.bitRate($1), $1.height ?? 0) }
        let copies = { (one: Rendition, other: Rendition) in
            Self.bitRate(one) == Self.bitRate(other) && one.height == other.height && one.id != other.id
        }
        members = members.reduce(into: []) { kept, member in
            guard let last = kept.last, copies(last, member) else { return kept.append(member) }
            if member.id == main.id { kept[kept.count - 1] = member }
        }
        guard members.count > 1, members.count <= 256, members.contains(where: { $0.id == main.id }) else { return nil }
        let sizes = members.compactMap { member in
            member.width.flatMap { width in member.height.map { PixelSize(width: width, height: $0) } }
        }
        guard
            let rungs = BitrateLadder(
                bitsPerSecond: members.map(Self.bitRate), pictureSizes: sizes.count == members.count ? sizes : [])
        else { return nil }
        renditions = members
        self.rungs = rungs
    }

    /// The rung of a rendition.
    func rung(of id: Rendition.ID) -> Int? { renditions.firstIndex { $0.id == id } }

    /// The rung that playback begins with.
    func startRung(_ configuration: SessionConfiguration) -> Int {
        AdaptiveBitrate.startRung(
            of: rungs, expecting: Double(configuration.startBitsPerSecond) / 1000,
            highest: rungs.highestRung(within: configuration.limits))
    }

    /// The mean rate where the manifest tells it, or else the peak; what a manifest says may be absurd.
    private static func bitRate(_ rendition: Rendition) -> Int {
        Int(clamping: min(rendition.averageBandwidth ?? rendition.bandwidth ?? 0, 1 << 40))
    }

    private static func fits(_ one: Rendition, _ main: Rendition) -> Bool {
        let containers = Set([one.container, main.container]).subtracting([.unknown])
        let formats = Set([format(one), format(main)].compactMap { $0 })
        return one.kind == main.kind && one.language == main.language
            && containers.count <= 1 && formats.count <= 1
    }

    /// The family of the first format: `avc` for `avc1.64001f`.
    private static func format(_ rendition: Rendition) -> Substring? {
        let name = rendition.codecs?.split(separator: ",").first?.drop { $0 == " " }.prefix { $0 != "." }
        switch name {
        case "avc1", "avc3": return "avc"
        case "hvc1", "hev1": return "hevc"
        default: return name
        }
    }
}
