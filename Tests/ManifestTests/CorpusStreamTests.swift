import CoreModel
import Foundation
import Testing

@testable import Manifest

/// Whole streams of the corpus: every rendition's timeline must name the files, and the bytes, that the track is made of.
@Suite(.enabled(if: Corpus.exists, "the shared corpus is not beside the checkout"))
struct CorpusStreamTests {
    /// A presentation with all that its renditions need, read from files.
    private func load(_ manifest: String) throws -> Presentation {
        let path = Corpus.folder.appending(path: manifest).path
        var presentation = try Presentation.parse(Corpus.bytes(manifest), url: "file://" + path)
        for rendition in presentation.renditions {
            loop: while true {
                switch presentation.requirement(for: rendition.id) {
                case .ready: break loop
                case .playlist(let url):
                    try presentation.load(rendition.id, bytes: file(url), finalURL: url)
                case .segmentIndex(let url, let range):
                    var bytes = try file(url)
                    if let range { bytes = Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]) }
                    try presentation.load(rendition.id, bytes: bytes, finalURL: url)
                }
            }
        }
        return presentation
    }

    private func file(_ url: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: String(url.dropFirst("file://".count)))))
    }

    /// The resources that a rendition names, initialization first, each once.
    private func resources(_ rendition: Rendition) -> [String] {
        var urls: [String] = []
        for segment in rendition.timeline?.segments.map({ $0 }) ?? [] {
            for url in [segment.initialization?.url, segment.url] {
                if let url, !urls.contains(url) { urls.append(url) }
            }
        }
        return urls
    }

    @Test("The timelines name the files of each track in order")
    func files() throws {
        for (name, stream) in try Corpus.streams() {
            // A live stream's last state lists the end of it only.
            guard name != "dash-live-updates", let main = stream.text("main") else { continue }
            let folder = "file://" + Corpus.folder.appending(path: "streams/\(name)/").path
            let listed = try load(main).renditions.map(resources)
            for track in stream.objects("tracks") {
                // This track belongs to another manifest of the stream.
                guard track.text("name") != "V300_with_cc1_and_cc3" else { continue }
                guard let files = track["joined_from"] as? [String] else { continue }
                let wanted = files.map { (folder.hasSuffix("/") ? folder : folder + "/") + $0 }
                #expect(listed.contains(wanted), "\(name), \(track.text("name") ?? "")")
            }
        }
    }

    @Test("Byte ranges of one file follow each other up to its end")
    func byteRanges() throws {
        for main in ["streams/byterange-fmp4/master.m3u8", "streams/byterange-fmp4/manifest.mpd"] {
            for rendition in try load(main).renditions {
                let segments = try #require(rendition.timeline?.segments)
                #expect(segments.count == 9)
                let ranges = segments.compactMap(\.byteRange)
                for (one, next) in zip(ranges, ranges.dropFirst()) { #expect(one.upperBound == next.lowerBound) }
                let size = try file(try #require(segments.first).url).count
                #expect(ranges.last?.upperBound == UInt64(size))
                #expect(try #require(segments.first?.initialization?.byteRange).lowerBound == 0)
            }
        }
    }

    @Test("HLS byte ranges and the DASH segment index name the same bytes of the same media")
    func sameBytes() throws {
        let hls = try load("streams/byterange-fmp4/master.m3u8")
        let dash = try load("streams/byterange-fmp4/manifest.mpd")
        for kind in [Rendition.Kind.video, .audio] {
            let one = try #require(hls.renditions.first { $0.kind == kind }?.timeline?.segments)
            let other = try #require(dash.renditions.first { $0.kind == kind }?.timeline?.segments)
            #expect(one.map(\.byteRange) == other.map(\.byteRange))
            #expect(one.map(\.url) == other.map(\.url))
        }
    }

    @Test("CMAF media: HLS and DASH name the same segments")
    func commonMedia() throws {
        let hls = try load("streams/cmaf/playlist.m3u8")
        let dash = try load("streams/cmaf/manifest.mpd")
        let one = Set(hls.renditions.map { resources($0) })
        let other = Set(dash.renditions.map { resources($0) })
        #expect(one == other)
    }

    @Test("Two periods over one file: both are clipped, both begin at the index's first time")
    func twoPeriods() throws {
        let presentation = try load("streams/dash-multiperiod-segmentbase/sample.mpd")
        let segments = try #require(presentation.renditions.first?.timeline?.segments)
        #expect(segments.map(\.section) == [0, 550])
        #expect(segments.map(\.start) == [.zero, MediaTime(ticks: 55, timescale: 100)])
        #expect(segments[0].presentationWindow?.end == segments[1].presentationWindow?.start)
        #expect(segments.map(\.byteRange) == [984..<2_804_085, 984..<2_804_085])
    }

    @Test("Encrypted renditions are read and marked")
    func encryption() throws {
        let presentation = try load("streams/hls-aes128-rotation/media.m3u8")
        let rendition = try #require(presentation.renditions.first)
        #expect(rendition.encryption?.method == "AES-128")
        #expect(rendition.unsupportedReason() == nil)
        let segments = try #require(rendition.timeline?.segments)
        #expect(Set(segments.compactMap(\.encryption?.keyURL)).count > 1)
    }
}
