import CoreModel
import Scheduling
import Testing

/// A peer that was fast and says nothing now: its past doesn't bring the chunk.
@Suite struct SilentPeerTests {
    @Test func theCDNIsAskedInTimeForWhatAFastPeerKeepsToItself() {
        var script = ViewerScript()
        script.playBesideAHolder(bytesPerSecond: 5_000_000, seconds: 1)
        // The peer answers nothing, not even no; the next segment is played after two seconds.
        for tenth in 1...17 {
            script.pass(.milliseconds(100))
            script.feed(.playback(position: .milliseconds(100 * tenth), isPlaying: true))
        }
        // 0.3 s before: the CDN needs less than that for its first chunks.
        let fetched = script.transfers.filter { $0.segment == ViewerScript.segment(1) }
        #expect(fetched.contains { $0.chunks.contains(0) })
    }

    @Test func aHungPeerDoesNotEndTransfersOfASlowCDNAgainAndAgain() {
        var script = ViewerScript()
        script.prove(1)
        script.receive(bytesPerSecond: 50_000, seconds: 1)
        script.announce(1, 0, 0..<40)
        script.feed(.playback(position: .zero, isPlaying: true))
        // The CDN brings what it was asked for, slowly; the peer that holds all of it has hung.
        for _ in 0..<100 {
            for transfer in script.transfers where !script.ended.contains(where: { $0.id == transfer.id }) {
                script.feed(.cdnReceived(transfer.id, byteCount: 2_000))
            }
            script.pass(.milliseconds(100))
        }
        #expect(script.ended.count <= 1)
        #expect(script.takenBack.contains { $0.reason == .stalled } || script.requests.isEmpty)
    }

    @Test func aCDNThatCanBePlayedFromIsAskedInTimeWhateverPeersPromise() {
        var script = ViewerScript()
        // One and a half times the stream: 1.3 s for a segment, and half of that again to be sure.
        script.playBesideAHolder(bytesPerSecond: 500_000, seconds: 1)
        for tenth in 1...10 {
            script.pass(.milliseconds(100))
            script.feed(.playback(position: .milliseconds(100 * tenth), isPlaying: true))
        }
        // A second before it is played, and the peer has sent nothing.
        #expect(script.transfers.contains { $0.segment == ViewerScript.segment(1) })
    }
}
