import CoreModel
import Testing
import TrackerCore
import TrackerProtocol

private func host(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32) -> UInt32 { a << 24 | b << 16 | c << 8 | d }

/// Who is told of whom.
struct MatchingTests {
    @Test func `Those close in play position come first, then those close in the network`() {
        var script = Script { $0.peersPerAnswer = 5 }
        script.join(Viewer(1, at: host(203, 0, 113, 9), position: 600_000))
        script.join(Viewer(2, at: host(198, 51, 100, 1), position: 61_000))
        script.join(Viewer(3, at: host(192, 0, 2, 77), position: 62_000))
        script.join(Viewer(4, at: host(192, 0, 2, 5), position: 63_000))
        script.join(Viewer(5, at: host(192, 0, 2, 5), position: 70_000))
        let answer = script.join(Viewer(6, at: host(192, 0, 2, 5), position: 60_000))
        #expect(answer.names.map { $0.publicKey.words.0 } == [4, 3, 2, 5, 1])
        #expect(
            answer.peers?.first
                == PeerCandidate(
                    peer: Viewer(4).peer, address: NetworkAddress(ipv4: host(192, 0, 2, 5), port: 4004),
                    positionMilliseconds: 63_000))
    }

    @Test func `Positions move on with those who play`() {
        var script = Script()
        script.join(Viewer(1, position: 10_000))
        script.report(1, position: 12_000, isPlaying: true)
        script.join(Viewer(2, position: 10_000))
        script.report(2, position: 20_000, isPlaying: false)
        script.pass(5)
        let peers = script.join(Viewer(3, position: 17_000)).peers ?? []
        #expect(
            Dictionary(uniqueKeysWithValues: peers.map { ($0.peer, $0.positionMilliseconds) })
                == [Viewer(1).peer: 17_000, Viewer(2).peer: 20_000])
    }

    @Test func `Private and loopback addresses never leave their group`() {
        let hosts = [
            host(127, 0, 0, 1), host(127, 0, 0, 2), host(10, 0, 0, 1), host(192, 168, 1, 4), host(203, 0, 113, 1),
            host(198, 51, 100, 7),
        ]
        var script = Script()
        for (index, host) in hosts.enumerated() { script.join(Viewer(UInt8(index + 1), at: host)) }
        func told(_ number: UInt8) -> Set<UInt64> {
            script.send(.wantPeers(count: 30), on: UInt64(number))
            return Set(script.take(UInt64(number)).names.map(\.publicKey.words.0))
        }
        #expect(told(1) == [2] && told(2) == [1])
        #expect(told(3) == [4] && told(4) == [3])
        #expect(told(5) == [6] && told(6) == [5])
    }

    @Test func `Nobody is sent to a viewer that never uploads or accepts no links, but they are told of others`() {
        var script = Script()
        script.join(Viewer(1, flags: [.leechOnly]))
        script.join(Viewer(2, flags: [.metered]))
        var closed = Viewer(3)
        closed.port = 0
        script.join(closed)
        script.join(Viewer(4))
        #expect(script.join(Viewer(5)).names == [Viewer(4).peer])
        script.send(.wantPeers(count: 10), on: 1)
        #expect(Set(script.take(1).names) == [Viewer(4).peer, Viewer(5).peer])
    }

    @Test func `A viewer without others is told of nobody`() {
        var script = Script()
        #expect(script.join(Viewer(1)).peers == nil)
        script.send(.wantPeers(count: 10), on: 1)
        #expect(script.take(1) == [.peers([])])
    }

    @Test func `Streams do not mix`() {
        var script = Script()
        script.join(Viewer(1))
        var other = Viewer(2)
        other.stream = StreamID(Bytes16(high: 8, low: 8))
        #expect(script.join(other).peers == nil)
    }

    @Test func `No answer is longer than what was asked for and what is allowed`() {
        var script = Script { $0.peersPerAnswer = 20 }
        for number in 1...40 as ClosedRange<UInt8> { script.join(Viewer(number)) }
        #expect(script.join(Viewer(50)).names.count == 20)
        for count in [0, 1, 2, 7, 255] as [UInt8] {
            script.send(.wantPeers(count: count), on: 50)
            let names = script.take(50).names
            #expect(names.count == min(20, Int(count)) && Set(names).count == names.count)
        }
    }

    @Test func `A part of an answer is drawn from everybody`() {
        var script = Script { $0.peersPerAnswer = 10 }
        for number in 1...40 as ClosedRange<UInt8> {
            script.join(Viewer(number, position: number <= 20 ? 0 : 900_000))
        }
        var far = 0
        for _ in 0..<20 {
            script.send(.wantPeers(count: 10), on: 1)
            far += script.take(1).names.count { $0.publicKey.words.0 > 20 }
        }
        #expect(far > 0 && far <= 40)
    }

    @Test func `A credential is told so many addresses an hour, also when it joins again`() {
        var script = Script {
            $0.peersPerAnswer = 10
            $0.addressesPerHour = 2
            $0.openAddressFactor = 10
        }
        for number in 1...20 as ClosedRange<UInt8> {
            script.join(Viewer(number, at: host(203, 0, 113, UInt32(number))))
        }
        let asker = Viewer(50, at: host(198, 51, 100, 1))
        #expect(script.join(asker).names.count == 10)
        script.send(.wantPeers(count: 10), on: 50)
        #expect(script.take(50).names.count == 10)
        script.send(.wantPeers(count: 10), on: 50)
        #expect(
            script.take(50) == [.error(ControlError(code: .rateLimited, retryAfterMilliseconds: 3_600_000))])
        #expect(!script.closed.contains(50))
        script.disconnect(50)
        #expect(script.join(Viewer(51, at: host(198, 51, 100, 1)), on: 51).peers == nil)
        // Viewers of other addresses have shares of their own; an hour later there is a new one.
        #expect(script.join(Viewer(52, at: host(198, 51, 100, 2)), on: 52).names.count == 10)
        script.now = script.now + .seconds(3600)
        #expect(script.join(Viewer(53, at: host(198, 51, 100, 1)), on: 53).names.count == 10)
    }

    @Test func `With open admission the addresses of one IPv6 site share its hour`() {
        var script = Script {
            $0.peersPerAnswer = 10
            $0.addressesPerHour = 1
            $0.openAddressFactor = 10
        }
        for number in 1...20 as ClosedRange<UInt8> {
            script.join(Viewer(number, at: host(203, 0, 113, UInt32(number))))
        }
        func asker(_ number: UInt8, _ high: UInt64, _ low: UInt64) -> Viewer {
            var viewer = Viewer(number)
            viewer.address = NetworkAddress(host: Bytes16(high: high, low: low), port: 50_000)
            return viewer
        }
        #expect(script.join(asker(50, 0x2001_0DB8_0001_0000, 1)).names.count == 10)
        #expect(script.join(asker(51, 0x2001_0DB8_0001_0000, 2)).peers == nil)
        #expect(script.join(asker(52, 0x2001_0DB8_0001_0007, 1)).peers == nil)
        #expect(script.join(asker(53, 0x2001_0DB8_0002_0000, 1)).names.count == 10)
    }
}

