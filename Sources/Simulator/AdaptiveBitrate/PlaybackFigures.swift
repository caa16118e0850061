/// What a viewer saw of one playback, in Sabre's terms.
///
/// Means are over the total time, start-up and stalls included: on a link that stalls half the time, the mean bitrate
/// halves too.
package struct PlaybackFigures: Sendable, Equatable {
    /// What a stall of a segment's duration costs in utility. (Sabre's γ·p.)
    package static let stallPenalty = 5.0

    /// Duration of each segment.
    package let segmentMilliseconds: Double
    /// Playing, start-up and stalls together.
    package internal(set) var totalMilliseconds = 0.0
    /// Without picture after playback had begun.
    package internal(set) var stallMilliseconds = 0.0
    /// How often the buffer ran dry.
    package internal(set) var stalls = 0
    /// Segments at another rung than the one before.
    package internal(set) var switches = 0
    /// Fetches that were given up for a lower rung.
    package internal(set) var abandoned = 0
    var utility = 0.0
    var kilobitsPerSecond = 0.0
    var rateChange = 0.0

    init(segmentMilliseconds: Double) { self.segmentMilliseconds = segmentMilliseconds }

    private var segments: Double { totalMilliseconds / segmentMilliseconds }

    /// Mean utility less the penalty of stalls: what rules are compared by.
    package var score: Double {
        (utility - Self.stallPenalty * stallMilliseconds / segmentMilliseconds) / segments
    }

    /// Mean of ln(rate / lowest rate).
    package var meanUtility: Double { utility / segments }

    /// Mean bitrate in kilobits a second.
    package var meanKilobitsPerSecond: Double { kilobitsPerSecond / segments }

    /// Mean change of bitrate from a segment to the next, in kilobits a second.
    package var oscillation: Double { rateChange / segments }

    /// The share of the time that was a stall.
    package var rebufferRatio: Double { stallMilliseconds / totalMilliseconds }
}
