import CoreModel
import EventLoop
import HTTPTransfer
import Integrity
import Manifest
public import Scheduling
import ViewerCore

/// Which rendition each segment is played in: what a player does around ``RenditionPlan``. Nothing of it happens where there
/// is one rendition.
extension ViewerSession {
    /// Without peers a player keeps no more ahead than this; with them segments are chosen as far as the scheduler asks peers.
    private static let horizon: Duration = .seconds(90)
    /// Of a segment that is still coming, nothing is handed over before the player needs it within this: until then it can be
    /// given up for a lower rendition.
    private static let feedLead: Duration = .seconds(2)

    // MARK: - Choosing

    /// Chooses for the segments whose turn it is, and tells the scheduler.
    ///
    /// - Returns: Whether there was any.
    func chooseRenditions() -> Bool {
        guard let track = adaptiveTrack,
            let frontier = tracks[track].renditions?.plan.frontier(from: tracks[track].feedIndex),
            frontier < tracks[track].segments.count,
            tracks[track].segments[frontier].start.duration < report.position + Self.horizon,
            tracks[track].renditions?.plan.isDue(
                frontier, missingBits: missingBits(before: frontier, of: track),
                isShared: (swarm?.books.peerCount ?? 0) > 0) ?? false
        else { return false }
        return chooseRendition(frontier, of: track)
    }

    /// Chooses for a segment of which nothing was asked for, and tells the scheduler where that is another than before.
    ///
    /// - Returns: Whether it is.
    @discardableResult
    func chooseRendition(_ index: Int, of track: Int) -> Bool {
        let known = tracks[track].renditions?.plan.count ?? 0
        guard let decision = decide(index, of: track) else { return false }
        note(decision, of: SegmentID(track: track, index: index))
        guard index >= known else {
            replace(SegmentID(track: track, index: index))
            return true
        }
        // With it become known those before it, which a seek has jumped over.
        let added = (known...index).map { SegmentID(track: track, index: $0) }
        tellScheduler(.segments(track: track, added.map(description)))
        for id in added where loadTimeline(of: id) { segmentDidLoad(id) }
        return true
    }

    private func decide(_ index: Int, of track: Int) -> BitrateDecision? {
        let absent = tracks[track].renditions?.absentRungs(index) ?? []
        if let rung = tracks[track].renditions?.manualRung, !absent.contains(rung) {
            return tracks[track].renditions?.plan.set(index, to: rung)
        }
        let outlook = outlook(index, of: track, missingBits: missingBits(before: index, of: track))
        return tracks[track].renditions?.plan.choose(index, outlook)
    }

    private func description(_ id: SegmentID) -> SegmentDescription {
        let state = tracks[id.track]
        let rate = state.renditions?.plan.bitsPerSecond(id.index) ?? 1_000_000
        return Self.describe(
            state.segment(id.index), bitsPerSecond: Double(rate), playsProgressively: state.playsProgressively)
    }

    /// What is known of a segment with its rendition's timeline.
    private func segmentDidLoad(_ id: SegmentID) {
        learnSize(id)
        swarm?.didChoose(id)
        if id.index >= tracks[id.track].feedIndex { loadInitialization(track: id.track, segment: id.index) }
    }

    /// Bits of the segments from the one that the player gets next on that were begun, as far as they are not there.
    private func missingBits(before frontier: Int, of track: Int) -> Double {
        var missing = 0.0
        for index in tracks[track]
            .feedIndex..<max(tracks[track].feedIndex, min(frontier, tracks[track].renditions?.plan.count ?? 0))
        {
            let buffer = tracks[track].buffers[index]
            guard buffer?.isComplete != true else { continue }
            let size = bits(of: index, in: track)
            missing += max(0, size - Double((buffer?.present.count ?? 0) * SegmentGeometry.chunkByteCount * 8))
        }
        return missing
    }

    /// The size of a segment, as far as it is known.
    private func bits(of index: Int, in track: Int) -> Double {
        if let byteCount = tracks[track].buffers[index]?.byteCount { return Double(byteCount) * 8 }
        let rate = tracks[track].renditions?.plan.bitsPerSecond(index) ?? 0
        return Double(rate) * tracks[track].segments[index].duration.seconds
    }

