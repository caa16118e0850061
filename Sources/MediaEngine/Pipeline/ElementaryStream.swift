internal import CFFmpeg
import CoreModel

/// One elementary stream of a source: its packets, its decoder, its place on the timeline. Confined to the track's
/// thread.
final class ElementaryStream {
    /// What waits for the decoder, in order.
    private enum Entry {
        case packet(QueuedPacket)
        /// The timeline jumps here: what the decoder holds comes out, then the stream is placed anew.
        case place(Placement)
    }

    /// The first timestamp of a segment and the segment, for finding the stream's offset.
    struct Placement {
        let mediaTime: MediaTime
        let info: SegmentInfo
    }

    /// A decoded frame with its time in the presentation.
    enum Output {
        case picture(VideoFrame)
        case samples(AudioBlock)
    }

    /// What one step did.
    enum Progress {
        case decoded(Output)
        /// A packet went in, or a frame that is nobody's came out.
        case advanced
        case damaged
        /// Nothing to do before more packets come.
        case idle
        /// Everything has come out.
        case finished
    }

    let kind: TrackKind
    let index: Int
    let content: Demuxer.Stream
    /// Presentation time minus media time, once known.
    private(set) var offset: MediaTime?
    /// What must be placed before decoding goes on.
    private(set) var placement: Placement?
    private(set) var isFinished = false
    private(set) var hasDecoded = false
    /// Start of the segment that the last frame belongs to, about: where playback starts from it.
    private(set) var segmentStart: MediaTime

    /// The segment of the last packet.
    var lastInfo: SegmentInfo

    private let decoder: Decoder
    /// A packet went in whose frames were not asked for yet.
    private var mayHaveOutput = false
    private var entries = Queue<Entry>()
    /// No packet follows.
    private(set) var isEnding = false
    /// A place further on that is taken when the decoder has given out what came before it.
    private var pendingPlacement: Placement?
    /// Media time of the next samples where packets have no timestamps (packed audio).
    private var runningTime: MediaTime?
    private var lastDecodingTime: MediaTime?
    /// The first packet, while nothing tells its duration.
    private var untimed: QueuedPacket?
    /// What the newest packet lasts.
    private var packetDuration: MediaTime?
    private var lastTime: MediaTime?
    private var lastDuration: MediaTime?
    private var steadyCount = 0

    init(
        kind: TrackKind, index: Int, content: Demuxer.Stream, decoder: Decoder,
        placement: Placement, runningTime: MediaTime?
    ) {
        self.kind = kind
        self.index = index
        self.content = content
        self.decoder = decoder
        self.placement = placement
        self.runningTime = runningTime
        segmentStart = placement.info.start
        lastInfo = placement.info
        resolvesAtOnce()
    }

    private func resolvesAtOnce() {
        guard let fixed = placement?.info.mediaOffset else { return }
        place(at: fixed)
    }

    /// The stream lies `offset` after its media time.
    func place(at offset: MediaTime) {
        self.offset = offset
        if let placement { segmentStart = placement.info.start }
        placement = nil
    }

    /// Queues a packet. Returns the durations that became known: of packets that wait, and of one that the decoder has
    /// taken already.
    func append(_ packet: consuming Packet) -> (waiting: MediaTime, taken: MediaTime) {
        let step = step(to: packet)
        var (waiting, taken) = (step ?? .zero, MediaTime.zero)
        if let first = untimed, let step {
            // Fragments don't say how long a sample lasts: the first one lasts as long as the second.
            if first.isSent { taken = step } else { waiting += step }
            first.duration = step
            untimed = nil
        }
        let queued = QueuedPacket(packet, duration: step ?? .zero)
        if step == nil, untimed == nil { untimed = queued }
        entries.append(.packet(queued))
        return (waiting, taken)
    }

    /// The time that a packet adds to those before it: its duration, or its distance from the last one.
    private func step(to packet: borrowing Packet) -> MediaTime? {
        let previous = lastDecodingTime
        lastDecodingTime = packet.decodingTimestamp.flatMap(content.mediaTime)
        var step = content.mediaTime(packet.duration) ?? .zero
        if step <= .zero, let previous, let lastDecodingTime { step = lastDecodingTime - previous }
        guard step > .zero, step <= Self.longestDuration else { return nil }
        packetDuration = step
        return step
    }

