import CommandLineSupport
import CoreModel
import Manifest

extension ManifestInspection {
    /// A presentation as lines for people.
    static func tree(_ presentation: Presentation) -> [String] {
        let length =
            presentation.duration.map { "\(seconds($0))" } ?? (presentation.isLive ? "live" : "length not known yet")
        var lines = ["\(presentation.format.rawValue.uppercased()) \(presentation.url)", "  \(length)"]
        lines.append("  variants")
        for variant in presentation.variants {
            let parts = [variant.video, variant.audio].compactMap { $0 }.joined(separator: " + ")
            lines.append("    \(parts)" + (variant.bandwidth > 0 ? ", \(variant.bandwidth / 1_000) kbit/s" : ""))
        }
        lines.append("  renditions")
        for rendition in presentation.renditions { lines += self.lines(rendition, of: presentation) }
        if !presentation.warnings.isEmpty { lines.append("  warnings") }
        lines += presentation.warnings.map { "    \($0)" }
        return lines
    }

    private static func lines(_ rendition: Rendition, of presentation: Presentation) -> [String] {
        var facts = [rendition.kind.rawValue]
        if let width = rendition.width, let height = rendition.height { facts.append("\(width)x\(height)") }
        facts += [rendition.codecs, rendition.language, rendition.label].compactMap { $0 }
        if rendition.container != .unknown { facts.append(rendition.container.rawValue) }
        if let encryption = rendition.encryption { facts.append("encrypted: \(encryption)") }
        var lines = ["    \(rendition.id): \(facts.joined(separator: ", "))"]
        switch presentation.requirement(for: rendition.id) {
        case .playlist(let url): lines.append("      playlist \(url)")
        case .segmentIndex(let url, let range):
            lines.append("      index \(url)" + (range.map { " bytes \($0.lowerBound)-\($0.upperBound - 1)" } ?? ""))
        case .ready:
            guard let segments = rendition.timeline?.segments else { break }
            lines.append("      \(segments.count) segments")
            let ends = ends(segments.count)
            lines += ends.first.map { line(segments[$0]) }
            if segments.count > 6 { lines.append("        …") }
            lines += ends.last.filter { $0 >= 3 }.map { line(segments[$0]) }
        }
        return lines
    }

    private static func line(_ segment: SegmentReference) -> String {
        let range = segment.byteRange.map { " bytes \($0.lowerBound)-\($0.upperBound - 1)" } ?? ""
        return "        \(seconds(segment.start)) +\(seconds(segment.duration)) \(segment.url)\(range)"
            + (segment.isGap ? " (gap)" : "")
    }

    private static func seconds(_ time: MediaTime) -> String {
        let milliseconds = time.ticks(at: 1_000)
        let fraction = String(abs(milliseconds % 1_000))
        let zeros = String(repeating: "0", count: 3 - fraction.count)
        return (milliseconds < 0 ? "-" : "") + "\(abs(milliseconds / 1_000)).\(zeros)\(fraction)s"
    }
}
