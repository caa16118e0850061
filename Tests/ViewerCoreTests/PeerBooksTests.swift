import CoreModel
import Cryptography
import Integrity
import Scheduling
import SwarmProtocol
import Testing

@testable import ViewerCore

@Suite struct PeerBooksTests {
    private static let now = MonotonicInstant.origin.advanced(by: .seconds(100))
    private static let root = Digest(Bytes32(words: (1, 2, 3, 4)))
    private static let suite = SystemCryptoSuite()
    private let segments = [SegmentID(track: 0, index: 3), SegmentID(track: 1, index: 5)]

    private static func peer(_ number: UInt64) -> PeerID {
        PeerID(suite.agreementKey(seed: Bytes32(words: (number, 1, 1, 1))).publicKey)
    }

    private static func joined(_ numbers: ClosedRange<UInt64>) -> PeerBooks {
        var books = PeerBooks()
        for number in numbers { _ = books.join(peer(number), uploads: true) }
        return books
    }

    private func have(_ change: HaveEntry.Change) -> LinkEvent { .have([HaveEntry(root: Self.root, change: change)]) }

    @Test func peersAreNumberedInTheirOrderAndNeverTwiceAlike() {
        var books = PeerBooks()
        let peers = (1...2).map { Self.peer($0) }
        let first = books.join(peers[0], uploads: true)
        #expect(first == .peerJoined(PeerKey(rawValue: 0), member: peers[0].memberID, uploads: true))
        #expect(
            books.join(peers[1], uploads: false)
                == .peerJoined(PeerKey(rawValue: 1), member: peers[1].memberID, uploads: false))
        #expect(books.leave(peers[0]) == .peerLeft(PeerKey(rawValue: 0)))
        #expect(books.leave(peers[0]) == nil)
        _ = books.join(peers[0], uploads: true)
        #expect(books.peerIDs == [peers[1], peers[0]])
        #expect(books.peerID(of: PeerKey(rawValue: 2)) == peers[0] && books.peerID(of: PeerKey(rawValue: 0)) == nil)
    }

    @Test func whatPeersWhoUploadHoldTogetherIsAShare() {
        var books = Self.joined(1...2)
        _ = books.join(Self.peer(3), uploads: false)
        #expect(books.heldShare(of: Self.root, chunkCount: 10) == 0)
        _ = books.take(have(.add(verified: [0..<3], expected: [3..<5])), from: Self.peer(1), now: Self.now)
        _ = books.take(have(.add(verified: [4..<6], expected: [])), from: Self.peer(2), now: Self.now)
        _ = books.take(have(.complete), from: Self.peer(3), now: Self.now)
        #expect(abs(books.heldShare(of: Self.root, chunkCount: 10) - 0.6) < 1e-12)
        _ = books.leave(Self.peer(1))
        #expect(abs(books.heldShare(of: Self.root, chunkCount: 10) - 0.2) < 1e-12)
    }

    @Test func aSegmentInAnotherRenditionIsToldOfItsOldBytesNoMore() {
        var books = Self.joined(1...1)
        for segment in segments { _ = books.adopt(segment, root: Self.root, chunkCount: 10) }
        books.disown(segments[0], root: Self.root)
        #expect(books.segments(of: Self.root) == [segments[1]])
        #expect(
            books.take(have(.complete), from: Self.peer(1), now: Self.now)
                == [.peerHolds(PeerKey(rawValue: 0), segments[1], Holding(verified: ChunkSet(0..<10)))])
        books.disown(segments[1], root: Self.root)
        // What a peer holds is kept for when it is wanted again; what nobody holds is not.
        #expect(books.rootCount == 1)
        _ = books.leave(Self.peer(1))
        #expect(books.rootCount == 0)
    }

    @Test func holdingsAreToldForEverySegmentOfTheRoot() {
        var books = Self.joined(1...1)
        let key = PeerKey(rawValue: 0)
        // Said before the record has come: told with it.
        #expect(books.take(have(.add(verified: [0..<3], expected: [3..<8])), from: Self.peer(1), now: Self.now) == [])
        let early = Holding(verified: ChunkSet(0..<3), expected: ChunkSet(3..<8))
        for segment in segments {
            #expect(books.adopt(segment, root: Self.root, chunkCount: 10) == [.peerHolds(key, segment, early)])
        }
        func inputs(_ change: HaveEntry.Change) -> [SchedulerInput] {
            books.take(have(change), from: Self.peer(1), now: Self.now)
        }
        func told(_ holding: Holding) -> [SchedulerInput] { segments.map { .peerHolds(key, $0, holding) } }
        #expect(
            inputs(.add(verified: [3..<5], expected: []))
                == told(Holding(verified: ChunkSet(0..<5), expected: ChunkSet(5..<8))))
        #expect(inputs(.replace(verified: [1..<2], expected: [])) == told(Holding(verified: ChunkSet(1..<2))))
        #expect(inputs(.complete) == told(Holding(verified: ChunkSet(0..<10))))
        #expect(inputs(.lost) == told(Holding()))
        #expect(books.take(have(.complete), from: Self.peer(9), now: Self.now) == [])
    }

    @Test func aRequestThatRanOutIsNotOpenAnyMore() {
        var books = Self.joined(1...2)
        let id = RequestID(rawValue: 7)
        books.open(id, at: Self.peer(1), chunkCount: 9)
        #expect(books.isOpen(id))
        let inputs = books.take(
            .requestTimedOut(ChunkRequestID(rawValue: 7), root: Self.root, chunks: [2..<3, 5..<9]),
            from: Self.peer(1), now: Self.now)
        #expect(
            inputs
                == [2..<3, 5..<9].map {
                    .rejected(id, chunks: $0, refusal: .late, retryAfter: .milliseconds(500))
                })
        #expect(!books.isOpen(id) && books.close(id) == nil)
        // Nor is one whose peer has gone, or that was taken back.
        books.open(id, at: Self.peer(1), chunkCount: 9)
        books.open(RequestID(rawValue: 8), at: Self.peer(2), chunkCount: 9)
        _ = books.leave(Self.peer(1))
        #expect(!books.isOpen(id) && books.isOpen(RequestID(rawValue: 8)))
        #expect(books.close(RequestID(rawValue: 8)) == Self.peer(2))
        #expect(!books.isOpen(RequestID(rawValue: 8)))
    }

    @Test func aRequestIsOpenUntilEachOfItsChunksHasEnded() {
        var books = Self.joined(1...1)
        let id = RequestID(rawValue: 7)
        books.open(id, at: Self.peer(1), chunkCount: 4)
        books.tookChunk(of: id)
        _ = books.take(
            .rejected(ChunkRequestID(rawValue: 7), root: Self.root, chunks: 2..<4, .busy, retryAfter: .zero),
            from: Self.peer(1), now: Self.now)
        #expect(books.isOpen(id))
        books.tookChunk(of: id)
        #expect(!books.isOpen(id) && books.close(id) == nil)
        // One that nobody asked for changes nothing.
        books.tookChunk(of: RequestID(rawValue: 9))
    }

    @Test func whatPeersHoldIsToldAgainWhenASegmentIsDropped() {
        var books = Self.joined(1...3)
        _ = books.adopt(segments[0], root: Self.root, chunkCount: 10)
        _ = books.take(have(.complete), from: Self.peer(2), now: Self.now)
        _ = books.take(have(.replace(verified: [4..<6], expected: [])), from: Self.peer(3), now: Self.now)
        #expect(
            books.holdings(of: segments[0], root: Self.root) == [
                .peerHolds(PeerKey(rawValue: 1), segments[0], Holding(verified: ChunkSet(0..<10))),
                .peerHolds(PeerKey(rawValue: 2), segments[0], Holding(verified: ChunkSet(4..<6))),
            ])
        #expect(books.holdings(of: segments[1], root: .zero) == [])
    }

    /// Hours of peers that keep a few segments each, and one that never lets go of any.
    @Test func rootsThatNobodyHoldsAreForgotten() {
        func root(_ number: Int) -> Digest { Digest(Bytes32(words: (UInt64(number), 0, 0, 0))) }
        func tell(_ number: Int, _ change: HaveEntry.Change, _ books: inout PeerBooks, by peer: UInt64) {
            _ = books.take(.have([HaveEntry(root: root(number), change: change)]), from: Self.peer(peer), now: Self.now)
        }
        var books = Self.joined(1...2)
        let early = HoldingTable.limit / 2
        for number in 0..<2 * HoldingTable.limit {
            tell(number, .add(verified: [0..<2], expected: []), &books, by: 1)
            tell(number, .complete, &books, by: 1)
            if number >= 3 { tell(number - 3, .lost, &books, by: 1) }
            tell(number, .complete, &books, by: 2)
        }
        // The second peer's oldest are gone, and with them the roots.
        #expect(books.rootCount == HoldingTable.limit)
        #expect(books.adopt(segments[0], root: root(early), chunkCount: 3).isEmpty)
        let last = 2 * HoldingTable.limit - 1
        #expect(books.adopt(segments[1], root: root(last), chunkCount: 3).count == 2)
        _ = books.leave(Self.peer(2))
        // The first peer's last three, and the two with a record.
        #expect(books.rootCount == 4)
    }

    @Test(arguments: [
        (RejectReason.absent, Refusal.absent), (.late, .late), (.cancelled, .late), (.busy, .busy), (.choked, .busy),
        (.capped, .busy),
    ])
    func refusalsKeepTheirMeaning(reason: RejectReason, refusal: Refusal) {
        var books = Self.joined(1...1)
        let inputs = books.take(
            .rejected(ChunkRequestID(rawValue: 7), root: Self.root, chunks: 2..<3, reason, retryAfter: .seconds(3)),
            from: Self.peer(1), now: Self.now)
        #expect(
            inputs
                == [
                    .rejected(RequestID(rawValue: 7), chunks: 2..<3, refusal: refusal, retryAfter: .seconds(3))
                ])
    }

    @Test func aChokeLastsAsLongAsItSays() {
        var books = Self.joined(1...1)
        let key = PeerKey(rawValue: 0)
        #expect(
            books.take(.choked(retryAfter: .seconds(3)), from: Self.peer(1), now: Self.now)
                == [.peerChoked(key, until: Self.now.advanced(by: .seconds(3)))])
        #expect(books.take(.unchoked, from: Self.peer(1), now: Self.now) == [.peerChoked(key, until: nil)])
    }

    @Test func aClaimCountsFromItsTimeOn() {
        var books = Self.joined(1...3)
        _ = books.adopt(segments[0], root: Self.root, chunkCount: 64)
        let key = RoleKey(role: .claim, key: Self.suite.signingKey(seed: .zero), suite: Self.suite)
        let membership = RoleKey(role: .membership, key: Self.suite.signingKey(seed: .zero), suite: Self.suite)
        let certificate = MembershipCertificate(
            peer: Self.peer(1), claimKey: key.verificationKey, swarm: SwarmID([UInt8](repeating: 3, count: 20))!,
            observedHost: Bytes16(high: 0, low: 1), pseudonym: Bytes16(high: 0, low: 2),
            nonce: Bytes16(high: 5, low: 6),
            notBefore: UnixTime(seconds: 0), expires: UnixTime(seconds: 10), signedBy: membership)
        let draw = ElectionTicket.draw(nonce: certificate.nonce, segment: Self.root, suite: Self.suite)
        let due = Election.wait(draw: draw, size: 100, span: .seconds(2)) / 2
        func judge(_ waited: Duration, owners: [UInt64]) -> [SchedulerInput] {
            let claim = Claim(
                root: Self.root, certificate: certificate, sequence: 1,
                waitedMilliseconds: UInt32(waited.inMilliseconds),
                assignments: owners.enumerated().map {
                    Claim.Assignment(owner: Self.peer($0.element), stripes: $0.offset..<$0.offset + 1)
                }, signedBy: key)
            return books.judge(claim, stripeCount: 8, swarmSize: 100, span: .seconds(2), suite: Self.suite)
        }
        #expect(judge(due + .milliseconds(-2), owners: [1]) == [])
        #expect(judge(due + .milliseconds(1), owners: []) == [])
        let waited = Duration.milliseconds((due + .milliseconds(1)).inMilliseconds)
        // The root's first word is 1: the first assignment is the second member's.
        #expect(
            judge(waited, owners: [2, 3])
                == [
                    .claim(
                        segments[0], claimer: Self.peer(1).memberID, draw: draw, waited: waited,
                        owners: [Self.peer(3).memberID, Self.peer(2).memberID])
                ])
    }
}