    private func outlook(_ index: Int, of track: Int, missingBits: Double) -> RenditionPlan.Outlook {
        let segment = tracks[track].segments[index]
        let renditions = tracks[track].renditions
        return RenditionPlan.Outlook(
            distance: segment.start.duration - report.position, missingBits: missingBits,
            capacity: renditions?.capacity ?? .zero, duration: segment.duration.duration,
            segmentsLeft: selection?.presentation.isLive == true ? nil : tracks[track].segments.count - index,
            segmentBits: segmentBits(index, of: track),
            offers: swarm?.offers(SegmentID(track: track, index: index)) ?? [],
            highestRung: renditions?.highestRung ?? 0, absentRungs: renditions?.absentRungs(index) ?? [])
    }

    /// The segment's size at each rung, where the manifest tells them all.
    private func segmentBits(_ index: Int, of track: Int) -> [Double] {
        guard let renditions = tracks[track].renditions else { return [] }
        var bits: [Double] = []
        for rung in 0..<renditions.count {
            guard let range = renditions.segment(index, at: rung)?.byteRange else { return [] }
            bits.append(Double(range.count) * 8)
        }
        return bits
    }

    // MARK: - Another rendition than before

    /// Gives up what comes too slowly, for a lower rendition.
    func reconsider() {
        guard let track = adaptiveTrack, tracks[track].renditions?.manualRung == nil,
            let index = tracks[track].renditions?.plan.contested, index == tracks[track].feedIndex,
            tracks[track].feedOffset == 0, !tracks[track].hasBegun, tracks[track].buffers[index]?.isComplete != true
        else { return }
        let received = Double((tracks[track].buffers[index]?.receivedByteCount ?? 0) * 8)
        let outlook = outlook(index, of: track, missingBits: 0)
        let bits = bits(of: index, in: track)
        guard
            let decision = tracks[track].renditions?.plan.abandon(
                index, bits: bits, receivedBits: min(received, bits), outlook, now: loop.now)
        else { return }
        note(decision, of: SegmentID(track: track, index: index))
        replace(SegmentID(track: track, index: index))
        feed(.timer)
    }

    /// Starts again with a segment in another rendition: what is there of the former one is lost.
    private func replace(_ id: SegmentID) {
        if let buffer = tracks[id.track].buffers[id.index] {
            figures.bytes.wasted += buffer.receivedByteCount
            disk?.discard(id)
        }
        swarm?.disown(id)
        tracks[id.track].forget(id.index)
        tellScheduler(.rendition(id, description(id)))
        if loadTimeline(of: id) { segmentDidLoad(id) }
    }

    /// The CDN has a segment no more: where peers don't hold it all it is played in another rendition at once, and not only when
    /// it is due.
    func replaceLost(_ id: SegmentID) -> Bool {
        guard id.track == adaptiveTrack, let rung = tracks[id.track].renditions?.plan.rung(id.index) else {
            return false
        }
        let offers = swarm?.offers(id) ?? []
        guard offers.isEmpty || offers[rung].peerShare < 1, playOtherwise(id) else { return false }
        feed(.timer)
        return true
    }

    /// Plays a segment that can't be had in the rendition that was chosen in another one; false where there is none, or the
    /// player has something of it already.
    func playOtherwise(_ id: SegmentID) -> Bool {
        guard id.track == adaptiveTrack,
            id.index > tracks[id.track].feedIndex
                || id.index == tracks[id.track].feedIndex && !tracks[id.track].hasBegun
        else { return false }
        tracks[id.track].renditions?.lose(id.index)
        let rung = tracks[id.track].renditions?.plan.rung(id.index) ?? 0
        log(
            "cdn", "segment \(id) can't be had in \"\(tracks[id.track].rendition(id.index))\"; another is tried",
            .warning)
        return chooseRendition(id.index, of: id.track) && tracks[id.track].renditions?.plan.rung(id.index) != rung
    }

    // MARK: - Timelines

    /// Whether the timeline of a segment's rendition is there; where it isn't it is asked for. What the scheduler wants of the
    /// segment waits meanwhile.
    private func loadTimeline(of id: SegmentID) -> Bool {
        guard let renditions = tracks[id.track].renditions else { return true }
        let rung = renditions.plan.rung(id.index)
        if renditions.isReady(rung) { return true }
        guard tracks[id.track].renditions?.begin(rung) == true else { return false }
        requestTimeline(rung, of: id.track)
        return tracks[id.track].renditions?.isReady(rung) == true
    }

