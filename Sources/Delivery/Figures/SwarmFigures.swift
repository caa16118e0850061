/// The figures of a whole run: each viewer's, and the totals over them.
public struct SwarmFigures: Sendable, Encodable {
    /// Totals over all viewers.
    public struct Total: Sendable, Encodable {
        /// Media bytes that viewers received from the CDN, used or not.
        public var bytesCDN = 0
        /// Verified media bytes from peers.
        public var bytesPeers = 0
        /// Media bytes handed to the players.
        public var bytesDelivered = 0
        /// Bytes that a witness fetched; `nil` without one.
        public var bytesWitness: Int?
        /// 1 − CDN bytes over delivered bytes.
        public var offload: Double?
        /// Peer bytes over all bytes used.
        public var peerShare: Double?
        /// CDN bytes over the bytes of the distinct segments delivered.
        public var copiesPerSegment: Double?
        /// The same without each viewer's first ten seconds.
        public var copiesSteady: Double?
        /// The part of it that was fetched for the swarm.
        public var copiesElected: Double?
        /// The part of it that deadlines caused.
        public var copiesHandover: Double?
        /// The rest.
        public var copiesStartup: Double?
        /// Stalls.
        public var stalls = 0
        /// The median time to the first picture.
        public var startupSecondsMedian: Double?
        /// The 95th percentile of it.
        public var startupSecondsP95: Double?
        /// Chunks that did not match their proof.
        public var chunksRejected = 0
        /// How long the run took.
        public var wallSeconds: Double?

        private enum CodingKeys: String, CodingKey {
            case bytesCDN, bytesPeers, bytesDelivered, bytesWitness, offload, peerShare, copiesPerSegment, copiesSteady
            case copiesElected, copiesHandover, copiesStartup, stalls, startupSecondsMedian, startupSecondsP95
            case chunksRejected, wallSeconds
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(bytesCDN, forKey: .bytesCDN)
            try container.encode(bytesPeers, forKey: .bytesPeers)
            try container.encode(bytesDelivered, forKey: .bytesDelivered)
            try container.encode(bytesWitness, forKey: .bytesWitness)
            try container.encode(offload, forKey: .offload)
            try container.encode(peerShare, forKey: .peerShare)
            try container.encode(copiesPerSegment, forKey: .copiesPerSegment)
            try container.encode(copiesSteady, forKey: .copiesSteady)
            try container.encode(copiesElected, forKey: .copiesElected)
            try container.encode(copiesHandover, forKey: .copiesHandover)
            try container.encode(copiesStartup, forKey: .copiesStartup)
            try container.encode(stalls, forKey: .stalls)
            try container.encode(startupSecondsMedian, forKey: .startupSecondsMedian)
            try container.encode(startupSecondsP95, forKey: .startupSecondsP95)
            try container.encode(chunksRejected, forKey: .chunksRejected)
            try container.encode(wallSeconds, forKey: .wallSeconds)
        }
    }

    /// Each viewer's figures.
    public var viewers: [ViewerFigures]
    /// The totals.
    public var total: Total

    /// Adds up the viewers' figures.
    public init(viewers: [ViewerFigures], wallSeconds: Double?) {
        self.viewers = viewers
        var total = Total()
        var distinct: [String: Int] = [:]
        for viewer in viewers {
            total.bytesCDN += viewer.bytes.cdn
            total.bytesPeers += viewer.bytes.peers
            total.bytesDelivered += viewer.delivered
            total.stalls += viewer.stalls
            total.chunksRejected += viewer.chunksRejected
            distinct.merge(viewer.distinct) { max($0, $1) }
        }
        let size = Double(distinct.values.reduce(0, +))
        if total.bytesDelivered > 0 {
            total.offload = 1 - Double(total.bytesCDN) / Double(total.bytesDelivered)
            total.peerShare = Double(total.bytesPeers) / Double(max(1, total.bytesPeers + total.bytesCDN))
        }
        if size > 0 {
            let elected = Double(viewers.reduce(0) { $0 + $1.cdnElected }) / size
            let handover = Double(viewers.reduce(0) { $0 + $1.cdnHandover }) / size
            total.copiesPerSegment = Double(total.bytesCDN) / size
            total.copiesElected = elected
            total.copiesHandover = handover
            total.copiesSteady = elected + handover
            total.copiesStartup = Double(viewers.reduce(0) { $0 + $1.cdnStartup }) / size
        }
        let startups = viewers.compactMap(\.startupSeconds).sorted()
        total.startupSecondsMedian = Self.percentile(startups, 0.5)
        total.startupSecondsP95 = Self.percentile(startups, 0.95)
        total.wallSeconds = wallSeconds
        self.total = total
    }

    /// The smallest value that the given share of all does not exceed.
    private static func percentile(_ sorted: [Double], _ share: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let place = Int((Double(sorted.count) * share).rounded(.up)) - 1
        return sorted[min(max(place, 0), sorted.count - 1)]
    }
}
