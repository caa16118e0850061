public import Dispatch
public import Foundation
import CoreModel
import Delivery
import MediaEngine

#if canImport(CoreMedia)
    public import CoreMedia
#endif

/// Plays one HLS or DASH stream, whose segments may come from other viewers beside the CDN.
///
/// Loading starts with the initialiser; to change the source, make a new player. Every member may be used from any thread
/// and returns at once; observers, delegate and completions are called on the main queue, in order. ``status``,
/// ``error``, ``rate``, ``duration``, ``qualities``, ``quality`` and ``isQualityAutomatic`` are observable. Releasing the last reference ends playback, and every transfer,
/// thread and socket with it within a second.
open class VBPlayer: NSObject, VBObservable, ObservationHost, @unchecked Sendable {
    // `@unchecked Sendable`: an open class can't be checked; what is stored here is immutable and thread-safe.
    let controller: PlayerController

    var observedState: ObservedState<PlayerSnapshot> { controller.observed }

    /// Starts to load the manifest at `cdn`, an http or https address.
    ///
    /// An address without a scheme means https; http only when the https port refuses the connection, and then never with
    /// peers or a token.
    public init(cdn: String) {
        controller = PlayerController(takesEarlySeeks: false)
        super.init()
        load { () throws(PlayerError) in (try WebAddress(cdn), PlayerSettings()) }
    }

    /// Starts to load the manifest at `cdn`. A wrong setting ends in `.failed`, with an error that names its key.
    ///
    /// - Parameter settings: See ``VBEnablePDNKey`` and the other keys.
    public init(cdn: String, settings: [String: Any]) {
        controller = PlayerController(takesEarlySeeks: false)
        super.init()
        load { () throws(PlayerError) in (try WebAddress(cdn), try PlayerSettings(dictionary: settings)) }
    }

    /// As the initialiser with text keys, with a dictionary as `NSDictionary` imports.
    @_disfavoredOverload
    public init(cdn: String, settings: [AnyHashable: Any]) {
        controller = PlayerController(takesEarlySeeks: false)
        super.init()
        load { () throws(PlayerError) in (try WebAddress(cdn), try PlayerSettings(dictionary: settings)) }
    }

    /// Starts to load what one line says: `cdn=URL enable-pdn=true tracker=URL …`.
    ///
    /// Words are separated by spaces; a value with spaces stands in single or double quotes. The names are the values of
    /// the settings keys. A wrong argument ends in `.failed`, with an error that names it.
    public init(args: String) {
        controller = PlayerController(takesEarlySeeks: false)
        super.init()
        load { () throws(PlayerError) in
            let line = try ArgumentLine(args)
            return (line.address, line.settings)
        }
    }

    /// Begins to play what `read` gives, or fails as it does.
    private func load(_ read: () throws(PlayerError) -> (WebAddress, PlayerSettings)) {
        let controller = controller
        controller.setPlayer(self)
        do throws(PlayerError) {
            let (address, settings) = try read()
            let sink = FrameSink { [weak controller] frame in controller?.present(frame) }
            controller.start(
                PresentationCore(
                    configuration: settings.sessionConfiguration(url: address.sessionURL),
                    log: SessionLog(levels: settings.logLevels), sink: sink
                ) { [weak controller] event in controller?.take(event) })
        } catch {
            controller.failSoon(error)
        }
    }

    /// Makes a player of a controller; its core is started by the caller.
    init(controller: PlayerController) {
        self.controller = controller
        super.init()
        controller.setPlayer(self)
    }

    deinit { controller.close() }

    /// Why ``status`` is `.failed`: an error of ``VBErrorDomain`` whose code is a ``VBErrorCode``; `nil` until then.
    public var error: NSError? { observedState.visible.error }

    /// Whether it can play.
    public var status: VBPlayerStatus { observedState.visible.status }

    /// 1 when playing is wanted, also while it waits for media; 0 when paused, at the end and when failed.
    ///
    /// Setting it is ``play()`` or ``pause()``; other values are refused, which `.VBPlayerDidRefuseCommand` tells.
    public var rate: Float {
        get { observedState.visible.rate }
        set {
            switch newValue {
            case 0: pause()
            case 1: play()
            default: controller.refuse(PlayerError(.unsupportedRate, "The rate \(newValue) is not supported."))
            }
        }
    }

    /// The stream's length; `.indefinite` before `.readyToPlay`, and when it has no known end.
    public var duration: CMTime { observedState.visible.duration }

    /// Where playback stands; zero before `.readyToPlay`.
    public var currentTime: CMTime {
        let position = CMTime(controller.position)
        let duration = self.duration
        return duration.isNumeric && duration < position ? duration : position
    }

    /// The qualities that the stream can be shown in, the lowest bit rate first; empty before they are known. Only the one
    /// that is played where there is no choice.
    public var qualities: [VBQuality] { observedState.visible.qualities }

    /// The quality on screen; `nil` before the first picture.
    ///
    /// Setting it plays in that quality from now on, as soon as what was handed to the decoder has been shown, and clears
    /// ``isQualityAutomatic``; `nil` sets that again. One that is not among ``qualities`` is refused, which
    /// `.VBPlayerDidRefuseCommand` tells.
    public var quality: VBQuality? {
        get { observedState.visible.quality }
        set { controller.setQuality(newValue) }
    }