/// Who fetches from the CDN for whom.
struct FrontTests {
    @Test func `A first front comes 400 ms after the first viewer, the same for all and in the same order`() {
        var script = Script()
        for number in 1...5 as ClosedRange<UInt8> { #expect(script.join(Viewer(number)).fronts.isEmpty) }
        script.pass(milliseconds: 399)
        #expect(script.take(1).fronts.isEmpty)
        script.pass(milliseconds: 1)
        let fronts = (1...5).map { script.take($0).fronts }
        #expect(fronts.allSatisfy { $0.count == 1 && $0 == fronts[0] })
        let front = fronts[0].first
        #expect(front?.members == (1...5).map { Viewer($0).peer } && front?.validForMilliseconds == 30_000)
        #expect(front?.leadPositionMilliseconds == 400)
    }

    @Test func `Who plays another rendition has another front, and who has not said goes with the most`() {
        var script = Script()
        for number in 1...7 as ClosedRange<UInt8> { script.join(Viewer(number)) }
        for number in 1...6 as ClosedRange<UInt8> {
            script.report(UInt64(number), position: 0) { $0.mediaBitsPerSecond = number < 3 ? 600_000 : 3_000_000 }
        }
        script.pass(2)
        let members = (1...7).map { script.take($0).fronts.last?.members ?? [] }
        for number in 0..<2 { #expect(members[number] == (1...2).map { Viewer($0).peer }) }
        for number in 2..<7 { #expect(members[number] == (3...7).map { Viewer($0).peer }) }
    }

    @Test func `Manifests that differ a little in what they say of a rendition's rate do not make two fronts`() {
        var script = Script()
        for number in 1...4 as ClosedRange<UInt8> { script.join(Viewer(number)) }
        for number in 1...4 as ClosedRange<UInt8> {
            script.report(UInt64(number), position: 0) { $0.mediaBitsPerSecond = number < 3 ? 2_628_000 : 2_890_800 }
        }
        script.pass(2)
        for number in 1...4 as ClosedRange<UInt64> {
            #expect(script.take(number).fronts.last?.members == (1...4).map { Viewer($0).peer })
        }
    }

    @Test func `Of peers at one place those of the same rendition come first`() {
        var script = Script { $0.peersPerAnswer = 4 }
        for number in 1...9 as ClosedRange<UInt8> {
            script.join(Viewer(number))
            script.report(UInt64(number), position: 0) { $0.mediaBitsPerSecond = number % 2 == 0 ? 600_000 : 3_000_000 }
        }
        script.pass(2)
        _ = script.take(9)
        script.send(.wantPeers(count: 4), on: 9)
        var same = 0
        for case .peers(let candidates) in script.take(9) {
            same += candidates.count { candidate in [1, 3, 5, 7].contains { Viewer($0).peer == candidate.peer } }
        }
        // The fifth that is drawn from everybody may be any.
        #expect(same >= 3)
    }

    @Test func `A joiner is told the front that holds, and soon one with itself`() {
        var script = Script()
        script.join(Viewer(1))
        script.pass(1)
        script.join(Viewer(2))
        script.pass(3)
        // The spacing is over: the first joiner makes a new front, the second is told it.
        let first = script.join(Viewer(3)).fronts
        #expect(first.map(\.members) == [[Viewer(1).peer, Viewer(2).peer, Viewer(3).peer]])
        let second = script.join(Viewer(4)).fronts
        #expect(second.map(\.members) == first.map(\.members))
        #expect(second.first?.generation == first.first?.generation)
        script.pass(1)
        #expect(script.take(4).fronts.map(\.members.count) == [4])
        #expect((script.take(1).fronts.last?.generation ?? 0) > (first.first?.generation ?? 0))
    }

    @Test func `A viewer that never uploads is in no front, but is told it`() {
        var script = Script()
        script.join(Viewer(1, flags: [.leechOnly]))
        script.join(Viewer(2, flags: [.metered]))
        var closed = Viewer(3)
        closed.port = 0
        script.join(closed)
        script.pass(5)
        #expect(script.take(1).fronts.isEmpty)
        script.join(Viewer(4))
        script.pass(1)
        #expect(script.take(1).fronts.map(\.members) == [[Viewer(4).peer]])
    }

    @Test func `One that took plenty and gave nothing is left out`() {
        var script = Script()
        script.join(Viewer(1))
        script.join(Viewer(2))
        script.report(1, position: 0) {
            $0.bytesFromCDN = 5 << 20
            $0.bytesFromPeers = 5 << 20
        }
        script.pass(1)
        #expect(script.take(2).fronts.map(\.members) == [[Viewer(2).peer]])
        script.report(1, position: 1000) { $0.bytesUploaded = 1 }
        script.pass(1)
        #expect(script.take(2).fronts.last?.members.count == 2)
    }

    @Test func `A front is told again before it runs out, and not more often than it must be`() {
        var script = Script()
        for number in 1...3 as ClosedRange<UInt8> { script.join(Viewer(number)) }
        var validUntil: MonotonicInstant?
        var count = 0
        var generation: UInt64 = 0
        for second in 0..<120 {
            if second % 10 == 0 { for id in 1...3 { script.report(UInt64(id), position: UInt64(second) * 1000) } }
            script.pass(1)
            for front in script.take(1).fronts {
                count += 1
                #expect(front.generation > generation)
                generation = front.generation
                validUntil = script.now + .milliseconds(Int64(front.validForMilliseconds))
            }
            if let validUntil { #expect(validUntil > script.now + .seconds(5)) }
        }
        #expect((5...6).contains(count))
    }

    @Test func `However many come and go, a viewer is told at most one front a second`() {
        var script = Script()
        for number in 1...60 as ClosedRange<UInt8> { script.join(Viewer(number)) }
        script.pass(1)
        #expect(script.take(1).fronts.count == 1)
        for round in 0..<10 {
            for number in 0..<5 as Range<UInt8> {
                script.disconnect(UInt64(number) + 10)
                script.join(Viewer(10 + number), on: UInt64(number) + 10)
                script.now = script.now + .milliseconds(100)
            }
            #expect(script.take(1).fronts.count <= 1, "round \(round)")
            script.now = script.now + .milliseconds(500)
        }
    }

    @Test func `Members stay while they are there, and one that leaves is replaced`() {
        var script = Script { $0.maximumFrontCount = 4 }
        for number in 11...20 as ClosedRange<UInt8> { script.join(Viewer(number)) }
        script.pass(1)
        let first = script.take(11).fronts.last?.members ?? []
        #expect(first.count == 4)
        // Lower keys than all before.
        for number in 1...3 as ClosedRange<UInt8> { script.join(Viewer(number)) }
        script.pass(2)
        #expect(script.take(11).fronts.allSatisfy { $0.members == first })
        let left = first.dropFirst()
        guard let gone = first.first, let witness = left.first else { return }
        script.disconnect(gone.publicKey.words.0)
        script.pass(1)
        let second = Set(script.take(witness.publicKey.words.0).fronts.last?.members ?? [])
        #expect(second.count == 4 && second.isSuperset(of: left) && !second.contains(gone))
    }

    @Test func `Nobody makes a key that puts it in the front`() {
        var chosen = 0
        for round in 0..<8 {
            var script = Script { $0.maximumFrontCount = 8 }
            // So that each round draws otherwise.
            for id in 0..<UInt64(round) { _ = script.connect(1000 + id) }
            for number in 1...8 as ClosedRange<UInt8> { script.join(Viewer(number)) }
            for number in 101...172 as ClosedRange<UInt8> { script.join(Viewer(number)) }
            script.pass(1)
            let front = script.take(150).fronts.last?.members ?? []
            #expect(front.count == 8)
            chosen += front.count { $0.publicKey.words.0 <= 8 }
        }
        // A tenth of the viewers are a tenth of the 64 places, give or take.
        #expect(chosen <= 20, "\(chosen) of 64 places")
    }

    @Test func `The size follows the viewers, and more uplinks are named where they are slow`() {
        var script = Script()
        for number in 1...36 as ClosedRange<UInt8> { script.join(Viewer(number)) }
        script.pass(1)
        #expect(script.take(1).fronts.last?.members.count == 12)
        for number in 1...36 {
            script.report(UInt64(number), position: 0) {
                $0.mediaBitsPerSecond = 2_500_000
                $0.uplinkBitsPerSecond = 1_000_000
            }
        }
        script.pass(1)
        #expect(script.take(1).fronts.last?.members.count == 20)
        for number in 1...36 {
            script.report(UInt64(number), position: 0) {
                $0.mediaBitsPerSecond = 25_000_000
                $0.uplinkBitsPerSecond = 1_000_000
            }
        }
        script.pass(1)
        #expect(script.take(1).fronts.last?.members.count == 32)
    }

    @Test func `Viewers far apart have fronts of their own`() {
        var script = Script()
        script.join(Viewer(1, position: 100_000))
        script.join(Viewer(2, position: 75_000))
        script.join(Viewer(3, position: 60_000))
        script.join(Viewer(4, position: 59_000))
        script.pass(1)
        let ahead = script.take(1).fronts
        let behind = script.take(4).fronts
        #expect(ahead.map(\.members) == [[Viewer(1).peer, Viewer(2).peer]])
        #expect(ahead == script.take(2).fronts)
        #expect(behind.map(\.members) == [[Viewer(3).peer, Viewer(4).peer]])
        #expect(behind.first?.leadPositionMilliseconds == 61_000)
    }

    @Test func `A viewer at an absurd position leads nobody`() {
        var script = Script()
        script.join(Viewer(1))
        script.join(Viewer(2))
        script.join(Viewer(3, position: .max))
        script.pass(1)
        #expect(script.take(1).fronts.map(\.members) == [[Viewer(1).peer, Viewer(2).peer]])
    }

    @Test func `One that has paused for a minute is in no front`() {
        var script = Script()
        script.join(Viewer(1))
        script.join(Viewer(2))
        for second in 0..<80 {
            if second % 10 == 0 {
                script.report(1, position: UInt64(second) * 100)
                script.report(2, position: 0, isPlaying: false)
            }
            script.pass(1)
            if second == 30 { #expect(script.take(1).fronts.last?.members.count == 2) }
        }
        #expect(script.take(1).fronts.last?.members == [Viewer(1).peer])
    }

    @Test func `When nobody of a front is left, the others are told that nobody is named`() {
        var script = Script()
        script.join(Viewer(1, flags: [.leechOnly]))
        script.join(Viewer(2))
        script.pass(1)
        #expect(script.take(1).fronts.map(\.members) == [[Viewer(2).peer]])
        script.disconnect(2)
        script.pass(1)
        #expect(script.take(1).fronts.map(\.members) == [[]])
        script.pass(60)
        #expect(script.take(1).fronts.isEmpty)
    }
}
