import CoreModel
import Scheduling
import Testing

/// A CDN that brings less than playback needs: what it was asked for may come sooner from peers, and asking it earlier only
/// makes it slower for everybody.
@Suite struct SlowCDNTests {
    @Test func whatASlowCDNIsBringingIsAskedOfPeersThatHoldItAndThenTakenFromTheCDN() throws {
        var script = ViewerScript()
        let first = try #require(script.transfers.first)
        #expect(first.segment == ViewerScript.segment(0))
        // 50 kB/s: the first three stripes alone take 8 s.
        script.receive(bytesPerSecond: 50_000, seconds: 1)
        script.prove(1)
        script.feed(.playback(position: .zero, isPlaying: true))
        #expect(script.ended.isEmpty)
        script.announce(1, 0, 0..<40)
        let asked = script.requests.filter { $0.segment == ViewerScript.segment(0) }
        #expect(asked.contains { $0.chunks.overlaps(first.chunks) })
        // Down to what is on its way, which the CDN may finish.
        let position = first.chunks.lowerBound + 50_000 / 16_384
        #expect(asked.allSatisfy { $0.chunks.lowerBound > position })
        // What the CDN brings within the second comes; all that is left is the peer's.
        for _ in 0..<4 {
            script.feed(.cdnReceived(first.id, byteCount: 16_384))
            script.pass(.milliseconds(20))
        }
        #expect(script.ended.contains { $0.id == first.id && $0.reason == .handedBack })
    }

    @Test func whatPeersOnlyExpectOrNeverProvedIsLeftToTheCDN() throws {
        var script = ViewerScript()
        let first = try #require(script.transfers.first)
        script.receive(bytesPerSecond: 50_000, seconds: 1)
        script.prove(1)
        script.feed(.playback(position: .zero, isPlaying: true))
        // One waits for the CDN as this viewer does; the other has never sent anything.
        script.announce(1, 0, 0..<40, isExpected: true)
        script.announce(2, 0, 0..<40)
        for _ in 0..<5 { script.pass(.milliseconds(100)) }
        #expect(script.ended.allSatisfy { $0.id != first.id })
        #expect(
            script.requests.filter { $0.segment == ViewerScript.segment(0) }.allSatisfy {
                !$0.chunks.overlaps(first.chunks)
            })
    }

    @Test func whatPeersWillBringInTimeIsNotAskedOfASlowCDNLongBefore() {
        var script = ViewerScript()
        // The first three stripes take 8 s. The segment that is played 4 s from now would take the CDN 13 s, and the peer, at
        // 3 MB/s, a fifth of a second.
        script.playBesideAHolder(bytesPerSecond: 50_000, seconds: 6)
        script.pass(.milliseconds(20))
        #expect(script.transfers.allSatisfy { $0.segment.index == 0 })
        #expect(script.requests.contains { $0.segment == ViewerScript.segment(1) })
    }

    @Test func whatNobodyHoldsIsAskedOfASlowCDNAsEarlyAsItNeeds() {
        var script = ViewerScript()
        script.receive(bytesPerSecond: 50_000, seconds: 6)
        script.prove(1)
        script.play()
        script.pass(.milliseconds(20))
        #expect(script.transfers.contains { $0.segment == ViewerScript.segment(1) })
    }
}
