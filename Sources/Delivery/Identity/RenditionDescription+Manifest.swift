public import Integrity
public import Manifest

extension RenditionDescription {
    /// Describes a rendition of a presentation, the same for signer and viewer.
    ///
    /// - Parameters:
    ///   - rendition: One of the presentation's.
    ///   - presentation: What it belongs to; its address makes paths relative, so that a token in front of the manifest's
    ///     name, or another host, changes nothing.
    public init(_ rendition: Rendition, in presentation: Presentation) {
        let kind: Kind =
            switch rendition.kind {
            case .muxed: .muxed
            case .video: .video
            case .audio: .audio
            case .text: .text
            case .image: .image
            }
        let codecs = rendition.codecs.map { text in
            text.split(separator: ",").map { String($0.drop { $0 == " " }) }
        }
        // A rate that is no number of frames says nothing.
        let rate = rendition.frameRate.flatMap { (0.001..<100_000).contains($0) ? Int(($0 * 1000).rounded()) : nil }
        self.init(
            format: presentation.format == .hls ? .hls : .dash, kind: kind, codecs: codecs ?? [],
            width: rendition.width, height: rendition.height, frameRateMilli: rate, language: rendition.language,
            channels: rendition.channels, bandwidth: rendition.bandwidth.flatMap { Int(exactly: $0) },
            name: rendition.label, path: Self.relative(rendition.path, to: BaseURL(presentation.url).path))
    }

    /// The part of `path` behind the folders that it shares with `manifest`.
    static func relative(_ path: String, to manifest: String) -> String {
        let folders = manifest.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let shared = zip(folders, parts.dropLast()).prefix { $0 == $1 }.count
        return parts.dropFirst(shared).joined(separator: "/")
    }
}

extension Presentation {
    /// The descriptions of all renditions, in the manifest's order: what ``RenditionKeys`` and a catalogue's table want.
    public var descriptions: [RenditionDescription] { renditions.map { RenditionDescription($0, in: self) } }
}
