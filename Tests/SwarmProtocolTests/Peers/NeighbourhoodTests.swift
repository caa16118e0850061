import CoreModel
import Cryptography
import Integrity
import Testing

@testable import SwarmProtocol

@Suite struct NeighbourhoodTests {
    static let root = Digest(Bytes32(words: (9, 9, 9, 9)))

    // MARK: Links

    @Test func whoIsNamedIsDialledAndBothAreReady() {
        var net = TestNeighbourhoods()
        for _ in 0..<2 { net.add() }
        net.introduce(1, to: 0)
        net.run(for: .milliseconds(39))
        #expect(net.nodes.allSatisfy { $0.ready.isEmpty })
        net.run(for: .milliseconds(161))
        // Connection, handshake and hellos: three round trips of 40 ms at most.
        #expect(net.nodes[0].ready.map(\.peer) == [net.nodes[1].peerID])
        #expect(net.nodes[1].ready.map(\.peer) == [net.nodes[0].peerID])
        #expect(net.nodes.map { $0.ready.map(\.isOutgoing) } == [[true], [false]])
        #expect(net.nodes.allSatisfy { $0.ready[0].uploads })
        #expect(net.nodes.map(\.neighbourhood.linkCount) == [1, 1])
        #expect(net.nodes[0].dials.count == 1)
    }

    @Test func anAddressWithoutANameIsDialledToo() {
        var net = TestNeighbourhoods()
        for _ in 0..<2 { net.add() }
        net.connect(0, to: net.nodes[1].address)
        net.run(for: .seconds(1))
        #expect(net.link(0, 1) != nil && net.link(1, 0) != nil)
    }

    @Test func twoThatDialEachOtherKeepTheSmallerNamesLink() {
        var net = TestNeighbourhoods()
        for _ in 0..<2 { net.add() }
        net.introduce(1, to: 0)
        net.introduce(0, to: 1)
        net.run(for: .seconds(3))
        #expect(net.nodes.map(\.neighbourhood.links.count) == [1, 1])
        let smaller = net.nodes[0].peerID < net.nodes[1].peerID ? 0 : 1
        #expect(net.nodes[smaller].neighbourhood.peers.map(\.isOutgoing) == [true])
        #expect(net.nodes[1 - smaller].neighbourhood.peers.map(\.isOutgoing) == [false])
        // Nobody is left in doubt: each that was ready and gave way was told to be gone.
        #expect(net.nodes.allSatisfy { $0.ready.count == $0.gone.count + 1 })
    }

    @Test func aDeadAddressIsTriedFiveTimesEverMoreRarely() {
        var net = TestNeighbourhoods()
        net.add()
        let nobody = PeerID(Bytes32(words: (1, 2, 3, 4)))
        let address = NetworkAddress(ipv4: 0x0C00_0001, port: 1)
        net.with(0) { $0.add(nobody, at: address, now: $1) }
        net.run(for: .seconds(600))
        let dials = net.nodes[0].dials
        #expect(dials.count == PeerDirectory.failureLimit)
        let pauses = zip(dials, dials.dropFirst()).map { $0.at.duration(to: $1.at).inSeconds - 0.04 }
        for (pause, expected) in zip(pauses, [5.0, 10, 20, 40]) {
            #expect(pause >= 0.749 * expected && pause <= 1.251 * expected, "\(pauses)")
        }
        #expect(net.nodes[0].neighbourhood.directory.count == 0)
    }

    @Test func whoDoesNotAnswerIsGivenUpAfterTheHandshakesTime() {
        var net = TestNeighbourhoods()
        net.add()
        net.nodes[0].environment.latency = .seconds(100)
        let nobody = PeerID(Bytes32(words: (1, 2, 3, 4)))
        net.with(0) { $0.add(nobody, at: NetworkAddress(ipv4: 0x0C00_0001, port: 1), now: $1) }
        net.run(for: .milliseconds(4999))
        #expect(net.nodes[0].neighbourhood.links.count == 1)
        net.run(for: .milliseconds(1))
        #expect(net.nodes[0].neighbourhood.links.isEmpty)
    }

