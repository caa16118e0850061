internal import CoreModel
internal import Integrity

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The segments of the renditions that are played: sizes drawn once, with trees of stand-in hashes and the records over them,
/// which all viewers share.
final class SimulatedStream {
    struct Segment {
        var start: Duration
        var duration: Duration
        var record: VerifiedSegment
        /// The leaves of each stripe.
        var leaves: [[Digest]]

        var end: Duration { start + duration }
        var geometry: SegmentGeometry { record.geometry }
        var root: Digest { record.root }
    }

    let identity: StreamID
    let swarm: SwarmID
    /// Bits a second of each rendition that viewers play, rising.
    let ladder: [Int]
    let isLive: Bool
    /// Segments of each rendition.
    let count: Int
    /// Those of the lowest rendition, then of the next. A place here is what a segment is called where renditions matter;
    /// else its number is its place in its own.
    let segments: [Segment]
    /// The segments' numbers by their roots' first words: a table with open addressing, since this is looked up for each
    /// chunk.
    private let places: [Int32]

    /// Draws the segments of a scenario.
    init(_ scenario: Scenario, seed: UInt64, suite: some CryptoSuite, time: UnixTime) {
        let plan = scenario.stream
        identity = StreamIdentity.stream(named: scenario.name, suite: suite)
        swarm = StreamIdentity.swarm(of: identity, secret: [], suite: suite)
        isLive = plan.kind == .live
        ladder = plan.playedLadder
        // A live stream has been running for as long as its manifest lists, and goes on for the run.
        let length = isLive ? plan.window + scenario.duration : plan.length
        let authority = RoleKey(
            role: .authority, key: suite.signingKey(seed: Bytes32(words: (seed, 1, 2, 3))), suite: suite)
        let policy = AuthorityPolicy(stream: identity, keys: [authority.verificationKey], suite: suite)
        var mixer = SeededGenerator(seed: seed ^ 0x7365_676D_656E_7473)
        var generator = SeededGenerator(seed: mixer.next())
        var timeline: [(start: Duration, duration: Duration, factor: Double)] = []
        var segments: [Segment] = []
        var start = Duration.zero
        while start < length {
            let duration = isLive ? plan.segmentDuration : min(plan.segmentDuration, length - start)
            timeline.append((start, duration, 1))
            start += duration
        }
        count = timeline.count
        for (rung, bitsPerSecond) in ladder.enumerated() {
            for number in timeline.indices {
                if plan.sizeVariation > 0, rung == 0 {
                    // What is hard to code is so at each rate.
                    let sigma = log1p(plan.sizeVariation * plan.sizeVariation).squareRoot()
                    timeline[number].factor = exp(sigma * Self.normal(using: &generator) - sigma * sigma / 2)
                }
                let (start, duration, factor) = timeline[number]
                let size = Double(bitsPerSecond) / 8 * duration.inSeconds * factor
                let byteCount = min(max(Int(size), 1), SegmentGeometry.maximumByteCount)
                guard let geometry = SegmentGeometry(byteCount: byteCount) else {
                    preconditionFailure("a size in bounds")
                }
                let place = UInt64(segments.count)
                let leaves = (0..<geometry.chunkCount).map { _ in
                    Digest(
                        Bytes32(words: (generator.next(), generator.next(), generator.next(), place)))
                }
                let layer = MerkleTree.stripeLayer(leaves, in: geometry, suite: suite)
                let statement = RecordStatement(
                    name: SegmentName(
                        stream: identity, rendition: RenditionKey(rawValue: UInt64(rung + 1)),
                        position: SegmentPosition(number: UInt64(number))),
                    duration: MediaTime(ticks: duration.nanosecondsClamped, timescale: 1_000_000_000),
                    geometry: geometry, root: MerkleTree.root(ofStripeLayer: layer, in: geometry, suite: suite))
                let signed = SignedSegment(
                    record: SegmentRecord(
                        signing: statement, with: authority, issued: time, expires: time + .seconds(10_000_000)),
                    stripeLayer: layer)
                guard let signed, let record = try? policy.verify(signed, now: time, suite: suite) else {
                    preconditionFailure("the simulator's own record does not hold")
                }
                segments.append(
                    Segment(
                        start: start, duration: duration, record: record,
                        leaves: (0..<geometry.stripeCount).map { Array(leaves[geometry.chunkRange(ofStripe: $0)]) }))
            }
        }
        var capacity = 16
        while capacity < 4 * segments.count { capacity *= 2 }
        var places = Array<Int32>(repeating: -1, count: capacity)
        for (number, segment) in segments.enumerated() {
            var place = Int(truncatingIfNeeded: segment.root.value.words.0) & (capacity - 1)
            while places[place] >= 0 { place = (place + 1) & (capacity - 1) }
            places[place] = Int32(number)
        }
        self.segments = segments
        self.places = places
    }

    /// The place of the segment with a root; `nil` for a root that is none.
    func place(ofRoot root: Digest) -> Int? {
        var place = Int(truncatingIfNeeded: root.value.words.0) & (places.count - 1)
        while places[place] >= 0 {
            let number = Int(places[place])
            if segments[number].root == root { return number }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    /// A standard normal number (Box and Muller).
    private static func normal(using generator: inout SeededGenerator) -> Double {
        let u = Double(generator.next() >> 11) * 0x1p-53
        let v = Double(generator.next() >> 11) * 0x1p-53
        return (-2 * log1p(-u)).squareRoot() * cos(2 * .pi * v)
    }

    /// The number of the segment that holds a time; the last one behind the end.
    func index(at time: Duration) -> Int {
        guard let first = segments.first else { return 0 }
        // All but the last are of one length.
        let place = Int(max(0, time.nanosecondsClamped) / max(1, first.duration.nanosecondsClamped))
        return min(place, count - 1)
    }
}
