import CoreModel
import Scheduling
import Testing

/// A CDN that answers a range with the whole resource.
@Suite struct IgnoredRangeTests {
    /// Where bytes begin far before the segment, those that came are not what the peer was asked for from there on.
    @Test(arguments: [false, true])
    func aTransferIsHandedBackWhenPeersBringWhatIsStillToComeOfIt(ignoresRange: Bool) throws {
        var script = ViewerScript()
        let first = try #require(script.transfers.first)
        // 50 kB/s: the first stripes alone take 8 s.
        script.receive(bytesPerSecond: 50_000, seconds: 1)
        script.prove(1)
        if ignoresRange { script.feed(.cdnIgnoredRange(first.id, from: -1_000_000)) }
        script.feed(.playback(position: .zero, isPlaying: true))
        script.announce(1, 0, 0..<40)
        for _ in 0..<4 {
            script.feed(.cdnReceived(first.id, byteCount: 16_384))
            script.pass(.milliseconds(20))
        }
        #expect(script.ended.contains { $0.id == first.id })
        // All of it, or what follows on what has come.
        let asked = script.requests.filter { $0.segment == ViewerScript.segment(0) }.map(\.chunks.lowerBound).min()
        #expect((asked == 0) == ignoresRange)
    }

    @Test(arguments: [1, 2]) func rangesAreAskedForUntilTwoWereIgnored(count: Int) throws {
        var script = ViewerScript()
        script.receive(bytesPerSecond: 5_000_000, seconds: 1)
        let first = try #require(script.transfers.first)
        for _ in 0..<count { script.feed(.cdnIgnoredRange(first.id, from: 0)) }
        script.feed(.cdnArrived(first.id, chunks: 0..<40))
        script.feed(.cdnFinished(first.id))
        script.feed(.playback(position: .zero, isPlaying: true))
        for tenth in 1...20 {
            script.pass(.milliseconds(100))
            script.feed(.playback(position: .milliseconds(100 * tenth), isPlaying: true))
        }
        let next = script.transfers.filter { $0.segment == ViewerScript.segment(1) }
        #expect(!next.isEmpty)
        #expect(next.contains { $0.chunks == 0..<40 } == (count == 2))
    }
}
