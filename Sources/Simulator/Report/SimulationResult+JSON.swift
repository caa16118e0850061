package import CommandLineSupport
internal import CoreModel

/// The document of one run; the same bytes for the same scenario and seed.
extension SimulationResult {
    /// The run's document with each viewer's figures.
    package var json: JSONValue { json(withViewers: true) }

    /// - Parameter withViewers: Whether each viewer's figures are in it.
    func json(withViewers: Bool) -> JSONValue {
        var members: [(name: String, value: JSONValue)] = [
            ("scenario", .string(scenario)), ("seed", JSONValue(seed)),
            ("simulatedSeconds", .number(simulatedSeconds)), ("viewerSeconds", .number(viewerSeconds)),
            ("total", totalJSON), ("limits", .array(limits.map(\.json))),
            ("isWithoutSharedLines", .boolean(isWithoutSharedLines)),
            ("assumptions", .array(Self.assumptions.map { .string($0) })),
            (
                "distributions",
                [
                    "startupSeconds": startups.json, "stallSeconds": stallTimes.json, "stalls": stallCounts.json,
                ]
            ),
            ("neverStarted", .integer(viewerCount - startups.count)),
            ("upload", fairness.json), ("cdnRate", cdnRate.json), ("cdnOnlyRate", cdnOnlyRate.json),
            ("quality", .array(quality.map(\.json))), ("cost", cost?.json ?? .null),
            ("series", .array(series.map(\.json))),
            ("segments", .array(segments.map(\.json))),
        ]
        if withViewers {
            members.append(("viewers", .array(viewers.enumerated().map { Self.json($0.element, id: $0.offset) })))
        }
        return .object(members)
    }

    var totalJSON: JSONValue {
        [
            "viewers": .integer(viewerCount), "bytesCDN": .integer(total.bytesCDN),
            "bytesPeers": .integer(total.bytesPeers), "bytesDelivered": .integer(total.bytesDelivered),
            "bytesWasted": .integer(total.bytesWasted), "bytesWitness": .null, "offload": JSONValue(total.offload),
            "peerShare": JSONValue(total.peerShare),
            "copiesPerSegment": JSONValue(total.copiesPerSegment), "copiesSteady": JSONValue(total.copiesSteady),
            "copiesElected": JSONValue(total.copiesElected), "copiesHandover": JSONValue(total.copiesHandover),
            "copiesStartup": JSONValue(total.copiesStartup), "stalls": .integer(total.stalls),
            "stallSeconds": .number(total.stallSeconds), "stalledViewers": .integer(total.stalledViewers),
            "meanBitrate": JSONValue(total.meanBitrate), "switches": .integer(total.switches),
            "abandonedSegments": .integer(total.abandonedSegments),
            "startupSecondsMedian": JSONValue(total.startupSecondsMedian),
            "startupSecondsP95": JSONValue(total.startupSecondsP95),
            "chunksRejected": .integer(total.chunksRejected),
            "messagesPerViewerSecond": JSONValue(total.messagesPerViewerSecond), "wallSeconds": .null,
        ]
    }

    private static func json(_ viewer: ViewerTally, id: Int) -> JSONValue {
        [
            "id": .string(String(id)), "startupSeconds": JSONValue(viewer.startup?.inSeconds),
            "stalls": .integer(viewer.stalls), "stallSeconds": .number(viewer.stallTime.inSeconds),
            "playedSeconds": .number(viewer.played.inSeconds), "meanBitrate": JSONValue(viewer.meanBitrate),
            "switches": .integer(viewer.switches),
            "liveLatencySeconds": JSONValue(viewer.latency?.inSeconds), "segments": .integer(viewer.segments),
            "bytes": [
                "cdn": .integer(viewer.bytesCDN), "cdnManifest": .integer(viewer.bytesManifest),
                "cdnCatalogue": .integer(viewer.bytesCatalogue), "peers": .integer(viewer.bytesPeers),
                "store": .integer(viewer.bytesStore), "uploaded": .integer(viewer.bytesUploaded),
                "wasted": .integer(viewer.bytesWasted),
            ],
            "requests": [
                "cdn": .integer(viewer.requestsCDN), "cdnManifest": .integer(viewer.requestsManifest),
                "peers": .integer(viewer.requestsPeers), "rejected": .integer(viewer.requestsRejected),
                "timedOut": .integer(viewer.requestsTimedOut), "cancelled": .integer(viewer.requestsCancelled),
            ],
            "chunksVerified": .integer(viewer.chunksVerified), "chunksRejected": .integer(viewer.chunksRejected),
            "peersBanned": .integer(viewer.peersBanned), "peersConnected": .integer(viewer.peersConnected),
            "error": viewer.hasFailed ? "a segment could not be had" : nil,
        ]
    }
}

extension Limit {
    var json: JSONValue {
        [
            "name": .string(name.rawValue), "strength": .string(strength.rawValue), "offload": .number(value),
            "meaning": .string(sentence),
        ]
    }
}

extension SimulationResult.Quality {
    fileprivate var json: JSONValue {
        [
            "bitsPerSecond": .integer(bitsPerSecond), "seconds": .number(seconds), "share": .number(share),
        ]
    }
}

extension SimulationResult.Second {
    fileprivate var json: JSONValue {
        [
            "viewers": .integer(viewers), "stalledViewers": .integer(stalledViewers),
            "bytesDelivered": .integer(bytesDelivered), "bytesCDN": .integer(bytesCDN),
            "bytesPeers": .integer(bytesPeers), "copies": JSONValue(copies),
        ]
    }
}

extension SimulationResult.Segment {
    fileprivate var json: JSONValue {
        [
            "index": .integer(index), "bitsPerSecond": .integer(bitsPerSecond), "bytes": .integer(byteCount),
            "bytesCDN": .integer(bytesCDN),
            "bytesDelivered": .integer(bytesDelivered), "copies": .number(copies),
        ]
    }
}

extension SampleSummary {
    fileprivate var json: JSONValue {
        [
            "count": .integer(count), "mean": JSONValue(mean), "minimum": JSONValue(sorted.first),
            "maximum": JSONValue(sorted.last),
            "percentiles": .object(Self.ranks.map { (name: String($0), value: JSONValue(percentile($0))) }),
            "histogram": .array(
                histogram.map { ["upTo": JSONValue($0.upTo), "count": .integer($0.count)] }),
        ]
    }
}

extension UploadFairness {
    fileprivate var json: JSONValue {
        [
            "viewers": .integer(viewerCount), "bytes": .integer(Int(bytes.reduce(0, +))), "jain": JSONValue(index),
            "jainOfLineUse": JSONValue(lineUseIndex), "shareOfTopTenth": JSONValue(shareOfTopTenth),
        ]
    }
}

extension DeliveryRate {
    fileprivate var json: JSONValue {
        [
            "peakBitsPerSecond": .number(peak), "p95BitsPerSecond": .number(percentile95),
            "meanBitsPerSecond": .number(mean), "p95WindowSeconds": .integer(windowSeconds),
        ]
    }
}

extension DeliveryCost {
    fileprivate var json: JSONValue {
        [
            "currency": .string(currency), "withPeers": Self.json(withPeers), "cdnOnly": Self.json(cdnOnly),
            "saved": JSONValue(saved),
        ]
    }

    private static func json(_ bill: Bill) -> JSONValue {
        [
            "bytes": .integer(bill.bytes), "requests": .integer(bill.requests), "volume": .number(bill.volume),
            "requesting": .number(bill.requesting), "rate": .number(bill.rate), "sum": .number(bill.sum),
        ]
    }
}
