internal import CoreModel
internal import Scheduling
internal import SwarmProtocol
internal import ViewerCore

/// Which rendition is played: what a player does around ``RenditionPlan``.
extension SimulatedViewer {
    /// Without peers a player keeps no more ahead than this; with them segments are chosen as far as the scheduler asks peers.
    private static let horizon: Duration = .seconds(90)
    /// Of a segment that is still coming, nothing is handed over before the player needs it within this: until then it can be
    /// given up for a lower rendition.
    private static let feedLead: Duration = .seconds(2)

    /// The bits a second of the rendition chosen last.
    var playedBitsPerSecond: Int {
        guard let renditions else { return world.stream.ladder[0] }
        return renditions.count > 0 ? renditions.bitsPerSecond(renditions.count - 1) : 0
    }

    /// Chooses for the segments whose turn it is, and tells the scheduler.
    ///
    /// - Returns: Whether there was any.
    func chooseRenditions() -> Bool {
        guard hasTimeline, renditions != nil else { return false }
        let frontier = renditions?.frontier(from: feedIndex) ?? 0
        let number = firstSegment + frontier
        guard frontier < listedSegments,
            world.stream.segments[number].start < player.position + Self.horizon,
            renditions?.isDue(frontier, missingBits: missingBits(before: frontier), isShared: books.peerCount > 0)
                ?? false
        else { return false }
        let isNew = frontier >= knownSegments
        let (former, first) = (isNew ? 0 : place(frontier), knownSegments)
        let outlook = outlook(frontier, missingBits: missingBits(before: frontier))
        guard let decision = renditions?.choose(frontier, outlook) else { return false }
        note(decision, of: frontier)
        guard isNew else {
            replace(frontier, former)
            return true
        }
        ledgers.grow(to: frontier + 1)
        knownSegments = frontier + 1
        tell(.segments(track: 0, (first...frontier).map(description)))
        for index in first...frontier where hasRecords(index) { adoptRecord(of: index) }
        return true
    }

    /// Gives up what comes too slowly, for a lower rendition.
    func reconsider() {
        guard let index = renditions?.contested, index == feedIndex, feedOffset == 0, index < knownSegments,
            leftAt[index] == nil, !delivered.contains(index)
        else { return }
        let size = geometry(index).byteCount
        let received = min(size, ledgers[index].receivedCount * SegmentGeometry.chunkByteCount)
        let former = place(index)
        let outlook = outlook(index, missingBits: 0)
        guard
            let decision = renditions?.abandon(
                index, bits: Double(size * 8), receivedBits: Double(received * 8), outlook, now: now)
        else { return }
        figures.abandoned += 1
        note(decision, of: index)
        replace(index, former)
        feed(.timer)
    }

    /// Starts again with a segment in another rendition: what is there of the former one is lost.
    private func replace(_ index: Int, _ former: Int) {
        let id = SegmentID(track: 0, index: index)
        let old = world.stream.segments[former]
        let hadRecord = ledgers[index].hasRecord
        figures.bytesWasted += min(
            old.geometry.byteCount, ledgers[index].receivedCount * SegmentGeometry.chunkByteCount)
        heldChunkCount -= ledgers[index].present.count
        if hadRecord {
            books.disown(id, root: old.root)
            neighbourhood.holdingsLost(root: old.root)
        }
        ledgers[index] = SegmentLedger()
        tell(.rendition(id, description(index)))
        if hadRecord { adoptRecord(of: index) }
        drive()
    }

    private func hasRecords(_ index: Int) -> Bool {
        guard world.usesPeers, !ledgers[index].hasRecord else { return false }
        if !world.policy.waitsForRecords { return true }
        return world.stream.isLive
            ? recorded.contains(index) : hasCatalogue && segment(index).start < player.position + Self.recordWindow
    }

    /// Bits of the segments from the playhead on that were begun, as far as they are not there.
    private func missingBits(before frontier: Int) -> Double {
        var missing = 0
        for index in feedIndex..<max(feedIndex, min(frontier, knownSegments)) {
            let geometry = geometry(index)
            missing += (geometry.chunkCount - ledgers[index].receivedCount) * SegmentGeometry.chunkByteCount * 8
        }
        return Double(missing)
    }

    private func outlook(_ index: Int, missingBits: Double) -> RenditionPlan.Outlook {
        let number = firstSegment + index
        let segment = world.stream.segments[number]
        return RenditionPlan.Outlook(
            distance: segment.start - player.position, missingBits: missingBits,
            capacity: world.bitrate?.capacity ?? .zero, duration: segment.duration,
            segmentsLeft: world.stream.isLive ? nil : listedSegments - index, offers: offers(number),
            highestRung: world.stream.ladder.count - 1)
    }

    /// What peers have of a segment in each rendition.
    private func offers(_ number: Int) -> [SegmentOffer] {
        guard books.peerCount > 0 else { return [] }
        return world.stream.ladder.indices.map { rung in
            let segment = world.stream.segments[rung * world.stream.count + number]
            return SegmentOffer(
                peerShare: books.heldShare(of: segment.root, chunkCount: segment.geometry.chunkCount))
        }
    }

    private func note(_ decision: BitrateDecision, of index: Int) {
        guard decisions != nil, let rate = renditions?.bitsPerSecond(index) else { return }
        decisions?.append(
            DecisionEntry(
                time: now, event: .choice(SegmentID(track: 0, index: index), decision, bitsPerSecond: rate)))
    }

    // MARK: - What happens

    /// Tells the plan of a segment that has become complete; before the scheduler, which goes on to the next.
    func noteCompleted(_ index: Int) {
        guard renditions != nil, !(renditions?.isComplete(index) ?? true) else { return }
        let geometry = geometry(index)
        guard ledgers[index].isComplete(geometry) else { return }
        let duration = segment(index).duration
        renditions?.completed(
            index, bits: Double(geometry.byteCount * 8), duration: duration,
            buffer: max(.zero, player.reached - player.position), now: now)
    }

    /// Whether what has come of a segment is kept back from the player for now.
    func isHeldBack(_ isPartial: Bool) -> Bool {
        guard isPartial else { return false }
        if world.policy.isWholeSegments { return true }
        return renditions != nil && feedOffset == 0 && player.reached - player.position > Self.feedLead
    }

    /// Bytes were handed to the player for the first time.
    func noteShown(_ byteCount: Int, of segment: SimulatedStream.Segment) {
        let seconds = segment.duration.inSeconds * Double(byteCount) / Double(segment.geometry.byteCount)
        figures.deliveredSeconds += seconds
        guard let rung = renditions?.rung(feedIndex) else { return }
        if figures.rungSeconds.isEmpty {
            figures.rungSeconds = Array(repeating: 0, count: world.stream.ladder.count)
        }
        figures.rungSeconds[rung] += seconds
    }

    /// A segment was handed to the player whole.
    func noteSwitch() {
        guard let rung = renditions?.rung(feedIndex) else { return }
        if let last = figures.lastRung, last != rung { figures.switches += 1 }
        figures.lastRung = rung
    }
}