    @Test func aPrefixHasItsShareOfLinks() {
        var net = TestNeighbourhoods()
        net.add { $0.maximumLinkCountPerPrefix = 4 }
        // Six in one /24, two elsewhere.
        for number in 0..<6 { net.add(at: NetworkAddress(ipv4: 0x0D00_0001 + UInt32(number), port: 4000)) }
        for _ in 0..<2 { net.add() }
        for node in 1...8 { net.introduce(0, to: node) }
        net.run(for: .seconds(2))
        #expect((1...6).count { net.link(0, $0) != nil } == 4)
        #expect((7...8).allSatisfy { net.link(0, $0) != nil })
        // Nor does it dial more of them.
        for node in 1...6 { net.introduce(node, to: 0) }
        net.run(for: .seconds(2))
        #expect((1...6).count { net.link(0, $0) != nil } == 4)
    }

    @Test func aFullTableSaysSo() {
        var net = TestNeighbourhoods()
        net.add { $0.maximumLinkCount = 2 }
        for _ in 0..<4 { net.add() }
        for node in 1...4 {
            net.introduce(0, to: node)
            net.run(for: .seconds(1))
        }
        #expect(net.nodes[0].neighbourhood.linkCount == 2)
        #expect(net.nodes[3].ready.isEmpty && net.nodes[4].ready.isEmpty)
    }

    @Test func certificatesThatDoNotHoldAreRefused() {
        var net = TestNeighbourhoods()
        net.add()
        net.add(expires: TestNeighbourhoods.time + .seconds(-3600))
        net.introduce(0, to: 1)
        net.run(for: .seconds(1))
        #expect(net.nodes[0].neighbourhood.refusedCertificateCount == 1)
        #expect(net.nodes.allSatisfy { $0.ready.isEmpty })
        // While no tracker answers, one that has run out is good enough.
        net.nodes[0].neighbourhood.isTrackerAnswering = false
        net.introduce(0, to: 1)
        net.run(for: .seconds(20))
        #expect(net.link(0, 1) != nil)
    }

    @Test func whoIsBannedIsGoneAndDoesNotComeBack() {
        var net = TestNeighbourhoods()
        for _ in 0..<2 { net.add() }
        net.connect([(0, 1)])
        let banned = net.nodes[1].peerID
        net.with(0) { neighbourhood, _ in neighbourhood.ban(banned) }
        net.run(for: .seconds(1))
        #expect(net.nodes[0].gone.map(\.end) == [.link(.local(.badData))])
        #expect(net.nodes[1].gone.map(\.end) == [.link(.remote(.badData))])
        net.introduce(1, to: 0)
        net.introduce(0, to: 1)
        net.run(for: .seconds(100))
        #expect(net.nodes.allSatisfy { $0.neighbourhood.linkCount == 0 && $0.ready.count == 1 })
        #expect(net.nodes[0].neighbourhood.bans.count == 1)
        #expect(net.nodes[0].dials.count == 1)
    }

