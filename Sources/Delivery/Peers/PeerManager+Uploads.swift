import CoreModel
import EventLoop
import SwarmProtocol

/// Whose turn it is to upload, and how much.
extension PeerManager {
    /// How long the peers are told to leave this side alone when the share is used up: it grows with each download.
    private static let sharePause: Duration = .seconds(2)
    /// The same when nothing but time helps.
    private static let volumePause: Duration = .seconds(600)
    /// Upload that must be allowed again before requests are.
    private static let unchokeByteCount = 256 * 1024

    /// Whether a cap on the rate makes the links take turns.
    var isUploadMetered: Bool { budget.caps.bytesPerSecond != nil }

    /// Bytes that a connection may upload now.
    func mayUpload(_ connection: PeerConnection, now: MonotonicInstant) -> Int {
        if isUploadMetered, uploading !== connection { return 0 }
        let allowance = budget.allowance(now: now)
        if allowance <= 0 { chokeIfUsedUp(now: now) }
        return allowance
    }

    /// Takes note that a connection has sent a data frame: with a cap on the rate, the next one is another's.
    func tookTurn(_ connection: PeerConnection) {
        if uploading === connection { uploading = nil }
    }

    /// Takes note of bytes that go to the socket.
    func uploaded(_ byteCount: Int, now: MonotonicInstant) { budget.spend(byteCount, now: now) }

    /// Takes note of bytes that came in.
    ///
    /// - Returns: How long to stop reading, when the downlink is limited and used up.
    func downloaded(_ byteCount: Int, now: MonotonicInstant) -> Duration? {
        budget.receive(byteCount, now: now)
        if isChoking, budget.volumeAllowance(now: now) >= Self.unchokeByteCount {
            isChoking = false
            for connection in connections { connection.unchoke() }
        }
        guard let rate = configuration.downloadBytesPerSecond else { return nil }
        // A tenth of a second may come in a burst: what TCP's window brings at once.
        let level = downlink.level(rate: rate, capacity: rate / 10, now: now)
        downlink.take(Double(byteCount))
        guard level < Double(byteCount) else { return nil }
        return max(.milliseconds(1), now.duration(to: downlink.refilled(rate: rate)))
    }

    /// Gives the links that have something to upload a frame each in turn, while the budget lasts.
    func pump() {
        guard !isPumping, !isClosed else { return }
        isPumping = true
        giveTurns()
        uploading = nil
        isPumping = false
        if connections.contains(where: { $0.link.readyChunkCount > 0 }) { pumpWhenAllowed() }
    }

    private func giveTurns() {
        // A frame for each turn. Bounded, so that the loop gets on with the rest.
        for _ in 0..<64 where budget.allowance(now: loop.now) > 0 {
            guard let index = nextUploader() else { return }
            nextTurn = index + 1
            let connection = connections[index]
            let before = connection.link.statistics.sentPayloadByteCount
            uploading = connection
            connection.service()
            uploading = nil
            // One that had nothing after all must not spin the loop.
            guard connection.link.statistics.sentPayloadByteCount > before else { return }
        }
    }

    /// Arms the timer for the next turn.
    func pumpWhenAllowed() {
        guard !isPumping, !isClosed else { return }
        guard let next = budget.nextAllowance(now: loop.now) else { return }
        pumpTimer?.arm(at: max(next, loop.now.advanced(by: .microseconds(200))))
    }

    /// How long a choke lasts that begins now.
    func chokePause(now: MonotonicInstant) -> Duration {
        budget.isVolumeUsedUp(now: now) ? Self.volumePause : Self.sharePause
    }

    private func nextUploader() -> Int? {
        (0..<connections.count).lazy.map { (self.nextTurn + $0) % self.connections.count }
            .first { self.connections[$0].isReadyToUpload }
    }

    /// Tells the peers when the share, the day's volume or the meter forbids uploads: they ask others.
    private func chokeIfUsedUp(now: MonotonicInstant) {
        guard !isChoking, budget.volumeAllowance(now: now) <= 0,
            connections.contains(where: { $0.link.readyChunkCount > 0 })
        else { return }
        isChoking = true
        for connection in connections { connection.choke(for: chokePause(now: now)) }
    }
}
