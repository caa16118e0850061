internal import CoreModel
internal import NetworkEmulator
internal import Scheduling

/// A live stream: segments are published when they are complete; viewers learn of each, and of its record, somewhat later.
extension Simulation {
    /// How far the stream has come, in its own time: it has been running for its window at the start.
    private var streamTime: Duration { scenario.stream.window + MonotonicInstant.origin.duration(to: now) }

    /// Plans the publication of what isn't there at the start.
    func startPublishing() {
        guard stream.isLive else { return }
        let window = scenario.stream.window
        publishedSegments = stream.segments[..<stream.count].count { $0.end <= window }
        for index in publishedSegments..<stream.count {
            schedule(.published(index), at: .origin + (stream.segments[index].end - window))
        }
    }

    func published(_ index: Int) {
        publishedSegments = index + 1
        let hasRecord =
            scenario.witness.isPresent && !scenario.witness.outages.contains { $0.contains(now) }
        for viewer in viewers.indices where viewers[viewer]?.hasTimeline == true {
            // Of the viewer and the segment alone, so that runs of several policies compare.
            var generator = SeededGenerator(seed: liveSeed ^ UInt64(viewer) << 32 ^ UInt64(index))
            let line = scenario.links.classes[Int(population.viewers[viewer].linkClass)]
            let discovery = (line.discovery ?? scenario.stream.discovery).draw(using: &generator)
            let latency = scenario.stream.recordLatency.draw(using: &generator)
            schedule(.discovered(viewer: viewer), at: now.advanced(by: .clamping(seconds: discovery)))
            guard hasRecord, usesPeers, policy.waitsForRecords else { continue }
            schedule(
                .recorded(viewer: viewer, segment: index),
                at: now.advanced(by: .clamping(seconds: max(latency, discovery))))
        }
    }

    /// Puts a viewer at its place in the stream.
    func prepare(_ viewer: SimulatedViewer) {
        guard stream.isLive else { return }
        let position = max(.zero, streamTime - scenario.stream.liveDelay)
        viewer.firstSegment = min(stream.index(at: position), publishedSegments)
        viewer.player.seek(to: position, now: now)
        // The records of what the manifest lists come with it.
        guard usesPeers, policy.waitsForRecords, scenario.witness.isPresent else { return }
        let first = viewer.firstSegment
        for index in first..<max(first, publishedSegments) {
            schedule(.recorded(viewer: viewer.index, segment: index), at: now)
        }
    }

    func discovered(_ index: Int) {
        guard let viewer = viewers[index], viewer.isOnline, viewer.hasTimeline else { return }
        viewer.act {
            viewer.learnSegments()
            viewer.feed(.timer)
        }
    }

    func recorded(_ segment: Int, by index: Int) {
        guard let viewer = viewers[index], viewer.isOnline else { return }
        viewer.act {
            viewer.learnSegments()
            viewer.recordCame(of: segment - viewer.firstSegment)
        }
    }

    /// Live: the figures that time changes.
    func refresh(_ viewer: SimulatedViewer) {
        guard viewer.player.startup != nil else { return }
        viewer.figures.latency = streamTime - viewer.player.position
    }
}
