import CoreModel
import EventLoop
import HTTPTransfer
import Manifest

/// Fetches a manifest, chooses renditions and fetches their playlists or indexes. Confined to the session's loop.
final class ManifestLoader {
    /// What is to be played.
    struct Selection {
        var presentation: Presentation
        /// The renditions, video or multiplexed first.
        var renditions: [Rendition.ID]
        /// When the last load of the manifest began, and what date its answer had.
        var loadedAt = MonotonicInstant.origin
        var date: UnixTime?
        /// Why renditions that belong to it are left out, a sentence each.
        var omissions: [String] = []
    }

    /// The most bytes of a manifest, playlist or index.
    static let maximumByteCount = 16 << 20

    private let configuration: SessionConfiguration
    private let client: HTTPClient
    private let completion: (Result<Selection, SessionError>) -> Void
    private let onBytes: (Int, Bool) -> Void
    private var selection: Selection?
    /// Renditions whose playlist or index is under way.
    private var loading: Set<Rendition.ID> = []
    private var isDone = false
    private var isCancelled = false
    /// The last load: when it began, and the date of its answer.
    private var lastLoad = (startedAt: MonotonicInstant.origin, date: UnixTime?.none)
    private var isPlainFallbackAllowed = false

    /// - Parameters:
    ///   - onBytes: Told of the bytes of each answer, and whether a request began (with 0 bytes).
    ///   - completion: Called once.
    init(
        configuration: SessionConfiguration, client: HTTPClient, onBytes: @escaping (Int, Bool) -> Void,
        completion: @escaping (Result<Selection, SessionError>) -> Void
    ) {
        self.configuration = configuration
        self.client = client
        self.onBytes = onBytes
        self.completion = completion
    }

    func start() {
        var url = configuration.url
        if !url.contains("://") {
            // http only where nobody listens for https, and never where peers or a token are in play.
            isPlainFallbackAllowed = !configuration.usesPeers && configuration.token == nil
            url = "https://" + url
        }
        fetchManifest(url)
    }

    func cancel() {
        isDone = true
        isCancelled = true
    }