    private func requestTimeline(_ rung: Int, of track: Int) {
        guard let id = tracks[track].renditions?.id(rung) else { return }
        let (url, bytes): (String, HTTPRequest.Bytes)
        switch selection?.presentation.requirement(for: id) {
        case .playlist(let address): (url, bytes) = (address, .all)
        case .segmentIndex(let address, let range): (url, bytes) = (address, range.map { .range($0) } ?? .all)
        case .ready, nil: return takeTimeline(of: id, rung, track)
        }
        manifestLoader?.fetch(url, bytes) { [weak self] result in
            guard let self, !isStopped else { return }
            do {
                let (bytes, finalURL) = try result.get()
                try selection?.presentation.load(id, bytes: bytes, finalURL: finalURL)
                requestTimeline(rung, of: track)
                guard tracks[track].renditions?.isReady(rung) == true else { return }
                timelineDidLoad(rung, of: track)
            } catch {
                leave(rung, of: track, because: "\(error)")
            }
        }
    }

    private func takeTimeline(of id: Rendition.ID, _ rung: Int, _ track: Int) {
        guard let rendition = selection?.presentation.rendition(id), let timeline = rendition.timeline,
            rendition.container == tracks[track].rendition.container
        else { return leave(rung, of: track, because: "it is of another kind") }
        if let obstacle = selection?.presentation.obstacle(id, configuration) {
            return leave(rung, of: track, because: obstacle)
        }
        tracks[track].renditions?.take(timeline.segments, for: rung)
        swarm?.timelineDidLoad(of: id, track: track)
    }

    /// What waited for a rung's timeline goes on, where the rung has it.
    private func timelineDidLoad(_ rung: Int, of track: Int) {
        for id in chosen(rung, of: track) where tracks[track].renditions?.isKnown(id.index) == true {
            segmentDidLoad(id)
        }
        let waiting = waitingFetches.filter { $0.segment.track == track && tracks[track].isKnown($0.segment.index) }
        waitingFetches.removeAll { fetch in waiting.contains { $0.id == fetch.id } }
        for fetch in waiting { startFetch(fetch.id, fetch.segment, chunks: fetch.chunks, reason: fetch.reason) }
        if tracks[track].renditions?.manualRung == rung { changeToManual(track) }
        chooseAgain(rung, of: track)
    }

    /// A rung can't be played: what the player has nothing of is chosen for again.
    private func leave(_ rung: Int, of track: Int, because reason: String) {
        let name = tracks[track].renditions?.id(rung) ?? ""
        log("session", "the rendition \"\(name)\" is left out: \(reason)", .warning)
        tracks[track].renditions?.fail(rung)
        if tracks[track].renditions?.manualRung == rung { tracks[track].renditions?.manualRung = nil }
        chooseAgain(rung, of: track)
    }

    /// Chooses again for what was chosen at a rung that turns out not to have it.
    private func chooseAgain(_ rung: Int, of track: Int) {
        for id in chosen(rung, of: track) where tracks[track].renditions?.absentRungs(id.index).contains(rung) == true {
            chooseRendition(id.index, of: track)
        }
        feed(.timer)
    }

    /// The segments that are chosen at a rung and that the player has nothing of.
    private func chosen(_ rung: Int, of track: Int) -> [SegmentID] {
        guard let plan = tracks[track].renditions?.plan else { return [] }
        let first = tracks[track].feedIndex + (tracks[track].hasBegun ? 1 : 0)
        return (first..<max(first, plan.count)).filter { plan.rung($0) == rung }.map {
            SegmentID(track: track, index: $0)
        }
    }

    // MARK: - What happens

    /// Playback goes on elsewhere: what has nothing of it there is chosen for again.
    func noteSeek() {
        guard let track = adaptiveTrack else { return }
        let buffers = tracks[track].buffers
        tracks[track].renditions?.plan.sought { index in
            guard let buffer = buffers[index] else { return false }
            return buffer.receivedByteCount > 0 || disk?.store.holds(SegmentID(track: track, index: index)) == true
        }
    }

    /// A chunk came from a peer.
    func notePeer(byteCount: Int, completing id: SegmentID) {
        tracks[id.track].renditions?.plan.peerReceived(byteCount: byteCount, now: loop.now)
        noteCompleted(id)
    }

    /// Tells the plan of a segment that has become complete; before the scheduler, which goes on to the next.
    func noteCompleted(_ id: SegmentID) {
        guard id.track == adaptiveTrack, let buffer = tracks[id.track].buffers[id.index], buffer.isComplete,
            tracks[id.track].renditions?.plan.isComplete(id.index) == false
        else { return }
        var reached = tracks[id.track].feedIndex
        while reached < tracks[id.track].segments.count, tracks[id.track].buffers[reached]?.isComplete == true {
            reached += 1
        }
        let segments = tracks[id.track].segments
        let end = reached > 0 ? segments[reached - 1].end.duration : .zero
        tracks[id.track].renditions?.plan.completed(
            id.index, bits: Double((buffer.byteCount ?? 0) * 8), duration: segments[id.index].duration.duration,
            buffer: max(.zero, end - report.position), now: loop.now)
    }

