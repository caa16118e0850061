import Foundation
import Testing
import VBPlayer

/// An application as it is written after the original headers: it must compile unchanged in language modes 5 and 6.
@MainActor final class Caller: NSObject, VBPlayerDelegate {
    private let player: VBPlayer
    private let layer = VBDisplayLayer()
    private var observations: [NSKeyValueObservation] = []
    private var timeObserver: Any?
    private var ending: Any?
    var log: [String] = []

    override init() {
        player = VBPlayer(cdn: "www.mycdn.com/manifest.mpd", settings: [VBEnablePDNKey: false])
        super.init()
        player.delegate = self
        player.setDisplayLayer(layer)
        observations.append(
            player.observe(\.status, options: [.initial, .new]) { [weak self] player, _ in
                MainActor.assumeIsolated {
                    self?.log.append("status \(player.status.rawValue)")
                    if player.status == .failed { self?.log.append(player.error?.localizedDescription ?? "") }
                }
            })
        observations.append(
            layer.observe(\.isReadyForDisplay) { layer, _ in
                if layer.isReadyForDisplay { print(layer.displayRect.width) }
            })
        timeObserver = player.addPeriodicTimeObserver(
            forInterval: CMTimeMake(value: 1, timescale: 2), queue: DispatchQueue.main
        ) { [weak self] in
            MainActor.assumeIsolated { self?.showTime() }
        }
        ending = NotificationCenter.default.addObserver(
            forName: .VBPlayerDidFinishPlaying, object: player, queue: .main
        ) { _ in }
    }

    func use() {
        player.play()
        player.rate = 0
        player.seek(to: CMTimeMakeWithSeconds(3, preferredTimescale: 600))
        player.seek(to: kCMTimeZero, tolerance: kCMTimePositiveInfinity)
        player.seek(
            to: CMTime.zero,
            completion: { [weak self] in
                MainActor.assumeIsolated { self?.log.append("sought") }
            })
        player.seek(to: .zero, tolerance: .zero) {}
        if let timeObserver { player.removeTimeObserver(timeObserver) }
    }

    func wait() async {
        await player.seek(to: .zero)
        await player.seek(to: .zero, tolerance: .zero)
        for await status in player.statusUpdates where status != .unknown { break }
    }

    private func showTime() {
        let (time, duration) = (player.currentTime, player.duration)
        if CMTIME_IS_NUMERIC(time), !CMTIME_IS_INDEFINITE(duration) { log.append("\(CMTimeGetSeconds(time))") }
    }

    func playerDidEnterStall(_ player: VBPlayer) { log.append("stall") }
    func playerDidFinishPlaying(_ player: VBPlayer) { log.append("end") }
}

/// A caller that feeds data.
func feed(_ player: VBDataPlayer, _ pieces: [Data]) throws {
    for piece in pieces { try player.append(piece, coding: .mp4) }
    if player.bufferedDuration() < CMTime(seconds: 1, preferredTimescale: 1) { player.endOfStream() }
}

/// A player with something of its application's.
final class NamedPlayer: VBPlayer, @unchecked Sendable {
    var name = ""
    var isReady: Bool { status == .readyToPlay }
}

@MainActor struct CallerTests {
    @Test func theCallerRuns() async throws {
        let caller = Caller()
        caller.use()
        #expect(caller.log == ["status 0"])
        let untyped: NSDictionary = [VBEnablePDNKey: NSNumber(value: false)]
        if let settings = untyped as? [AnyHashable: Any] {
            _ = VBPlayer(cdn: "https://127.0.0.1:9/a", settings: settings)
        }
        let named = NamedPlayer(args: "cdn=https://127.0.0.1:9/a")
        named.name = "one"
        let observation = named.observe(\.isReady, options: [.new]) { named, _ in print(named.name) }
        observation.invalidate()
        #expect(throws: (any Error).self) { try feed(VBDataPlayer.create(), [Data("nothing of the kind".utf8)]) }
    }
}