    private func fetchManifest(_ url: String) {
        fetch(url, .all) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(.refused) where isPlainFallbackAllowed:
                isPlainFallbackAllowed = false
                fetchManifest("http://" + configuration.url)
            case .failure(let error): finish(.failure(.unreachable(url: url, error)))
            case .success(let (bytes, finalURL)): parse(bytes, finalURL)
            }
        }
    }

    private func parse(_ bytes: [UInt8], _ url: String) {
        do {
            selection = try Self.choose(Presentation.parse(bytes, url: url), configuration)
            selection?.loadedAt = lastLoad.startedAt
            selection?.date = lastLoad.date
            loadMissing()
        } catch let error as SessionError {
            finish(.failure(error))
        } catch let error as ManifestError {
            finish(.failure(.manifest(url: url, error)))
        } catch {
            finish(.failure(.nothingPlayable(reason: "\(error)")))
        }
    }

    /// Fetches what the chosen renditions still need, for all at once: each costs a round trip.
    private func loadMissing() {
        guard let selection else { return }
        for id in selection.renditions where !loading.contains(id) {
            switch selection.presentation.requirement(for: id) {
            case .ready: continue
            case .playlist(let url): load(id, url, .all)
            case .segmentIndex(let url, let range): load(id, url, range.map { .range($0) } ?? .all)
            }
        }
        guard loading.isEmpty else { return }
        for id in selection.renditions {
            guard let timeline = selection.presentation.rendition(id)?.timeline,
                !timeline.segments.isEmpty || selection.presentation.isLive
            else {
                return finish(.failure(.nothingPlayable(reason: "The rendition \"\(id)\" has no segments.")))
            }
        }
        finish(.success(selection))
    }

    private func load(_ id: Rendition.ID, _ url: String, _ range: HTTPRequest.Bytes) {
        loading.insert(id)
        fetch(url, range) { [weak self] result in
            guard let self else { return }
            loading.remove(id)
            switch result {
            case .failure(let error): finish(.failure(.unreachable(url: url, error)))
            case .success(let (bytes, finalURL)):
                do throws(ManifestError) {
                    try selection?.presentation.load(id, bytes: bytes, finalURL: finalURL)
                    selection?.loadedAt = lastLoad.startedAt
                    selection?.date = lastLoad.date
                } catch {
                    return finish(.failure(.manifest(url: url, error)))
                }
                do throws(SessionError) {
                    try reconsider(id)
                    loadMissing()
                } catch {
                    finish(.failure(error))
                }
            }
        }
    }

    /// Chooses anew where a rendition turns out to be one that can't be played: HLS tells it in the media playlist.
    private func reconsider(_ id: Rendition.ID) throws(SessionError) {
        guard let presentation = selection?.presentation, presentation.obstacle(id, configuration) != nil else {
            return
        }
        selection = try Self.choose(presentation, configuration)
    }

    private func finish(_ result: Result<Selection, SessionError>) {
        guard !isDone else { return }
        isDone = true
        completion(result)
    }

    /// Fetches a manifest, a playlist or an index; also after what was chosen is complete.
    func fetch(
        _ url: String, _ range: HTTPRequest.Bytes,
        completion: @escaping (Result<([UInt8], String), HTTPError>) -> Void
    ) {
        var request = HTTPRequest(url: url)
        request.bytes = range
        request.maximumByteCount = Self.maximumByteCount
        request.retry = HTTPRequest.Retry(attempts: 4)
        request.allowsCompression = true
        onBytes(0, true)
        lastLoad = (EventLoop.now, nil)
        var body: [UInt8] = []
        var finalURL = url
        var wanted: Range<UInt64>?
        if case .range(let range) = range { wanted = range }
        var window = RangeWindow(wanted)
        client.start(request) { [weak self] event in
            guard let self, !isCancelled else { return }
            switch event {
            case .response(let response, _):
                finalURL = response.finalURL
                lastLoad.date = response.date
                window.begin(response)
            case .body(let bytes):
                onBytes(bytes.count, false)
                body += window.clip(bytes)
            case .finished:
                do throws(HTTPError) { try window.finish() } catch { return completion(.failure(error)) }
                completion(.success((body, finalURL)))
            case .failed(let error): completion(.failure(error))
            }
        }
    }

    // MARK: - Choice

    /// Chooses what to play: the rendition asked for, or the best that the start's bit rate carries, the same for every
    /// viewer with the same settings. What is encrypted with a key that can't be had is left out, and the rest plays.
    static func choose(
        _ presentation: Presentation, _ configuration: SessionConfiguration
    ) throws(SessionError) -> Selection {
        if let id = configuration.renditionID {
            guard let rendition = presentation.rendition(id) else {
                let known = presentation.renditions.map(\.id).joined(separator: ", ")
                throw .setting(name: "rendition", reason: "there is no \"\(id)\" among \(known).")
            }
            if let reason = presentation.obstacle(id, configuration) {
                throw .setting(name: "rendition", reason: reason)
            }
            let variant = rendition.kind == .audio ? nil : presentation.variants.first { $0.video == id }
            return Selection(presentation, id, of: variant, configuration)
        }
        let sorted = presentation.variants.sorted { $0.bandwidth < $1.bandwidth }
        let selections = sorted.map { (variant: $0, it: Selection(presentation, $0.video, of: $0, configuration)) }
        // Best is what is whole, then pictures without sound, then sound without pictures.
        for wanted in [Selection.Extent.whole, .pictures, .sound] {
            let candidates = selections.filter { $0.it.extent == wanted }
            guard let lowest = candidates.first else { continue }
            var selection = (candidates.last { $0.variant.bandwidth <= configuration.startBitsPerSecond } ?? lowest).it
            let keyIDs = Set(configuration.contentKeys.keys)
            if let ladder = RenditionLadder(around: selection.renditions[0], in: presentation, keyIDs: keyIDs) {
                // Each segment is chosen for; what goes beside them stays.
                selection.renditions[0] = ladder.renditions[ladder.startRung(configuration)].id
            }
            return selection
        }
        let reason = presentation.renditions.lazy.compactMap { presentation.obstacle($0.id, configuration) }.first
        throw .nothingPlayable(reason: reason ?? "The manifest has no rendition with video or audio.")
    }

    /// The audio of a variant to play, and why that is not the one which would be played otherwise.
    fileprivate static func audio(
        of variant: Variant, _ presentation: Presentation, _ configuration: SessionConfiguration
    ) -> (id: Rendition.ID?, omission: String?) {
        let inLanguage = configuration.audioLanguage.flatMap {
            first(variant.audioOptions, in: $0, of: presentation)
        }
        guard let wanted = inLanguage ?? variant.audio else { return (nil, nil) }
        guard let reason = presentation.obstacle(wanted, configuration) else { return (wanted, nil) }
        let language = presentation.rendition(wanted)?.language
        let others = variant.audioOptions.filter { presentation.obstacle($0, configuration) == nil }
        return (others.first { presentation.rendition($0)?.language == language } ?? others.first, reason)
    }

    /// The text rendition that a viewer of the language would read.
    static func subtitles(_ presentation: Presentation, language: String) -> Rendition.ID? {
        first(presentation.renditions.filter { $0.kind == .text }.map(\.id), in: language, of: presentation)
    }

    /// The first rendition in a language: of the very tag, or else of a narrower one (`pt-BR` for `pt`).
    private static func first(
        _ candidates: [Rendition.ID], in language: String, of presentation: Presentation
    ) -> Rendition.ID? {
        let language = language.lowercased()
        func tag(_ id: Rendition.ID) -> String { presentation.rendition(id)?.language?.lowercased() ?? "" }
        return candidates.first { tag($0) == language } ?? candidates.first { tag($0).hasPrefix(language + "-") }
    }
}

extension ManifestLoader.Selection {
    /// How much of a variant plays.
    fileprivate enum Extent { case whole, pictures, sound, nothing }

    /// A rendition, and the audio of its variant, as far as they can be played.
    fileprivate init(
        _ presentation: Presentation, _ video: Rendition.ID?, of variant: Variant?,
        _ configuration: SessionConfiguration
    ) {
        let obstacle = video.flatMap { presentation.obstacle($0, configuration) }
        let audio =
            variant.map { ManifestLoader.audio(of: $0, presentation, configuration) } ?? (id: nil, omission: nil)
        self.init(
            presentation: presentation, renditions: [obstacle == nil ? video : nil, audio.id].compactMap { $0 },
            omissions: [obstacle, audio.omission].compactMap { $0 })
    }

    fileprivate var extent: Extent {
        guard let first = renditions.first, let kind = presentation.rendition(first)?.kind else { return .nothing }
        // Another language is better than none.
        if omissions.isEmpty || renditions.count > 1 { return .whole }
        return kind == .audio ? .sound : .pictures
    }
}

extension Presentation {
    /// Why a rendition can't be played with the keys of a viewer.
    func obstacle(_ id: Rendition.ID, _ configuration: SessionConfiguration) -> String? {
        rendition(id)?.unsupportedReason(keyIDs: Set(configuration.contentKeys.keys))
    }
}
