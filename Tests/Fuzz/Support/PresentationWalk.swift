public import Manifest

/// Does with a presentation what a player does: loads what its renditions need from `bytes`, then reads their timelines.
public func walk(_ presentation: Presentation, feeding bytes: [UInt8]) {
    var presentation = presentation
    for rendition in presentation.renditions.prefix(8) {
        for _ in 0..<4 {
            switch presentation.requirement(for: rendition.id) {
            case .ready: break
            case .playlist(let url), .segmentIndex(let url, _):
                do throws(ManifestError) {
                    try presentation.load(rendition.id, bytes: bytes, finalURL: url)
                    continue
                } catch {
                    _ = String(describing: error)
                }
            }
            break
        }
        guard let timeline = presentation.rendition(rendition.id)?.timeline else { continue }
        let segments = timeline.segments
        for segment in segments.prefix(50) { _ = segment.url }
        if let last = segments.last { _ = timeline.index(at: last.start) }
        _ = timeline.end
    }
    _ = presentation.duration
}