    @Test func whoLeavesEndsEveryLink() {
        var net = TestNeighbourhoods()
        for _ in 0..<3 { net.add() }
        net.connect([(0, 1), (0, 2)])
        net.with(0) { neighbourhood, _ in neighbourhood.leave() }
        net.run(for: .seconds(1))
        #expect(net.nodes[0].neighbourhood.links.isEmpty)
        for node in 1...2 { #expect(net.nodes[node].gone.map(\.end) == [.link(.remote(.leaving))]) }
        #expect(net.nodes[0].deadline == nil)
    }

    @Test func aSlotIsUsedAgainAndItsOldNameIsNot() throws {
        var net = TestNeighbourhoods()
        for _ in 0..<3 { net.add() }
        net.connect([(0, 1)])
        let old = try #require(net.link(0, 1))
        net.with(0) { neighbourhood, _ in neighbourhood.drop(old) }
        net.run(for: .seconds(1))
        net.connect([(0, 2)])
        let new = try #require(net.link(0, 2))
        #expect(new.slot == old.slot && new != old)
        #expect(!net.nodes[0].neighbourhood.canRequest(chunkCount: 1, from: old))
        net.with(0) { neighbourhood, now in neighbourhood.lost(old, code: 0, now: now) }
        #expect(net.link(0, 2) == new)
    }

    @Test func brokenConnectionsAreDialledAgain() {
        var net = TestNeighbourhoods()
        for _ in 0..<2 { net.add() }
        net.connect([(0, 1)])
        let ends = (0..<2).compactMap { net.link($0, 1 - $0) }
        for node in 0..<2 {
            net.nodes[node].environment.ends = [:]
            net.with(node) { $0.lost(ends[node], code: -104, now: $1) }
        }
        #expect(net.nodes.map { $0.gone.map(\.end) } == [[.connection(code: -104)], [.connection(code: -104)]])
        net.run(for: .seconds(8))
        #expect(net.link(0, 1) != nil)
    }

    // MARK: Gossip

    @Test func peersArePassedOn() {
        var net = TestNeighbourhoods()
        for _ in 0..<4 { net.add { $0.firstExchangeDelay = .seconds(5) } }
        net.connect([(1, 0), (2, 0), (3, 0)])
        #expect(net.link(1, 2) == nil)
        net.run(for: .seconds(10))
        for (one, other) in [(1, 2), (1, 3), (2, 3)] { #expect(net.link(one, other) != nil) }
    }

    @Test func noPeerSendsOthersKnockingElsewhere() {
        var net = TestNeighbourhoods()
        for _ in 0..<2 { net.add { $0.maximumOutgoingLinkCount = 1 } }
        net.connect([(1, 0)])
        let keys = (0..<3).map { TestNeighbourhoods.suite.agreementKey(seed: Bytes32(words: (UInt64($0), 6, 6, 6))) }
        let seen = NetworkAddress(ipv4: 0x0E00_0001, port: 22)
        let entries = zip(keys, [NetworkAddress(ipv4: 0xCB00_7109, port: 22), seen, seen]).map { key, address in
            PeerEntry(
                address: address,
                certificate: net.certificate(for: key, claimKey: net.nodes[0].claimKey, number: 50, at: seen)
                    .encoded[...])
        }
        let known = NetworkAddress(ipv4: 0x0E00_0001, port: 4000)
        net.with(1) { $0.add(PeerID(keys[1].publicKey), at: known, now: $1) }
        if let link = net.link(0, 1) {
            net.with(0) { neighbourhood, _ in neighbourhood.send(.peers(entries), to: link) }
        }
        net.run(for: .seconds(1))
        let all = net.nodes[1].neighbourhood.directory.all
        #expect(!all.contains { $0.peer == PeerID(keys[0].publicKey) })
        #expect(all.first { $0.peer == PeerID(keys[1].publicKey) }?.address == known)
        #expect(all.first { $0.peer == PeerID(keys[2].publicKey) }?.address == seen)
    }

    @Test func aClaimReachesEverybodyOnce() {
        var net = TestNeighbourhoods()
        for _ in 0..<4 { net.add() }
        net.connect([(0, 1), (1, 2), (2, 3), (0, 2)])
        net.broadcast(sequence: 1, of: 0)
        // A forged one goes nowhere.
        net.broadcast(sequence: 2, of: 0, signedBy: 1, from: 1)
        net.run(for: .seconds(1))
        #expect(net.nodes.map(\.claims.count) == [0, 1, 1, 1])
    }

    @Test func aClaimThatIsNotJudgedGoesNoFurther() {
        var net = TestNeighbourhoods()
        for _ in 0..<3 { net.add() }
        net.connect([(0, 1), (1, 2)])
        net.nodes[1].passesClaimsOn = false
        net.broadcast(sequence: 1, of: 0)
        net.run(for: .seconds(1))
        #expect(net.nodes.map(\.claims.count) == [0, 1, 0])
        // Nor does the word come too late to mean another one.
        net.with(1) { $0.passOn(now: $1) }
        net.run(for: .seconds(1))
        #expect(net.nodes[2].claims.isEmpty)
    }

    @Test func claimsOfOneMakerAreRelayedAtItsRate() {
        var net = TestNeighbourhoods()
        for _ in 0..<3 { net.add() }
        net.connect([(0, 1), (1, 2)])
        for number in 1...60 { net.broadcast(sequence: UInt64(number), of: 0) }
        net.run(for: .seconds(1))
        #expect(net.nodes[1].claims.count == 60)
        // A burst of eight, and two more each second: none within the milliseconds that the burst took.
        #expect(net.nodes[2].claims.count == 8)
        net.run(for: .seconds(1))
        for number in 61...80 { net.broadcast(sequence: UInt64(number), of: 0) }
        net.run(for: .seconds(1))
        #expect(net.nodes[2].claims.count == 12)
        #expect(net.nodes.allSatisfy { $0.gone.isEmpty })
    }

    @Test func claimsOfManyMakersAreRelayedAtTheLinksRate() {
        var net = TestNeighbourhoods()
        for number in 0..<3 {
            net.add {
                guard number == 1 else { return }
                $0.relayBurst = 12
                $0.relayRate = 0
            }
        }
        net.connect([(0, 1), (1, 2)])
        for number in 1...60 { net.broadcast(sequence: 1, of: 0, claimer: UInt64(number)) }
        net.run(for: .seconds(1))
        #expect(net.nodes[1].claims.count == 60)
        #expect(net.nodes[2].claims.count == 12)
    }

    @Test func holdingsAreAnnouncedTwiceASecondAtMost() {
        var net = TestNeighbourhoods()
        for _ in 0..<2 { net.add() }
        net.connect([(0, 1)])
        for chunk in 0..<100 {
            net.insert(Self.root, chunks: 0..<chunk + 1, to: 0)
            net.run(for: .milliseconds(100))
        }
        let haves = net.nodes[1].events.count { if case .have = $0.event { true } else { false } }
        #expect(haves >= 18 && haves <= 21, "\(haves) frames in 10 s")
    }

    @Test func newsGoesAlongWithWhatAPeerAsksForAndIsSent() {
        // With 20 links each has its turn after 1.3 s; the one with traffic hears of every change within a tenth of that.
        var net = TestNeighbourhoods()
        for _ in 0..<21 { net.add() }
        net.connect((1...20).map { (0, $0) })
        net.insert(Self.root, chunks: 0..<40, to: 0)
        net.run(for: .seconds(3))
        let other = Digest(Bytes32(words: (8, 8, 8, 8)))
        for round in 0..<40 {
            net.request(Self.root, chunks: round..<round + 1, from: 0, by: 1, number: UInt32(100 + round))
            net.run(for: .milliseconds(50))
            net.insert(other, chunks: 0..<round + 1, to: 0)
            net.run(for: .milliseconds(50))
        }
        func haves(_ node: Int) -> Int {
            net.nodes[node].events.count { if case .have = $0.event { true } else { false } }
        }
        #expect(haves(1) >= 30, "\(haves(1)) frames for 40 changes")
        #expect((2...20).allSatisfy { haves($0) < 10 })
        #expect(net.nodes[0].neighbourhood.statistics.sentControlCount < 21 * 4 + 15 * 8, "at 15 a second and no more")
    }

    @Test func aLossIsToldToWhoLosesSomethingMeanwhile() throws {
        var net = TestNeighbourhoods()
        for _ in 0..<2 { net.add() }
        net.connect([(0, 1)])
        let link = try #require(net.link(1, 0))
        let other = Digest(Bytes32(words: (8, 8, 8, 8)))
        net.insert(Self.root, chunks: 0..<4, to: 0)
        net.with(1) { neighbourhood, _ in
            neighbourhood.send(.have([HaveEntry(root: other, change: .complete)]), to: link)
        }
        net.run(for: .seconds(2))
        // The first of two changes goes out at once, the second has to wait.
        net.insert(other, chunks: 0..<1, to: 0)
        net.insert(Digest(Bytes32(words: (7, 7, 7, 7))), chunks: 0..<1, to: 0)
        net.run(for: .milliseconds(100))
        net.with(0) { neighbourhood, _ in neighbourhood.holdingsLost(root: Self.root) }
        net.with(1) { neighbourhood, _ in neighbourhood.send(.have([HaveEntry(root: other, change: .lost)]), to: link) }
        net.run(for: .seconds(2))
        let losses = net.nodes[1].events.flatMap { entry -> [HaveEntry] in
            if case .have(let entries) = entry.event { entries.filter { $0.change == .lost } } else { [] }
        }
        #expect(losses.map(\.root) == [Self.root])
    }

    // MARK: Uploads

    @Test func linksTakeTurnsUnderACapOnTheRate() {
        var net = TestNeighbourhoods()
        // 2 Mbps.
        net.add { $0.uploadCaps.bytesPerSecond = 250_000 }
        for _ in 0..<3 { net.add() }
        net.connect([(1, 0), (2, 0), (3, 0)])
        net.insert(Self.root, chunks: 0..<64, to: 0)
        let start = net.now
        for node in 1...3 { net.request(Self.root, chunks: 0..<64, from: 0, by: node) }
        net.run(for: .seconds(5))
        let spent = net.nodes[0].neighbourhood.statistics.sentByteCount
        let span = start.duration(to: net.now).inSeconds
        #expect(Double(spent) <= 250_000 * (span + 0.05) + 2 * 16_500 + 3000, "\(spent) in \(span) s")
        #expect(Double(spent) >= 250_000 * span * 0.97, "\(spent) in \(span) s")
        let counts = (1...3).map { net.nodes[$0].chunks }
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1, "\(counts)")
        // One after the other.
        let uploads = net.nodes[0].uploads
        #expect(zip(uploads, uploads.dropFirst()).allSatisfy { $0.link != $1.link })
        net.run(for: .seconds(15))
        #expect((1...3).allSatisfy { net.nodes[$0].chunks == 64 })
    }

    @Test func aFullLineIsNotAskedAgainAndAgain() {
        var net = TestNeighbourhoods()
        // The cap is far above the line.
        net.add(uplink: 250_000) { $0.uploadCaps.bytesPerSecond = 10_000_000 }
        net.add()
        net.connect([(1, 0)])
        net.insert(Self.root, chunks: 0..<64, to: 0)
        net.request(Self.root, chunks: 0..<64, from: 0, by: 1)
        var steps = 0
        while net.nodes[1].chunks < 64, steps < 100_000 {
            guard let deadline = net.nodes[0].deadline else { break }
            net.run(for: max(.microseconds(1), min(.milliseconds(500), net.now.duration(to: deadline))))
            steps += 1
        }
        #expect(net.nodes[1].chunks == 64)
        // A frame takes 66 ms of the line; a round every 200 µs would be 20,000.
        #expect(steps < 1500, "\(steps)")
    }

    @Test(arguments: [nil, 1_000_000.0])
    func whoDoesNotReadKeepsNobodyFromUploads(_ rate: Double?) throws {
        var net = TestNeighbourhoods()
        net.add(uplink: 1_000_000) { $0.uploadCaps.bytesPerSecond = rate }
        for _ in 1...7 { net.add() }
        net.connect((1...7).map { ($0, 0) })
        net.insert(Self.root, chunks: 0..<64, to: 0)
        for node in 1...5 {
            net.nodes[0].environment.unreading.insert(try #require(net.link(0, node)).slot)
            net.request(Self.root, chunks: 0..<64, from: 0, by: node)
        }
        // They ask later, and so come after those.
        net.run(for: .milliseconds(100))
        for node in 6...7 { net.request(Self.root, chunks: 0..<64, from: 0, by: node) }
        net.run(for: .seconds(10))
        #expect(net.nodes[6].chunks == 64 && net.nodes[7].chunks == 64)
        // Who reads again is served again.
        net.nodes[0].environment.unreading = []
        for node in 1...5 {
            let link = try #require(net.link(0, node))
            net.with(0) { neighbourhood, _ in neighbourhood.drained(link) }
        }
        net.request(Self.root, chunks: 0..<64, from: 0, by: 1, number: 10)
        net.run(for: .seconds(10))
        #expect(net.nodes[1].chunks >= 64)
    }

    @Test(arguments: [nil, 1_000_000.0])
    func whoWaitsForADiskKeepsNobodyFromUploads(_ rate: Double?) {
        var net = TestNeighbourhoods()
        net.add(uplink: 1_000_000) { $0.uploadCaps.bytesPerSecond = rate }
        for _ in 1...7 { net.add() }
        net.connect((1...7).map { ($0, 0) })
        net.insert(Self.root, chunks: 0..<64, to: 0)
        let stored = Digest(Bytes32(words: (8, 8, 8, 8)))
        net.insert(stored, chunks: 0..<64, to: 0)
        net.nodes[0].environment.source.stored[stored] = Set(0..<64)
        for node in 1...5 { net.request(stored, chunks: 0..<64, from: 0, by: node) }
        // They ask later, and so come after those. The disk hangs.
        net.run(for: .milliseconds(100))
        for node in 6...7 { net.request(Self.root, chunks: 0..<64, from: 0, by: node) }
        net.run(for: .seconds(5))
        #expect(net.nodes[6].chunks == 64 && net.nodes[7].chunks == 64)
        #expect(net.nodes[0].environment.source.broughtBack == Array(repeating: 0..<8, count: 5))
    }

    @Test func whatComesAfterItsPatienceIsRejectedAtOnce() {
        var net = TestNeighbourhoods()
        net.add(uplink: 20_000)
        for _ in 1...5 { net.add() }
        net.nodes[0].uplink = nil
        net.connect((1...5).map { ($0, 0) })
        net.nodes[0].uplink = 20_000
        let late = Digest(Bytes32(words: (8, 8, 8, 8)))
        net.insert(Self.root, chunks: 0..<64, to: 0)
        net.nodes[0].environment.source.expected[late] = [0]
        for node in 1...4 { net.request(Self.root, chunks: 0..<8, from: 0, by: node) }
        net.run(for: .milliseconds(200))
        net.request(late, chunks: 0..<1, from: 0, by: 5)
        net.run(for: .milliseconds(2600))
        #expect(net.nodes[5].rejects.isEmpty)
        // The emulation takes no deadline that has passed.
        net.insert(late, chunks: 0..<1, to: 0)
        net.run(for: .seconds(10))
        #expect(net.nodes[5].chunks == 1 || net.nodes[5].rejects == [.busy])
    }

    @Test func aControlFramePassesTheData() throws {
        var net = TestNeighbourhoods()
        net.add(uplink: 250_000)
        net.add()
        net.connect([(1, 0)])
        net.insert(Self.root, chunks: 0..<128, to: 0)
        net.request(Self.root, chunks: 0..<128, from: 0, by: 1)
        net.run(for: .seconds(3))
        let link = try #require(net.link(1, 0))
        for _ in 0..<5 {
            net.with(1) { $0.probe(link, now: $1) }
            net.run(for: .seconds(1))
        }
        let roundTrips = net.nodes[1].events.compactMap { entry -> Duration? in
            if case .roundTrip(let span) = entry.event { span } else { nil }
        }
        #expect(roundTrips.count == 5)
        // The 128 chunks take eight seconds; the pong waits for no more than what the pacer lets into the line's queue.
        #expect(roundTrips.allSatisfy { $0 < .milliseconds(400) }, "\(roundTrips)")
    }

    @Test func theShareOfDownloadChokesAndDownloadsUnchoke() {
        var net = TestNeighbourhoods()
        net.add { $0.uploadCaps.shareOfDownload = 2 }
        net.add()
        net.connect([(1, 0)])
        net.with(0) { $0.noteDownload(byteCount: 500_000, now: $1) }
        net.insert(Self.root, chunks: 0..<128, to: 0)
        net.request(Self.root, chunks: 0..<128, from: 0, by: 1)
        net.run(for: .seconds(5))
        #expect(net.nodes[1].rejects.contains(.capped))
        let sent = net.nodes[0].neighbourhood.statistics.sentByteCount
        #expect(sent > 980_000 && sent < 1_050_000, "\(sent)")
        let chokes = net.nodes[1].events.count { if case .choked = $0.event { true } else { false } }
        #expect(chokes == 1)
        let before = net.nodes[1].chunks
        net.request(Self.root, chunks: before..<128, from: 0, by: 1, number: 10)
        net.run(for: .seconds(1))
        #expect(net.nodes[1].chunks == before)
        net.with(0) { $0.noteDownload(byteCount: 3_000_000, now: $1) }
        net.run(for: .seconds(1))
        let unchokes = net.nodes[1].events.count { if case .unchoked = $0.event { true } else { false } }
        #expect(unchokes == 1)
        net.request(Self.root, chunks: before..<128, from: 0, by: 1, number: 20)
        net.run(for: .seconds(5))
        #expect(net.nodes[1].chunks == 128)
    }

    @Test func aMeteredLinkUploadsNothing() {
        var net = TestNeighbourhoods()
        net.add { $0.uploadCaps.isMetered = true }
        net.add()
        net.connect([(1, 0)])
        net.insert(Self.root, chunks: 0..<8, to: 0)
        net.request(Self.root, chunks: 0..<8, from: 0, by: 1)
        net.run(for: .seconds(2))
        #expect(net.nodes[1].chunks == 0)
        #expect(net.nodes[1].rejects == [.capped])
    }

    @Test func theDownlinkLimitHoldsReadingBack() {
        var net = TestNeighbourhoods()
        net.add()
        net.add { $0.downloadBytesPerSecond = 1_000_000 }
        net.connect([(1, 0)])
        net.insert(Self.root, chunks: 0..<128, to: 0)
        net.request(Self.root, chunks: 0..<128, from: 0, by: 1)
        var whole: Duration?
        for step in 1...40 where whole == nil {
            net.run(for: .milliseconds(100))
            if net.nodes[1].chunks == 128 { whole = .milliseconds(100 * step) }
        }
        // 2.1 MB at 1 MB/s, a tenth of a second of it at once.
        #expect(
            whole.map { $0 >= .milliseconds(1900) && $0 <= .milliseconds(2600) } == true, "\(String(describing: whole))"
        )
        #expect(net.nodes[1].pauses > 5 && net.nodes[1].pauses == net.nodes[1].resumptions)
    }

    @Test func aPeerThatDoesNotReadIsDropped() {
        var net = TestNeighbourhoods()
        net.add(uplink: 1000) { $0.maximumQueuedByteCount = 50_000 }
        net.add()
        net.nodes[0].uplink = nil
        net.connect([(1, 0)])
        net.nodes[0].uplink = 100
        guard let link = net.link(0, 1) else { return }
        for number in 0..<30 {
            let record = Frame.record(RecordRequestID(rawValue: UInt32(number)), ArraySlice(repeating: 0, count: 4000))
            net.with(0) { neighbourhood, _ in neighbourhood.send(record, to: link) }
        }
        #expect(net.nodes[0].gone.map(\.end) == [.link(.local(.silent))])
    }

    // MARK: Scale

    @Test func equalSeedsGiveEqualTranscripts() {
        let transcripts = (0..<2).map { _ in
            var net = TestNeighbourhoods()
            for _ in 0..<12 { net.add(uplink: 500_000) { $0.firstExchangeDelay = .seconds(2) } }
            for node in 1..<12 { net.introduce(node / 2, to: node) }
            net.run(for: .seconds(10))
            net.insert(Self.root, chunks: 0..<32, to: 0)
            for node in 1..<12 where net.link(node, 0) != nil {
                net.request(Self.root, chunks: 0..<32, from: 0, by: node)
            }
            net.run(for: .seconds(20))
            return net.transcript
        }
        #expect(transcripts[0] == transcripts[1] && transcripts[0] != 0)
    }

    @Test func aLinkIsSmall() {
        // Its certificate is shared by those who know it, and its pacer comes with the first upload.
        #expect(MemoryLayout<Neighbour>.stride <= 600, "\(MemoryLayout<Neighbour>.stride)")
        #expect(MemoryLayout<Neighbourhood>.size <= 1152, "\(MemoryLayout<Neighbourhood>.size)")
    }
}

extension TestNeighbourhoods {
    /// Has a viewer send a claim in the name of `maker`, or of a maker that nobody has a link to.
    mutating func broadcast(
        sequence: UInt64, of maker: Int, claimer: UInt64? = nil, signedBy signer: Int? = nil, from node: Int? = nil
    ) {
        var certificate = nodes[maker].certificate
        if let claimer {
            certificate = self.certificate(
                for: Self.suite.agreementKey(seed: Bytes32(words: (claimer, 5, 5, 5))),
                claimKey: nodes[maker].claimKey, number: 100 + claimer, at: nodes[maker].address)
        }
        let claim = Claim(
            root: NeighbourhoodTests.root, certificate: certificate, sequence: sequence, waitedMilliseconds: 10,
            signedBy: nodes[signer ?? maker].claimKey)
        with(node ?? maker) { neighbourhood, _ in neighbourhood.broadcast(claim) }
    }
}
