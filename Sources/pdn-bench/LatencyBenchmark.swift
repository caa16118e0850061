import CoreModel
import Delivery
import EventLoop
import Glibc
import SwarmProtocol

/// How long a control frame takes on a link whose uplink is full of data, above the round trip of the idle link.
///
/// Two processes, since it takes two machines or namespaces with a limited link between them: `latency-serve` uploads,
/// `latency-fetch` asks for more than the link can carry and pings meanwhile; the answers go through the full uplink.
enum LatencyBenchmark {
    /// Uploads to whoever asks, until it is ended.
    static func serve(at address: NetworkAddress) throws {
        let loop = try EventLoop.startThread(named: "upload")
        let isUp = Handover<Bool>()
        loop.execute { isUp.give((try? Uploader(loop: loop, segment: Segment(), at: address)) != nil) }
        guard isUp.take() else { throw BenchmarkError.socket(errno) }
        // Nobody gives: a signal ends it.
        Handover<Void>().take()
    }

    /// Measures and gives the figures.
    static func fetch(from address: NetworkAddress) throws -> [Measurement] {
        let loop = try EventLoop.startThread(named: "download")
        let result = Handover<[Measurement]>()
        loop.execute {
            let side = try? Prober(loop: loop, segment: Segment()) { idle, full in
                result.give(Self.measurements(idle: idle, full: full))
            }
            side?.connect(to: address)
            if side == nil { result.give([]) }
        }
        return result.take()
    }

    private static func measurements(idle: [Double], full: [Double]) -> [Measurement] {
        let base = idle.sorted()[idle.count / 2]
        let sorted = full.sorted()
        return [
            Measurement(
                name: "control-latency", value: sorted[sorted.count * 95 / 100] - base, unit: "ms above the round trip",
                limit: nil),
            Measurement(name: "control-latency-median", value: sorted[sorted.count / 2] - base, unit: "ms", limit: nil),
        ]
    }
}

/// Pings on an idle link, then on the full one.
final class Prober: Downloader {
    private enum Phase { case idle, filling, full }

    private let loop: EventLoop
    private let onResult: ([Double], [Double]) -> Void
    private var phase = Phase.idle
    private var ticks = 0
    private var idle: [Double] = []
    private var full: [Double] = []
    private var timer: LoopTimer?

    /// From one ping to the next.
    private static let interval = Duration.milliseconds(100)

    init(loop: EventLoop, segment: Segment, onResult: @escaping ([Double], [Double]) -> Void) throws {
        self.loop = loop
        self.onResult = onResult
        try super.init(loop: loop, segment: segment, rounds: .max) {}
        timer = LoopTimer(loop: loop) { [weak self] in self?.tick() }
    }

    override func peerReady(_ peer: ReadyPeer) { timer?.arm(after: Self.interval) }

    override func peer(_ peer: PeerID, did event: LinkEvent) {
        guard case .roundTrip(let span) = event else { return super.peer(peer, did: event) }
        let milliseconds = span / .milliseconds(1)
        switch phase {
        case .idle: idle.append(milliseconds)
        case .filling: break
        case .full: full.append(milliseconds)
        }
    }

    private func tick() {
        ticks += 1
        if ticks == 20 {
            phase = .filling
            ask()
        }
        // Three seconds to fill what there is to fill, then fifteen to measure.
        if ticks == 50 { phase = .full }
        if ticks >= 200, !idle.isEmpty, full.count >= 10 || ticks >= 600 { return onResult(idle, full) }
        manager.probe(Self.name(1))
        timer?.arm(after: Self.interval)
    }
}
