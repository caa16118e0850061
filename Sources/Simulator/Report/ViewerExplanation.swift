package import CommandLineSupport
internal import CoreModel

/// Why one viewer of a run stalled or went to the CDN, in words.
package struct ViewerExplanation: Sendable {
    package let viewer: Int
    private let tally: ViewerTally
    package let sentences: [Explanation.Sentence]

    /// `nil` unless the run kept this viewer's decisions.
    package init?(of viewer: Int, in result: SimulationResult) {
        guard result.viewers.indices.contains(viewer), let log = result.decisionLog else { return nil }
        self.viewer = viewer
        tally = result.viewers[viewer]
        sentences = Explanation(log).sentences
    }

    /// What became of the viewer, then a line for each stall and each request to the CDN, with the time since it came.
    package var lines: [String] {
        let start =
            tally.startup.map { "began to play after \(DecisionWords.seconds($0))" } ?? "never began to play"
        let stalls =
            switch tally.stalls {
            case 0: "never stalled"
            case 1: "stalled once, for \(DecisionWords.seconds(tally.stallTime))"
            case _: "stalled \(tally.stalls) times, for \(DecisionWords.seconds(tally.stallTime)) in all"
            }
        var lines = [
            "viewer \(viewer) \(start), played \(DecisionWords.seconds(tally.played)) and \(stalls)",
            "  from the CDN \(tally.bytesCDN) bytes in \(tally.requestsCDN) requests, from peers \(tally.bytesPeers) bytes; "
                + "uploaded \(tally.bytesUploaded) bytes",
        ]
        if let rate = tally.meanBitrate, tally.rungSeconds.count > 1 {
            lines.append(
                "  \(DecisionWords.rate(Int(rate))) on the mean, switched \(tally.switches) times, gave up "
                    + "\(tally.abandoned) segments for a lower bitrate")
        }
        return lines + sentences.map { "\($0)" }
    }

    package var json: JSONValue {
        [
            "viewer": .integer(viewer), "startupSeconds": JSONValue(tally.startup?.inSeconds),
            "stalls": .integer(tally.stalls), "stallSeconds": .number(tally.stallTime.inSeconds),
            "meanBitrate": JSONValue(tally.meanBitrate), "switches": .integer(tally.switches),
            "abandonedSegments": .integer(tally.abandoned),
            "bytes": ["cdn": .integer(tally.bytesCDN), "peers": .integer(tally.bytesPeers)],
            "explanation": .array(
                sentences.map { ["seconds": .number($0.time.inSeconds), "text": .string($0.text)] }),
        ]
    }
}