    /// Whether what has come of a segment is kept back from the player for now: it can still be given up.
    func isHeldBack(_ segment: SegmentReference, _ buffer: SegmentBuffer, of track: Int) -> Bool {
        guard track == adaptiveTrack, tracks[track].feedOffset == 0, let renditions = tracks[track].renditions,
            renditions.manualRung == nil, !buffer.isComplete
        else { return false }
        let index = tracks[track].feedIndex
        if segment.start.duration - report.position > Self.feedLead { return true }
        // While nothing is played nothing is to be lost by it.
        guard !report.isPlaying, renditions.plan.rung(index) > 0 else { return false }
        let missing = bits(of: index, in: track) - Double(buffer.receivedByteCount * 8)
        return !renditions.plan.keepsUp(
            index, missingBits: max(0, missing), duration: segment.duration.duration, now: loop.now)
    }

    /// A segment was handed to the player whole.
    func noteSwitch(_ index: Int, of track: Int) {
        guard track == adaptiveTrack, let rung = tracks[track].renditions?.plan.rung(index) else { return }
        if let last = tracks[track].renditions?.lastRung, last != rung { figures.switches += 1 }
        tracks[track].renditions?.lastRung = rung
    }

    /// Tells which rendition is on screen, when it has changed.
    func showRendition() {
        guard let track = adaptiveTrack, let renditions = tracks[track].renditions else { return }
        let position = MediaTime(ticks: report.position.nanosecondsClamped, timescale: 1_000_000_000)
        guard let index = tracks[track].segments.index(at: position), renditions.isKnown(index),
            index < tracks[track].feedIndex || index == tracks[track].feedIndex && tracks[track].hasBegun
        else { return }
        let rung = renditions.plan.rung(index)
        guard rung != renditions.shownRung else { return }
        tracks[track].renditions?.shownRung = rung
        emit(.renditionShown(track: track, renditions.id(rung)))
    }

    /// The bit rate of what was chosen last, in all tracks.
    var playedBitsPerSecond: Int {
        tracks.indices.reduce(0) { sum, track in
            guard let plan = tracks[track].renditions?.plan, plan.count > 0 else {
                // What a manifest says of its bandwidth may be absurd.
                return sum + Int(UInt32(clamping: tracks[track].information.bitsPerSecond))
            }
            return sum + Int(UInt32(clamping: plan.bitsPerSecond(plan.count - 1)))
        }
    }

    // MARK: - What the viewer wants

    /// Plays the first track in a rendition from now on; `nil` chooses automatically again. One that isn't known does nothing.
    ///
    /// What the player has been given is played as it is, what waits for it is dropped.
    public func setRendition(_ id: String?) {
        loop.checkIsolated()
        guard !isStopped, let track = adaptiveTrack else { return }
        guard let id else {
            guard let former = tracks[track].renditions?.manualRung else { return }
            tracks[track].renditions?.manualRung = nil
            for id in chosen(former, of: track) { chooseRendition(id.index, of: track) }
            return feed(.timer)
        }
        guard let rung = tracks[track].renditions?.rung(of: id) else { return }
        tracks[track].renditions?.manualRung = rung
        tracks[track].renditions?.plan.limitsChanged()
        if tracks[track].renditions?.isReady(rung) == true {
            changeToManual(track)
        } else if tracks[track].renditions?.begin(rung) == true {
            requestTimeline(rung, of: track)
        }
        feed(.timer)
    }

    private func changeToManual(_ track: Int) {
        guard let renditions = tracks[track].renditions, let rung = renditions.manualRung else { return }
        for other in 0..<renditions.count where other != rung {
            for id in chosen(other, of: track) where renditions.segment(id.index, at: rung)?.isGap == false {
                chooseRendition(id.index, of: track)
            }
        }
    }

    /// The picture is shown in so many pixels from now on; `nil` when that isn't known or doesn't matter.
    public func setViewport(_ size: PixelSize?) {
        loop.checkIsolated()
        guard !isStopped, configuration.isLimitedToDisplay else { return }
        viewport = size
        guard let track = adaptiveTrack else { return }
        tracks[track].renditions?.limits.viewport = size
        tracks[track].renditions?.plan.limitsChanged()
        feed(.timer)
    }
}
