import CoreModel
import Cryptography
public import EventLoop
import HTTPTransfer
import Integrity
import Manifest
import Scheduling
import ViewerCore

/// One viewer's session: fetches a presentation's segments from the CDN and from peers, checks them, hands them to the
/// player in order and serves them to other peers.
///
/// All of it lives on one loop; every call but ``init(configuration:loop:sink:)`` is made there. Several sessions share a
/// loop.
public final class ViewerSession: @unchecked Sendable {  // Touched on the loop only; entry points check it.
    /// What the session plays and how.
    public let configuration: SessionConfiguration
    /// The loop that the session lives on.
    public let loop: EventLoop
    /// The figures so far; on the loop.
    public internal(set) var figures = ViewerFigures()
    /// Why the session ended, when it failed.
    public private(set) var failure: SessionError?
    /// The decisions so far, a JSON document a line, when the configuration asks for them.
    public internal(set) var decisions: [String] = []
    /// Told of each line for the session's log: how much it matters, the domain and a sentence.
    public var onLog: ((SessionLogLevel, String, String) -> Void)?

    /// The key that names this viewer among peers.
    let agreementKey: any AgreementKey
    weak var sink: (any SessionSink)?
    let suite = SystemCryptoSuite()
    let client: HTTPClient
    var scheduler: Scheduler
    var tracks: [TrackState] = []
    /// Where the picture is shown, in pixels.
    var viewport: PixelSize?
    /// The track whose segments are chosen from several renditions.
    var adaptiveTrack: Int?
    var fetches: [TransferID: CDNFetch] = [:]
    /// What is to be fetched once the timeline of its rendition is there.
    var waitingFetches: [WaitingFetch] = []
    /// The validators of resources that were asked for by range.
    var entityTags: [String: String] = [:]
    var startedAt = MonotonicInstant.origin
    /// CDN bytes until then count as start-up.
    var startupUntil = MonotonicInstant.origin
    var report = PlaybackReport()
    /// The tracks of which the player is being handed something, and whether it asked for more meanwhile.
    var pumps: [Int: Bool] = [:]
    var manifestLoader: ManifestLoader?
    var selection: ManifestLoader.Selection?
    /// Follows a live manifest.
    var live: LiveState?
    var swarm: SwarmMembership?
    /// The keys of encrypted resources.
    private(set) lazy var contentKeys = ContentKeyStore(
        client: client,
        onBytes: { [weak self] count, isRequest in
            self?.figures.bytes.cdnManifest += count
            if isRequest { self?.figures.requests.cdnManifest += 1 }
        }, onReady: { [weak self] in self?.pumpAll() }, onFailure: { [weak self] error in self?.fail(error) })
    /// Where segments go that have no room in memory; none without peers.
    var disk: SegmentDisk?
    private var tickTimer: LoopTimer?
    private var wakeTimer: LoopTimer?
    private var isDraining = false
    private(set) var isStopped = false

    /// How often the playhead is looked at.
    static let tick: Duration = .milliseconds(100)
    /// How long a start or seek counts as start-up in the figures.
    static let startupSpan: Duration = .seconds(10)

    /// Makes a session on the loop's thread; ``start()`` begins.
    ///
    /// - Parameter sink: Held weakly.
    public init(configuration: SessionConfiguration, loop: EventLoop, sink: any SessionSink) {
        loop.checkIsolated()
        self.configuration = configuration
        self.loop = loop
        self.sink = sink
        viewport = configuration.isLimitedToDisplay ? configuration.viewport : nil
        var http = HTTPClient.Configuration()
        http.certificateFile = configuration.certificateFile
        http.seed = configuration.scheduling.seed
        client = HTTPClient(loop: loop, configuration: http)
        var random = SystemRandom()
        agreementKey = suite.agreementKey(seed: SwarmMembership.seed(using: &random))
        var scheduling = configuration.scheduling
        scheduling.member = PeerID(agreementKey.publicKey).memberID
        if scheduling.seed == 0 { scheduling.seed = random.next() }
        scheduler = Scheduler(configuration: scheduling)
    }

    /// Begins to fetch the manifest, and to join the swarm when peers are wanted.
    public func start() {
        loop.checkIsolated()
        noteConfiguration()
        startedAt = loop.now
        startupUntil = startedAt.advanced(by: Self.startupSpan)
        tickTimer = LoopTimer(loop: loop) { [weak self] in self?.look() }
        wakeTimer = LoopTimer(loop: loop) { [weak self] in self?.feed(.timer) }
        if configuration.usesPeers {
            // Until the catalogue and the tracker have answered only what is urgent comes from the CDN.
            feed(.swarm(.joining(until: startedAt.advanced(by: .seconds(2)))))
            if configuration.diskByteCount > 0 { disk = SegmentDisk(session: self) }
            swarm = SwarmMembership(session: self)
            swarm?.start()
        } else {
            feed(.swarm(.off))
        }
        let loader = ManifestLoader(
            configuration: configuration, client: client,
            onBytes: { [weak self] count, isRequest in
                self?.figures.bytes.cdnManifest += count
                if isRequest { self?.figures.requests.cdnManifest += 1 }
            },
            completion: { [weak self] result in
                guard let self, !isStopped else { return }
                switch result {
                case .success(let selection):
                    if selection.presentation.isLive { follow(selection) } else { prepare(selection) }
                case .failure(let error): fail(error)
                }
            })
        manifestLoader = loader
        loader.start()
    }

