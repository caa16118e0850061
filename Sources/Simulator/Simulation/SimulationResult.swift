package import CommandLineSupport
internal import CoreModel

/// What a run of the simulation gave, and the bounds beside it.
package struct SimulationResult: Sendable {
    /// Totals, under the names of contracts.md.
    package struct Total: Sendable, Equatable {
        package var bytesCDN = 0
        package var bytesPeers = 0
        package var bytesDelivered = 0
        package var offload: Double?
        package var peerShare: Double?
        package var copiesPerSegment: Double?
        package var copiesSteady: Double?
        package var copiesElected: Double?
        package var copiesHandover: Double?
        package var copiesStartup: Double?
        package var stalls = 0
        package var stallSeconds = 0.0
        package var stalledViewers = 0
        package var startupSecondsMedian: Double?
        package var startupSecondsP95: Double?
        package var chunksRejected = 0
        package var peersBanned = 0
        package var bytesUploaded = 0
        /// Elections won.
        package var claims = 0
        /// Control messages that a viewer sent, per second of its presence.
        package var messagesPerViewerSecond: Double?
    }

    /// Bytes of chunks between viewers: what was sent has arrived, was lost, or is under way at the end.
    package struct Payload: Sendable, Equatable {
        package var sent = 0
        package var arrived = 0
        /// Of what arrived, the part of altered chunks that were found out.
        package var altered = 0
        package var lost = 0
        package var underWay = 0
    }

    /// What the CDN gave up to the end of a second of the run.
    package struct Second: Sendable, Equatable {
        package var viewers: Int
        package var bytesCDN: Int
        package var bytesPeers: Int
    }

    package var scenario: String
    package var seed: UInt64
    package var viewerCount: Int
    package var simulatedSeconds: Double
    /// Seconds that all viewers were online together.
    package var viewerSeconds: Double
    package var total: Total
    package var limits: [Limit]
    package var series: [Second]
    package var payload: Payload
    package var isWithoutSharedLines: Bool
    var viewers: [ViewerTally]

    /// What the model leaves out.
    package static let assumptions = [
        "Viewers play one rendition of one track; adaptation is not simulated here.",
        "The CDN is one place; its caches are always warm.",
        "TCP is modelled by windows and fair queues, without packets, retransmissions or varying delay.",
        "Viewers behind one site reach the tracker under addresses of their own.",
        "Limits per address of the tracker's server are not applied.",
    ]

    /// The document that `pdn simulate --json` prints; the same bytes for the same scenario and seed.
    package var json: JSONValue {
        .object([
            ("scenario", .string(scenario)), ("seed", .integer(Int(truncatingIfNeeded: seed))),
            ("simulatedSeconds", .number(simulatedSeconds)), ("viewerSeconds", .number(viewerSeconds)),
            ("total", totalJSON),
            (
                "limits",
                .array(
                    limits.map {
                        .object([
                            ("name", .string($0.name.rawValue)), ("strength", .string($0.strength.rawValue)),
                            ("offload", .number($0.value)), ("meaning", .string($0.sentence)),
                        ])
                    })
            ),
            ("isWithoutSharedLines", .boolean(isWithoutSharedLines)),
            ("assumptions", .array(Self.assumptions.map { .string($0) })),
            (
                "series",
                .array(
                    series.map {
                        .object([
                            ("viewers", .integer($0.viewers)), ("bytesCDN", .integer($0.bytesCDN)),
                            ("bytesPeers", .integer($0.bytesPeers)),
                        ])
                    })
            ),
            ("viewers", .array(viewers.enumerated().map { Self.json($0.element, id: $0.offset) })),
        ])
    }

    private var totalJSON: JSONValue {
        .object([
            ("viewers", .integer(viewerCount)), ("bytesCDN", .integer(total.bytesCDN)),
            ("bytesPeers", .integer(total.bytesPeers)), ("bytesDelivered", .integer(total.bytesDelivered)),
            ("bytesWitness", .null), ("offload", .optional(total.offload)), ("peerShare", .optional(total.peerShare)),
            ("copiesPerSegment", .optional(total.copiesPerSegment)), ("copiesSteady", .optional(total.copiesSteady)),
            ("copiesElected", .optional(total.copiesElected)), ("copiesHandover", .optional(total.copiesHandover)),
            ("copiesStartup", .optional(total.copiesStartup)), ("stalls", .integer(total.stalls)),
            ("stallSeconds", .number(total.stallSeconds)), ("stalledViewers", .integer(total.stalledViewers)),
            ("startupSecondsMedian", .optional(total.startupSecondsMedian)),
            ("startupSecondsP95", .optional(total.startupSecondsP95)),
            ("chunksRejected", .integer(total.chunksRejected)),
            ("messagesPerViewerSecond", .optional(total.messagesPerViewerSecond)), ("wallSeconds", .null),
        ])
    }

    private static func json(_ viewer: ViewerTally, id: Int) -> JSONValue {
        .object([
            ("id", .string(String(id))), ("startupSeconds", .optional(viewer.startup?.inSeconds)),
            ("stalls", .integer(viewer.stalls)), ("stallSeconds", .number(viewer.stallTime.inSeconds)),
            ("playedSeconds", .number(viewer.played.inSeconds)),
            ("liveLatencySeconds", .optional(viewer.latency?.inSeconds)), ("segments", .integer(viewer.segments)),
            (
                "bytes",
                .object([
                    ("cdn", .integer(viewer.bytesCDN)), ("cdnManifest", .integer(viewer.bytesManifest)),
                    ("cdnCatalogue", .integer(viewer.bytesCatalogue)), ("peers", .integer(viewer.bytesPeers)),
                    ("store", .integer(viewer.bytesStore)), ("uploaded", .integer(viewer.bytesUploaded)),
                    ("wasted", .integer(viewer.bytesWasted)),
                ])
            ),
            (
                "requests",
                .object([
                    ("cdn", .integer(viewer.requestsCDN)), ("peers", .integer(viewer.requestsPeers)),
                    ("rejected", .integer(viewer.requestsRejected)), ("timedOut", .integer(viewer.requestsTimedOut)),
                    ("cancelled", .integer(viewer.requestsCancelled)),
                ])
            ),
            ("chunksVerified", .integer(viewer.chunksVerified)), ("chunksRejected", .integer(viewer.chunksRejected)),
            ("peersBanned", .integer(viewer.peersBanned)), ("peersConnected", .integer(viewer.peersConnected)),
            ("error", viewer.hasFailed ? .string("a segment could not be had") : .null),
        ])
    }
}

extension JSONValue {
    fileprivate static func optional(_ value: Double?) -> JSONValue { value.map { .number($0) } ?? .null }
}
