package import CoreModel

/// One viewer of a population, as drawn: everything about it that doesn't come out of the run.
///
/// A plain value of 72 bytes, so that a million of them is an array and nothing else.
package struct ViewerProfile: Sendable, Equatable {
    package var arrival: MonotonicInstant
    /// When it leaves at the latest; not after the end of the run.
    package var departure: MonotonicInstant
    /// VOD: nanoseconds from the title's start at which it begins.
    package var startNanoseconds: Int64
    /// Bits a second; the mean of the trace where there is one.
    package var downBitsPerSecond: Int
    /// What the line carries, used or not. Where the class has a trace, it is scaled so that this is its mean.
    package var upBitsPerSecond: Int
    /// To the core of the network and back.
    package var roundTripSeconds: Float
    /// The share of packets that get lost.
    package var loss: Float
    /// Seconds of start-up after which it gives up; infinite when it doesn't.
    package var patienceSeconds: Float
    /// Where in the class's trace it is at its arrival, in seconds from the trace's start; both directions alike.
    package var traceOffsetSeconds: Float
    /// The line it shares, in ``Population/sharedLines``; -1 when it has its own.
    package var sharedLine: Int32
    /// Its habits' events, in ``Population/events``.
    package var firstEvent: Int32
    package var eventCount: Int32
    /// In ``LinkPlan/classes``.
    package var linkClass: UInt8
    package var nat: NATKind
    package var conduct: Conduct
    package var sharing: Sharing

    /// Whether a viewer is willing and allowed to upload.
    package enum Sharing: UInt8, Sendable {
        case uploads
        /// Switched off, openly.
        case leechOnly
        /// On a metered connection, where the rules say that nothing is uploaded.
        case metered
    }

    /// Its events as a range.
    package var eventRange: Range<Int> { Int(firstEvent)..<Int(firstEvent) + Int(eventCount) }
    /// The longest time it can be online.
    package var session: Duration { arrival.duration(to: departure) }
    /// Whether it gives anything: it is willing, allowed, and no free rider.
    package var givesUploads: Bool { sharing == .uploads && conduct != .freeRiding }
}

/// Something a viewer does while it watches.
package struct ViewerEvent: Sendable, Equatable {
    package enum Kind: UInt8, Sendable {
        /// Forward by the amount, or back when it is negative.
        case seek
        /// For the amount.
        case pause
    }

    package var kind: Kind
    /// Nanoseconds after the arrival.
    package var offsetNanoseconds: Int64
    package var amountNanoseconds: Int64
}

/// A line of several viewers, as drawn.
package struct SharedLine: Sendable, Equatable {
    package var downBitsPerSecond: Int
    package var upBitsPerSecond: Int
    /// The network behind it, when it is a site's: its viewers' ports and the round trip inside.
    package var site: LinkPlan.Site?
    package var viewerCount: Int32
}
