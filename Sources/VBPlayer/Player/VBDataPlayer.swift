public import Foundation
import MediaEngine

#if canImport(CoreMedia)
    public import CoreMedia
#endif

/// A player that plays what its caller appends; its time starts at 0 and its duration is `.indefinite`.
///
/// A seek drops what is buffered, and nothing is kept back in time: the caller appends again, from a random access point at
/// or before the target. It becomes `.readyToPlay` with the first media that can be decoded.
public final class VBDataPlayer: VBPlayer, @unchecked Sendable {
    private let core: DataCore

    /// Makes a player that waits for data.
    public static func create() -> VBDataPlayer { VBDataPlayer(observer: nil) }

    /// As ``create()``, by its other name.
    public static func createDataPlayer() -> VBDataPlayer { create() }

    /// Makes a player whose decoded frames `observer` sees.
    init(observer: (any FrameObserver)?) {
        let controller = PlayerController(takesEarlySeeks: true)
        let sink = FrameSink { [weak controller] frame in controller?.present(frame) }
        core = DataCore(sink: sink, observer: observer) { [weak controller] event in controller?.take(event) }
        super.init(controller: controller)
        controller.start(core)
    }

    /// Appends the next bytes of a coding: an initialisation section first, then media; each call continues the one before,
    /// except the first and after a seek. The bytes may be split anywhere; a plain MP4 whose `moov` comes last plays once it
    /// is complete.
    ///
    /// - Throws: An `NSError` of ``VBErrorDomain`` for data that is malformed or comes after the end; what was appended
    ///   before stays, and a correct continuation may follow.
    public func append(_ data: Data, coding: VBDataCoding) throws {
        do throws(DataError) {
            try core.feed.append([UInt8](data), coding: DataCoding(coding))
        } catch {
            throw PlayerError(error).nsError
        }
    }

    /// How much was appended and not yet asked for decoding: the smaller one of audio and video.
    public func bufferedDuration() -> CMTime { CMTime(core.feed.bufferedDuration) }

    /// As ``bufferedDuration()``, as an older header spells it.
    @available(*, deprecated, renamed: "bufferedDuration")
    public func bufferredDuration() -> CMTime { bufferedDuration() }

    /// Playback finishes after the last piece. Forgotten at a seek.
    public func endOfStream() { core.feed.endOfStream() }
}
