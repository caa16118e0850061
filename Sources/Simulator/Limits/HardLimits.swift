internal import CoreModel
internal import SwarmProtocol

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Bounds that hold in every scenario.
package enum HardLimits {
    /// The part of an uploaded byte that is media, when chunks go out as densely as the wire format allows.
    package static let mediaShare =
        Double(SegmentGeometry.chunkByteCount) / Double(SegmentGeometry.chunkByteCount + WireLimits.dataOverhead)

    /// Each distinct byte comes from the CDN once.
    ///
    /// - Parameters:
    ///   - distinctBytes: Bytes of all segments, in each rendition, that were delivered to anybody, each counted once.
    ///   - deliveredBytes: Bytes handed to players.
    package static func firstCopy(distinctBytes: Double, deliveredBytes: Double) -> Limit {
        Limit(
            .firstCopy, .hard, 1 - distinctBytes / deliveredBytes,
            "Each segment of each rendition must come from the CDN once before peers can have it.")
    }

    /// Peers deliver no more than they upload.
    ///
    /// - Parameter uploadableBytes: What all viewers could upload while online, on the wire; see
    ///   ``Population/uploadableBytes(onlineSeconds:downloadedBytes:scenario:)``.
    package static func uplink(uploadableBytes: Double, deliveredBytes: Double) -> Limit {
        Limit(
            .uplink, .hard, uploadableBytes * mediaShare / deliveredBytes,
            "Peers give no more than their uplinks carry within the caps, less what the protocol adds.")
    }

    /// Who reaches nobody gets everything from the CDN.
    ///
    /// - Parameter reachableBytes: Bytes delivered to viewers who could connect to at least one other.
    package static func reach(reachableBytes: Double, deliveredBytes: Double) -> Limit {
        Limit(
            .reach, .hard, reachableBytes / deliveredBytes,
            "Viewers who can't connect to any other get everything from the CDN.")
    }

    /// Live: copies multiply only until the deadline.
    ///
    /// - Parameters:
    ///   - room: From availability to the latest deadline of any viewer.
    ///   - firstCopySeconds: What the CDN takes for the unit's first copy.
    ///   - unitBits: Bits of what is passed on whole; a chunk of 16 KiB in this protocol.
    ///   - largestUplink: Of any viewer, in bits a second.
    package static func deadline(
        room: Duration, firstCopySeconds: Double, unitBits: Double = Double(SegmentGeometry.chunkByteCount * 8),
        largestUplink: Double
    ) -> Limit {
        let steps = max(0, (room.inSeconds - firstCopySeconds) * largestUplink / unitBits)
        return Limit(
            .deadline, .hard, 1 - 1 / copies(after: steps, delay: 0),
            "A unit is passed on when it is complete, so the copies of one at most double in the time of an upload.")
    }

    /// The copies that one becomes in `time` when each holder uploads one after another and each copy is usable `delay`
    /// after it is complete; time and delay in units of one upload. H(T) of Liu's model: H(T) = 1 + Σ H(T − j − d) over
    /// j ≥ 1 with j + d ≤ T.
    ///
    /// Infinite from 2⁶⁴ on, or beyond a time of 64 uploads.
    package static func copies(after time: Double, delay: Double) -> Double {
        guard time >= 0 else { return 1 }
        // The tables' times are exact in tenths; the tolerance keeps 2 + 0.1 + 0.1 within 2.2.
        let tolerance = 1e-9
        if delay <= 0 { return time >= 64 ? .infinity : pow(2, (time + tolerance).rounded(.down)) }
        guard time < 64 else { return .infinity }
        // n copies in a row from the first holder take sums j₁ + … + jₙ + n·d; the number of ways to write m as n ordered
        // parts is the binomial coefficient of m − 1 over n − 1.
        var total = 1.0
        var generation = 1
        while Double(generation) * (1 + delay) <= time + tolerance {
            let most = Int((time - Double(generation) * delay + tolerance).rounded(.down))
            // Σ over m from n to `most` of C(m − 1, n − 1) = C(most, n).
            var ways = 1.0
            for index in 0..<generation { ways = ways * Double(most - index) / Double(index + 1) }
            total += ways
            generation += 1
        }
        return total
    }

    /// Live: the room that one copy needs which K viewers pass to N: segment bits / Σ(front's uplinks) + unit time ×
    /// log₂(N/K).
    package static func injectionRoom(
        segmentBits: Double, frontUplinks: Double, unitSeconds: Double, viewerCount: Int, frontCount: Int
    ) -> Duration {
        let doublings = max(0, log2(Double(viewerCount) / Double(max(1, frontCount))))
        return .clamping(seconds: segmentBits / frontUplinks + unitSeconds * doublings)
    }

    /// Live: what a front of K viewers can inject in time.
    ///
    /// A bit that leaves the front at t reaches K·2^((D − t)/Δ) viewers by the deadline. More copies from the CDN are as
    /// many fronts more, and cost one of N each; the bound is that of the best number.
    ///
    /// - Parameters:
    ///   - room: From availability to the latest deadline of any viewer.
    ///   - segmentBits: Bits of the largest segment.
    ///   - frontUplinks: The sum of the uplinks of the K viewers with the largest ones, in bits a second.
    ///   - unitSeconds: What one chunk takes over the largest uplink.
    package static func injection(
        room: Duration, segmentBits: Double, frontUplinks: Double, unitSeconds: Double, viewerCount: Int,
        frontCount: Int
    ) -> Limit {
        let (count, front) = (Double(viewerCount), Double(max(1, frontCount)))
        func share(_ copies: Double) -> Double {
            injectedShare(
                room: room.inSeconds, emission: segmentBits / (frontUplinks * copies), unit: unitSeconds,
                reach: min(1, front * copies / count))
        }
        // The share rises with the copies, 1 − c/N falls: the best is where they meet.
        var low = 1.0
        var high = max(1, count)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if share(middle) < 1 - middle / count { low = middle } else { high = middle }
        }
        return Limit(
            .injection, .hard, max(min(share(low), 1 - low / count), min(share(high), 1 - high / count)),
            "What the viewers who fetch for all can't pass on in time comes from the CDN.")
    }

    /// The part of a segment's bits, each weighed by the viewers it reaches, when they leave evenly within `emission`.
    private static func injectedShare(room: Double, emission: Double, unit: Double, reach: Double) -> Double {
        guard emission > 0, emission.isFinite else { return emission > 0 ? 0 : 1 }
        let all = room + unit * log2(reach)  // Bits that leave until then reach everybody.
        let full = min(max(all, 0), emission)
        let end = min(emission, room)
        guard end > full, unit > 0 else { return full / emission }
        let scale = unit / log(2)
        let tail = scale * (pow(2, (all - full) / unit) - pow(2, (all - end) / unit))
        return min(1, (full + tail) / emission)
    }
}
