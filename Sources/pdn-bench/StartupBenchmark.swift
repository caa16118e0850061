import CoreModel
import Foundation
import Manifest
import MediaEngine
import VBPlayer

/// The time from a player's `init` to its first picture, peers off and on, against the bare floor: libcurl fetches the same
/// manifest, playlist, initialisation section and first segment one after the other, and libavcodec decodes the first
/// picture of them.
///
/// The three are measured in turn and the medians are compared, so that whatever else the machine does meets all alike.
enum StartupBenchmark {
    /// Why there is no figure.
    enum Failure: Error {
        case nothingToPlay(String)
        case noPicture(String)
        case threadsStay
    }

    /// What is fetched.
    private struct Resource {
        var url: String
        var range: Range<UInt64>?
        var isMedia: Bool
    }

    /// Runs of each, after two that are not counted.
    private static let rounds = 31
    /// What a player without the setting chooses among: it takes so many bits a second for granted.
    private static let startBitsPerSecond: UInt64 = 4_000_000
    /// What the player with peers needs besides the address, as `VBPlayer(args:)` takes it.
    private static let peerSettings = "enable-pdn=true"

    /// Measures with a manifest.
    ///
    /// - Parameters:
    ///   - label: Stands behind the figures' names.
    ///   - settings: Trackers and keys for the player with peers, in words as `VBPlayer(args:)` takes them.
    static func run(url: String, label: String, settings: [String]) throws -> [Measurement] {
        let resources = try resources(of: url)
        let lines = ["cdn=\(url)", (["cdn=\(url)", peerSettings] + settings).joined(separator: " ")]
        let threads = threadCount
        var floor: [Double] = []
        var players: [[Double]] = [[], []]
        for round in -2..<rounds {
            let bare = try wallSeconds { try fetchAndDecode(resources) }
            if round >= 0 { floor.append(bare) }
            for (index, line) in lines.enumerated() {
                let time = try firstPicture(line)
                if round >= 0 { players[index].append(time) }
                try awaitThreads(threads)
            }
        }
        let limit = median(floor) * 1000
        return zip(["startup-off", "startup-on"], players).map { name, times in
            Measurement(name: name + label, value: median(times) * 1000, unit: "ms", limit: limit)
        }
    }

    // MARK: - The floor

    private static func fetchAndDecode(_ resources: [Resource]) throws {
        let client = BareFetch()
        defer { client.close() }
        var media: [UInt8] = []
        for resource in resources {
            let bytes = try client.get(resource.url, range: resource.range)
            if resource.isMedia { media += bytes }
        }
        _ = try BareDecoder.firstPicture(of: media)
    }

    /// What a player fetches up to the first picture, in the order in which it learns of it.
    private static func resources(of url: String) throws -> [Resource] {
        let client = BareFetch()
        defer { client.close() }
        var resources = [Resource(url: url, isMedia: false)]
        var presentation = try Presentation.parse(client.get(url), url: url)
        let variants = presentation.variants.filter { $0.video != nil }.sorted { $0.bandwidth < $1.bandwidth }
        let variant = variants.last { $0.bandwidth <= startBitsPerSecond } ?? variants.first
        guard let id = variant?.video else { throw Failure.nothingToPlay(url) }
        switch presentation.requirement(for: id) {
        case .ready: break
        case .playlist(let playlist):
            resources.append(Resource(url: playlist, isMedia: false))
            try presentation.load(id, bytes: client.get(playlist), finalURL: playlist)
        case .segmentIndex(let index, let range):
            resources.append(Resource(url: index, range: range, isMedia: false))
            try presentation.load(id, bytes: client.get(index, range: range), finalURL: index)
        }
        guard let segment = presentation.rendition(id)?.timeline?.segments.first else {
            throw Failure.nothingToPlay(url)
        }
        if let section = segment.initialization {
            resources.append(Resource(url: section.url, range: section.byteRange, isMedia: true))
        }
        return resources + [Resource(url: segment.url, range: segment.byteRange, isMedia: true)]
    }

    // MARK: - The player

    /// The seconds from `init` to the first picture.
    private static func firstPicture(_ line: String) throws -> Double {
        let layer = VBDisplayLayer()
        let shown = Handover<Double>()
        layer.frames.setHandler { _ in shown.give(Usage.wallSeconds) }
        let start = Usage.wallSeconds
        let player = VBPlayer(args: line)
        player.setDisplayLayer(layer)
        let end = shown.take(within: .seconds(10))
        layer.frames.setHandler(nil)
        guard let end else { throw Failure.noPicture("\(player.error?.localizedDescription ?? line)") }
        return end - start
    }

    // MARK: - Order

    /// Waits until the threads of the player before are gone, so that they take no time from the next.
    private static func awaitThreads(_ count: Int) throws {
        for _ in 0..<2000 {
            if threadCount <= count { return }
            usleep(5000)
        }
        throw Failure.threadsStay
    }

    private static var threadCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
