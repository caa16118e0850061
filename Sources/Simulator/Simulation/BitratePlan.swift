internal import CoreModel
internal import Scheduling
internal import ViewerCore

/// What all viewers of a stream with several renditions choose them by.
struct BitratePlan {
    let ladder: BitrateLadder
    /// Made once: it depends on nothing that differs between viewers.
    private let table: OutlookTable
    private let configuration: BitrateConfiguration
    /// The most media that can be ahead of the playhead.
    let capacity: Duration

    /// - Returns: `nil` where viewers play one rendition.
    init?(_ stream: StreamPlan, _ scheduling: SchedulerConfiguration) {
        guard stream.playedLadder.count > 1, let ladder = BitrateLadder(bitsPerSecond: stream.playedLadder) else {
            return nil
        }
        self.ladder = ladder
        var configuration = BitrateConfiguration()
        capacity = stream.kind == .live ? stream.liveDelay : scheduling.aloneWindow
        configuration.capacityMilliseconds = capacity.inSeconds * 1000
        configuration.segmentMilliseconds = stream.segmentDuration.inSeconds * 1000
        self.configuration = configuration
        table = OutlookTable(
            ladder: ladder, capacity: configuration.capacityMilliseconds, segment: configuration.segmentMilliseconds)
    }

    func makePlan() -> RenditionPlan { RenditionPlan(ladder: ladder, configuration: configuration, table: table) }
}
