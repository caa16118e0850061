internal import CoreModel
internal import Scheduling

/// The words of an explanation.
enum DecisionWords {
    /// A span in seconds with two digits behind the point.
    static func seconds(_ span: Duration) -> String {
        let hundredths = (abs(span.inSeconds) * 100).rounded()
        let (whole, rest) = (Int(min(hundredths, 1e15)) / 100, Int(min(hundredths, 1e15)) % 100)
        return (span < .zero && hundredths > 0 ? "-" : "") + "\(whole).\(rest < 10 ? "0" : "")\(rest) s"
    }

    static func chunks(_ range: Range<Int>) -> String {
        range.count == 1 ? "chunk \(range.lowerBound)" : "chunks \(range.lowerBound) to \(range.upperBound - 1)"
    }

    /// A rate in Mbps with up to three digits behind the point.
    static func rate(_ bitsPerSecond: Int) -> String {
        let kilobits = (bitsPerSecond + 500) / 1000
        var fraction = String(1000 + kilobits % 1000).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(kilobits / 1000)\(fraction.isEmpty ? "" : ".")\(fraction) Mbps"
    }

    /// Why a bitrate was chosen.
    static func reason(_ reason: BitrateReason) -> String {
        switch reason {
        case .startup: "nothing was known of the network"
        case .throughput: "what the throughput sustains"
        case .buffer: "what the buffer affords"
        case .heldBack: "the throughput would not sustain what the buffer affords"
        case .insufficientBuffer: "the buffer could have run dry before more arrived"
        case .outlook: "the best outlook over the next segments"
        case .peersHold: "nearly the best, and peers hold more of it"
        case .limited: "no more is allowed"
        case .abandoned: "the fetch under way would have taken too long"
        case .unavailable: "the best one does not have the segment"
        case .manual: "the viewer has chosen it"
        }
    }

    /// What a reason means when the CDN is asked for it.
    static func reason(_ reason: Reason) -> String {
        switch reason {
        case .startup: "the first bytes, so that playback starts without waiting for a peer"
        case .alone: "no swarm, so fetched as any player does"
        case .unshared: "without a valid record it can't be shared"
        case .front: "the front gives these stripes to this viewer"
        case .backup: "their owner did not show them in time, and this viewer is next"
        case .elected: "this viewer won the election for the segment"
        case .deadline: "the time left is what the CDN needs"
        case .peerHolds: "a peer holds them"
        case .peerExpects: "a peer is fetching them"
        case .stalled: "a peer stalled"
        case .unwanted: "no longer wanted"
        case .handedOver: "the CDN brings them"
        case .handedBack: "peers bring them sooner than the CDN"
        case .unreliable: "a peer stalled too often"
        case .switched: "another rendition is wanted"
        case .complete: "all bytes are there"
        }
    }
}