    /// The segment that begins here lies elsewhere on the timeline than the offset says.
    func replace(_ placement: Placement) {
        entries.append(.place(placement))
    }

    /// No packet follows.
    func end() {
        isEnding = true
    }

    /// Whether ``step(onSent:)`` may do something, room given.
    var hasWork: Bool { !isFinished && placement == nil && (mayHaveOutput || !entries.isEmpty || isEnding) }

    /// Does one unit of work. `onSent` is told of each packet that goes to the decoder.
    func step(onSent: (QueuedPacket) -> Void) -> Progress {
        guard !isFinished, placement == nil else { return isFinished ? .finished : .idle }
        switch decoder.receive() {
        case .frame:
            hasDecoded = true
            return output()
        case .damaged:
            return .damaged
        case .ended:
            return ended()
        case .needsInput:
            mayHaveOutput = false
            return feed(onSent)
        }
    }

    private func feed(_ onSent: (QueuedPacket) -> Void) -> Progress {
        switch entries.popFirst() {
        case .packet(let queued):
            onSent(queued)
            queued.isSent = true
            mayHaveOutput = true
            return decoder.send(queued.packet) == .damaged ? .damaged : .advanced
        case .place(let placement):
            // Takes effect when the decoder is empty.
            pendingPlacement = placement
            mayHaveOutput = true
            decoder.drain()
            return .advanced
        case nil:
            guard isEnding else { return .idle }
            decoder.drain()
            return .advanced
        }
    }

    private func ended() -> Progress {
        guard let next = pendingPlacement else {
            isFinished = true
            return .finished
        }
        pendingPlacement = nil
        mayHaveOutput = false
        decoder.reset()
        placement = next
        runningTime = runningTime == nil ? nil : next.mediaTime
        resolvesAtOnce()
        return .advanced
    }

    private func output() -> Progress {
        guard let offset else { return .advanced }
        return kind == .video ? picture(offset) : samples(offset)
    }

    private func picture(_ offset: MediaTime) -> Progress {
        let stated = decoder.frameTimestamp.flatMap(content.mediaTime)
        let time = stated ?? lastTime.map { $0 + (lastDuration ?? Self.fallbackDuration) } ?? .zero
        let distance = lastTime.map { time - $0 }
        let candidates = [content.mediaTime(decoder.frameDuration), distance, packetDuration, lastDuration]
        let duration =
            candidates.compactMap { $0 }.first { $0 > .zero && $0 <= Self.longestDuration } ?? Self.fallbackDuration
        if let distance {
            let deviation = distance - duration
            steadyCount = deviation <= Self.clockTick && -deviation <= Self.clockTick ? steadyCount + 1 : 0
        }
        lastTime = time
        lastDuration = duration
        guard let frame = unsafe VideoFrame(moving: decoder.frame, time: time + offset, duration: duration) else {
            return .damaged
        }
        return .decoded(.picture(frame))
    }

    /// Whether the last pictures came at equal distances, so that the next can be foretold.
    var isSteady: Bool { steadyCount >= 2 }

    /// What a coarse container clock rounds times by.
    static let clockTick = MediaTime(ticks: 1, timescale: 1000)
    private static let fallbackDuration = MediaTime(ticks: 1, timescale: 25)
    private static let longestDuration = MediaTime(seconds: 60)

    private func samples(_ offset: MediaTime) -> Progress {
        let stated = runningTime ?? decoder.frameTimestamp.flatMap(content.mediaTime)
        let time = stated ?? lastTime.map { $0 + (lastDuration ?? .zero) } ?? .zero
        guard let block = unsafe AudioBlock(moving: decoder.frame, time: time + offset) else { return .advanced }
        lastTime = time
        lastDuration = block.duration
        if runningTime != nil { runningTime = time + block.duration }
        return .decoded(.samples(block))
    }
}
