import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Separate estimates of what the CDN, peers and the store give.
///
/// Kept apart because they say nothing of each other: a segment from the store arrives at once, and a choice that took that
/// for the network's rate would stall on the next segment.
public struct SourceEstimates: Sendable, Equatable {
    /// A whole response in less time than this did not cross a network: it came from a cache on this machine or beside it.
    /// (shaka-player, `cacheLoadThreshold`.)
    private static let cacheMilliseconds = 5.0
    /// After so many such responses in a row they are believed: a cache on the way has one segment and not the next, but a CDN
    /// that is near, or whose line lets a second's worth of bytes through at once, is so for all of them. A bitrate is to be
    /// back within three segments.
    private static let disbelievedRun = 2

    private var cdn = DualAverage()
    private var peers = DualAverage()
    private var store = DualAverage()
    private var instantResponses = 0
    private(set) var cdnBelief = RateBelief()
    private(set) var peerBelief = RateBelief()

    /// Makes estimates that nothing is known to yet.
    public init() {}

    /// Adds a transfer.
    ///
    /// - Parameter segment: Duration of a segment's media, in milliseconds.
    /// - Returns: Where it came from, to judge by its speed.
    @discardableResult
    public mutating func add(_ sample: TransferSample, segment: Double) -> ByteSource {
        let source = source(of: sample)
        switch source {
        case .cdn:
            cdnBelief.add(bits: sample.bits, milliseconds: sample.milliseconds, segment: segment)
            if sample.isWhole { cdn.add(sample, segment: segment) }
        case .peers:
            peerBelief.add(bits: sample.bits, milliseconds: sample.milliseconds, segment: segment)
            if sample.isWhole { peers.add(sample, segment: segment) }
        case .store:
            if sample.isWhole { store.add(sample, segment: segment) }
        }
        return source
    }

    /// The estimate of one source; `nil` before it brought anything whole.
    public subscript(source: ByteSource) -> ThroughputEstimate? {
        switch source {
        case .cdn: cdn.estimate
        case .peers: peers.estimate
        case .store: store.estimate
        }
    }

    /// What the CDN is believed to give, in kilobits a second; `nil` before it brought anything.
    public var cdnKilobitsPerSecond: Double? { cdnBelief.logRate.map { exp($0) } }

    /// Where the sample really came from.
    private mutating func source(of sample: TransferSample) -> ByteSource {
        guard sample.source == .cdn, sample.isWhole else { return sample.source }
        guard sample.milliseconds + sample.latencyMilliseconds < Self.cacheMilliseconds else {
            instantResponses = 0
            return .cdn
        }
        instantResponses = min(instantResponses + 1, Self.disbelievedRun + 1)
        return instantResponses > Self.disbelievedRun ? .cdn : .store
    }
}
