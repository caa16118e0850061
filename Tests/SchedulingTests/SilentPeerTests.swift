import CoreModel
import Scheduling
import Testing

/// A peer that was fast and says nothing now: its past doesn't bring the chunk.
@Suite struct SilentPeerTests {
    @Test func theCDNIsAskedInTimeForWhatAFastPeerKeepsToItself() {
        var script = ViewerScript()
        script.prove(1)
        // 5 MB/s.
        script.receive(bytesPerSecond: 5_000_000, seconds: 1)
        for index in 1...7 { script.announce(1, index, 0..<40) }
        script.feed(.cdnArrived(script.transfers[0].id, chunks: script.transfers[0].chunks))
        script.feed(.cdnFinished(script.transfers[0].id))
        script.feed(.playback(position: .zero, isPlaying: true))
        // The peer answers nothing, not even no; the next segment is played after two seconds.
        for tenth in 1...17 {
            script.pass(.milliseconds(100))
            script.feed(.playback(position: .milliseconds(100 * tenth), isPlaying: true))
        }
        // 0.3 s before: the CDN needs less than that for its first chunks.
        let fetched = script.transfers.filter { $0.segment == ViewerScript.segment(1) }
        #expect(fetched.contains { $0.chunks.contains(0) })
    }
}
