internal import Scheduling

/// How the viewers of a run get their media: this project's way, or one that it is compared with on the same seed.
///
/// All share population, links, tracker, CDN and network; only who decides differs. What a policy leaves out of its
/// original is said at its type.
package enum DeliveryPolicy: String, CaseIterable, Sendable {
    /// The production scheduler.
    case ours
    /// No peers: ``SequentialFetching``.
    case cdnOnly = "cdn-only"
    /// What is urgent from the CDN, the rest from peers, which random fetches feed: p2p-media-loader 2.3.0, in
    /// ``WindowedLoading``.
    case fixedWindows = "fixed-windows"
    /// The same, fed by whom a hash elects among neighbours: p2p-media-loader's 5.0 line, in ``WindowedLoading``.
    case hashElection = "hash-election"

    /// A line for tables and help.
    package var summary: String {
        switch self {
        case .ours: "chunks from many peers and the CDN, by deadline"
        case .cdnOnly: "whole segments from the CDN, one after another"
        case .fixedWindows: "whole segments: urgent ones from the CDN, others from a peer; random CDN seeding"
        case .hashElection: "whole segments from one peer each; a hash elects who asks the CDN"
        }
    }

    /// Whether viewers join a swarm at all.
    var usesPeers: Bool { self != .cdnOnly }

    /// Whether peers' bytes are held against signed records, which take their time to come. The rivals sign nothing, so
    /// their viewers share a segment from the moment they know it.
    var waitsForRecords: Bool { self == .ours }

    /// Whether players get, and peers announce, a segment only when all of it is there.
    var isWholeSegments: Bool {
        switch self {
        case .ours, .cdnOnly: false
        case .fixedWindows, .hashElection: true
        }
    }

    /// Media that a viewer keeps: p2p-media-loader's 4096 MiB of a desktop, in place of production's store.
    var storeByteCount: Int {
        switch self {
        case .ours, .cdnOnly: SimulatedViewer.storeByteCount
        case .fixedWindows, .hashElection: 4096 << 20
        }
    }

    /// The constants of a policy with windows.
    func windowRules(_ scenario: Scenario) -> WindowRules? {
        switch self {
        case .ours, .cdnOnly: nil
        case .fixedWindows: .fixedWindows(scenario)
        case .hashElection: .hashElection(scenario)
        }
    }
}