    /// Ends every transfer and link; no event comes after it.
    public func stop() {
        loop.checkIsolated()
        guard !isStopped else { return }
        updateReport()
        isStopped = true
        manifestLoader?.cancel()
        live?.loader.stop()
        swarm?.stop()
        disk?.close()
        disk = nil
        tickTimer = nil
        wakeTimer = nil
        fetches = [:]
        waitingFetches = []
        client.close()
    }

    /// Starts again at another time: the player has dropped what it had.
    ///
    /// The first segment handed over is the one that holds `time`, with its initialisation section.
    public func seek(to time: Duration) {
        loop.checkIsolated()
        guard !isStopped else { return }
        let now = loop.now
        startupUntil = now.advanced(by: Self.startupSpan)
        report.position = time
        live?.didSeek(to: time, now: now)
        let mediaTime = MediaTime(ticks: time.nanosecondsClamped, timescale: 1_000_000_000)
        for index in tracks.indices {
            let segments = tracks[index].segments
            let place = segments.index(at: mediaTime) ?? max(segments.startIndex, segments.endIndex - 1)
            tracks[index].rewind(to: place)
        }
        noteSeek()
        feed(.seek(position: time))
        pumpAll()
        feed(.timer)
    }

    /// The player's clock has started, stopped or jumped: looks at it now and not at the next tick.
    public func playbackDidChange() {
        loop.checkIsolated()
        guard !isStopped else { return }
        look()
    }

    // MARK: - The scheduler's driver

    /// Gives the scheduler an input and carries its decisions out.
    func feed(_ input: SchedulerInput) {
        guard !isStopped else { return }
        tellScheduler(input)
        drain()
    }

    private func drain() {
        // A decision may cause an input at once; the loop that is running takes its outputs too.
        guard !isDraining else { return }
        isDraining = true
        defer { isDraining = false }
        while !isStopped {
            let output = askScheduler()
            if case .wait(let until) = output {
                // What was begun may make the next segment's choice due.
                if adaptiveTrack != nil, chooseRenditions() { continue }
                if let until { wakeTimer?.arm(at: until) }
                return
            }
            carryOut(output)
        }
    }

    private func carryOut(_ output: SchedulerOutput) {
        switch output {
        case .fetch(let id, let segment, let chunks, let reason):
            startFetch(id, segment, chunks: chunks, reason: reason)
        case .cancelFetch(let id, _): cancelFetch(id)
        case .request(let id, let peer, let segment, let chunks, let timeLeft, _):
            figures.requests.peers += 1
            if segment.track == adaptiveTrack {
                tracks[segment.track].renditions?.plan.requested(segment.index, now: loop.now)
            }
            swarm?.request(id, from: peer, segment, chunks: chunks, timeLeft: timeLeft)
        case .cancelRequest(let id, let peer, let reason):
            figures.requests.cancelled += 1
            if reason == .stalled { figures.requests.timedOut += 1 }
            swarm?.cancel(id, at: peer)
        case .claim(let segment, let waited, let owners):
            swarm?.claim(segment, waited: waited, owners: owners)
        case .drop(let peer, _): swarm?.drop(peer)
        case .unreachable(let segment):
            if playOtherwise(segment) || passOver(segment) { break }
            let url = reference(segment)?.url ?? configuration.url
            fail(.segmentUnreachable(url: url, tracks[segment.track].lastErrors[segment.index]))
        case .wait: break
        }
    }

    // MARK: - Playback

    func look() {
        updateReport()
        if adaptiveTrack != nil {
            reconsider()
            showRendition()
        }
        keepLatency()
        pumpAll()
        swarm?.tick()
        disk?.tick()
        tickTimer?.arm(after: Self.tick)
    }

    private func updateReport() {
        guard !isStopped, let sink else { return }
        let new = sink.playback(at: loop.now)
        figures.startupSeconds = new.startup?.inSeconds
        figures.stalls = new.stalls
        figures.stallSeconds = new.stallTime.inSeconds
        figures.playedSeconds = new.played.inSeconds
        if new.stalls > report.stalls { figures.deadlineMisses += new.stalls - report.stalls }
        report = new
        if !tracks.isEmpty { feed(.playback(position: new.position, isPlaying: new.isPlaying)) }
    }

    func fail(_ error: SessionError) {
        guard !isStopped else { return }
        failure = error
        figures.error = error.description
        log("session", error.description, .error)
        emit(.failed(error))
    }

    func emit(_ event: SessionEvent) { sink?.session(self, did: event) }

    func log(_ domain: String, _ sentence: String, _ level: SessionLogLevel = .info) {
        onLog?(level, domain, sentence)
    }

    func reference(_ id: SegmentID) -> SegmentReference? {
        guard tracks.indices.contains(id.track), tracks[id.track].segments.indices.contains(id.index) else {
            return nil
        }
        return tracks[id.track].segment(id.index)
    }
}

extension SegmentList {
    /// The segment that holds `time`; `nil` behind the end.
    func index(at time: MediaTime) -> Int? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].end <= time { low = middle + 1 } else { high = middle }
        }
        return low < endIndex ? low : nil
    }
}
