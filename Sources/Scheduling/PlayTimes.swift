internal import CoreModel

/// When what of a segment is played, for many questions: its bytes are spread evenly but for the first picture.
struct PlayTimes: Sendable {
    /// The first picture of a segment can be a fifth of its bytes.
    static let firstPicture = 0.2

    let start: Duration
    private let seconds: Double

    init(_ description: SegmentDescription) {
        start = description.start
        seconds = description.duration.inSeconds
    }

    /// When so much of the segment has been played.
    func time(of fraction: Double) -> Duration { start + .clamping(seconds: seconds * min(max(fraction, 0), 1)) }

    /// When a chunk is needed of a segment that plays while it comes in: the media that is there without it ends then.
    func time(before chunk: Int, of count: Int) -> Duration { time(of: Self.fraction(before: chunk, of: count)) }

    /// The same in nanoseconds from the segment's start on.
    func nanoseconds(before chunk: Int, of count: Int) -> Int64 {
        Duration.nanoseconds(clamping: seconds * min(max(Self.fraction(before: chunk, of: count), 0), 1))
    }

    private static func fraction(before chunk: Int, of count: Int) -> Double {
        (Double(chunk) / Double(count) - firstPicture) / (1 - firstPicture)
    }
}