    /// Whether the quality follows what the network gives, within ``VBMaximumBitrateKey`` and what the display layer shows;
    /// true unless ``VBRenditionKey`` says which one to play.
    ///
    /// Clearing it stays with the quality on screen.
    public var isQualityAutomatic: Bool {
        get { observedState.visible.isQualityAutomatic }
        set { controller.setQualityAutomatic(newValue) }
    }

    /// Is told of stalls and of the end.
    public weak var delegate: (any VBPlayerDelegate)? {
        get { controller.delegate }
        set { controller.delegate = newValue }
    }

    /// Plays: at once when `.readyToPlay`, else from then on. Nothing happens at the end; seek first.
    public func play() { controller.play() }

    /// Pauses.
    public func pause() { controller.pause() }

    /// Moves to a random access point at or before `time`; beyond the ends it is clamped.
    public func seek(to time: CMTime) { seek(to: time, tolerance: .positiveInfinity, block: nil) }

    /// Moves into `[time - tolerance, time]`; with `.zero` to the frame on screen at `time`.
    public func seek(to time: CMTime, tolerance: CMTime) { seek(to: time, tolerance: tolerance, block: nil) }

    /// Moves as ``seek(to:)`` and calls `completion` on the main queue when it is over: exactly once, also when a later
    /// seek overtakes it, the player fails or is released.
    public func seek(to time: CMTime, completion: @escaping () -> Void) {
        seek(to: time, tolerance: .positiveInfinity, block: completion)
    }

    /// Moves as ``seek(to:tolerance:)`` and calls `completion` as ``seek(to:completion:)`` does.
    public func seek(to time: CMTime, tolerance: CMTime, completion: @escaping () -> Void) {
        seek(to: time, tolerance: tolerance, block: completion)
    }

    /// Moves as ``seek(to:)`` and returns when it is over.
    public func seek(to time: CMTime) async {
        await withCheckedContinuation { continuation in
            seek(to: time, tolerance: .positiveInfinity) { continuation.resume() }
        }
    }

    /// Moves as ``seek(to:tolerance:)`` and returns when it is over.
    public func seek(to time: CMTime, tolerance: CMTime) async {
        await withCheckedContinuation { continuation in
            seek(to: time, tolerance: tolerance) { continuation.resume() }
        }
    }

    /// Has `block` called at each multiple of `interval` of media time while the clock runs, and when it starts, stops and
    /// jumps.
    ///
    /// Calls that the queue has no time for are joined. An interval that is not positive gives the calls at start, stop
    /// and jumps alone.
    ///
    /// - Parameters:
    ///   - interval: Of media time; at least 5 ms count.
    ///   - queue: Where `block` is called, a serial one; `nil` is the main queue.
    ///   - block: In it, ``currentTime`` is current.
    /// - Returns: A token that keeps the observer alive; keep it, and give it to ``removeTimeObserver(_:)``.
    public func addPeriodicTimeObserver(
        forInterval interval: CMTime, queue: DispatchQueue?, using block: @escaping () -> Void
    ) -> Any {
        let span = interval.mediaTime.flatMap { $0 > .zero ? $0 : nil }
        let observer = PeriodicObserver(interval: span, queue: queue ?? .main, block: block) { [weak controller] in
            controller?.position ?? .zero
        }
        controller.add(observer)
        return PeriodicObserverToken(observer)
    }

    /// Removes an observer: no new call of its block starts, and those that wait are dropped. May be called in the block.
    /// What is no observer of this player is ignored.
    public func removeTimeObserver(_ observer: Any) {
        guard let token = observer as? PeriodicObserverToken else { return }
        controller.remove(token.observer)
    }

    /// Shows the pictures in `layer` from now on, in place of the layer before; `nil` shows them nowhere.
    public func setDisplayLayer(_ layer: VBDisplayLayer?) { controller.setLayer(layer) }

    /// A new stream of ``status``, which starts with the current value and finishes when the player is released.
    public var statusUpdates: AsyncStream<VBPlayerStatus> { controller.statusUpdates() }

    /// The figures so far, as a JSON object: an entry of `viewers` in what `pdn play --stats` writes, with the same names
    /// and units.
    ///
    /// - Returns: `nil` when there are none: for a data player, and once the player has failed.
    public func statistics() async -> Data? {
        let controller = controller
        let figures = await withCheckedContinuation { continuation in
            controller.readFigures(OneAnswer(otherwise: nil) { continuation.resume(returning: $0) })
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Numbers and texts alone: there is nothing that can't be encoded.
        return figures.flatMap { try? encoder.encode($0) }
    }

    private func seek(to time: CMTime, tolerance: CMTime, block: (() -> Void)?) {
        let target: MediaTime? =
            time.isPositiveInfinity ? .farFuture : time.isNegativeInfinity ? .zero : time.mediaTime
        guard let target else {
            controller.refuse(PlayerError(.wrongMoment, "The time of a seek is no number."))
            if let block { SeekCompletion(block).complete() }
            return
        }
        let span = tolerance.isPositiveInfinity ? nil : max(tolerance.mediaTime ?? .zero, .zero)
        controller.seek(to: target, tolerance: span, completion: block)
    }
}

extension MediaTime {
    /// A time behind the end of every stream.
    fileprivate static let farFuture = MediaTime(seconds: 1 << 40)
}
