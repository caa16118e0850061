public import Foundation
internal import MediaEngine
internal import Scheduling
import Synchronization

/// Where a player shows its pictures: the layout of the picture in a rectangle, and the pictures themselves.
///
/// There is no CALayer on Linux, so the layer draws nothing; a toolkit lays it out with ``bounds`` and ``videoGravity`` and
/// draws from ``frames``. Every member may be used from any thread. ``isReadyForDisplay``, ``displayRect``, ``bounds`` and
/// ``videoGravity`` are observable.
open class VBDisplayLayer: NSObject, VBObservable, ObservationHost, @unchecked Sendable {
    // `@unchecked Sendable`: an open class can't be checked; what is stored here is immutable or behind locks.

    struct Snapshot: Sendable {
        var givenBounds: CGRect?
        var gravity = VBVideoGravity.resizeAspect
        /// The size of the newest picture with square samples; zero before the first.
        var pictureSize = CGSize.zero
        var isReady = false

        var bounds: CGRect { givenBounds ?? CGRect(origin: .zero, size: pictureSize) }
        var displayRect: CGRect { gravity.displayRect(of: pictureSize, in: bounds) }
    }

    let observedState = ObservedState(Snapshot())
    /// The player that shows here; pictures of another are refused. What changes with it does so under its lock, so that
    /// no picture of a former owner comes late.
    private let owner = Mutex<ObjectIdentifier?>(nil)
    /// Told of each new size in pixels, for the owner.
    private let onResize = Mutex<(@Sendable (PixelSize?) -> Void)?>(nil)

    /// The pictures.
    public let frames = VBFrameSink()

    /// Makes a layer without a player.
    public override init() { super.init() }

    /// The rectangle to show in; until it is set, the size of the picture with square samples.
    public var bounds: CGRect {
        get { observedState.visible.bounds }
        set {
            observedState.update { $0.givenBounds = newValue }
            onResize.withLock { $0 }?(viewport)
        }
    }

    /// The pixels that ``bounds`` have room for; `nil` until they are set.
    var viewport: PixelSize? {
        observedState.newest.givenBounds.flatMap { bounds in
            guard bounds.width >= 1, bounds.height >= 1, bounds.width < 1e6, bounds.height < 1e6 else { return nil }
            return PixelSize(width: Int(bounds.width.rounded(.up)), height: Int(bounds.height.rounded(.up)))
        }
    }

    /// How the picture fills ``bounds``; aspect fit by default.
    public var videoGravity: VBVideoGravity {
        get { observedState.visible.gravity }
        set { observedState.update { $0.gravity = newValue } }
    }

    /// Where the picture lies, in the coordinates of ``bounds``; beyond them with aspect fill; empty before the first.
    public var displayRect: CGRect { observedState.visible.displayRect }

    /// Whether there is a picture to show.
    public var isReadyForDisplay: Bool { observedState.visible.isReady }

    /// Gives the layer to a player, with the picture that it shows at the moment.
    ///
    /// - Parameter onResize: Told of each new size, on the thread that sets it.
    func attach(
        to newOwner: ObjectIdentifier, showing frame: VideoFrame?,
        onResize: @escaping @Sendable (PixelSize?) -> Void = { _ in }
    ) {
        owner.withLock { owner in
            if owner != newOwner { reset() }
            owner = newOwner
            self.onResize.withLock { $0 = onResize }
        }
        if let frame { present(frame, from: newOwner) }
    }

    /// Takes the layer from a player; nothing when it has another by now.
    func detach(from formerOwner: ObjectIdentifier) {
        owner.withLock { owner in
            guard owner == formerOwner else { return }
            owner = nil
            onResize.withLock { $0 = nil }
            reset()
        }
    }

    /// Shows a picture of a player, on that player's thread.
    func present(_ frame: VideoFrame, from player: ObjectIdentifier) {
        let picture = VBVideoFrame(frame)
        let handler = owner.withLock { owner -> (@Sendable (VBVideoFrame) -> Void)? in
            guard owner == player else { return nil }
            noteSize(of: frame)
            return frames.store(picture)
        }
        handler?(picture)
    }

    /// Publishes what a picture changes: most change nothing that can be observed.
    private func noteSize(of frame: VideoFrame) {
        let ratio = CGFloat(frame.sampleAspectRatio.width) / CGFloat(max(1, frame.sampleAspectRatio.height))
        let size = CGSize(width: CGFloat(frame.size.width) * ratio, height: CGFloat(frame.size.height))
        let snapshot = observedState.newest
        if !snapshot.isReady || snapshot.pictureSize != size {
            observedState.update {
                $0.pictureSize = size
                $0.isReady = true
            }
        }
    }

    private func reset() {
        frames.clear()
        observedState.update {
            $0.isReady = false
            $0.pictureSize = .zero
        }
    }
}
