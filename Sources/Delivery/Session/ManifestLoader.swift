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
            let presentation = try Presentation.parse(bytes, url: url)
            let renditions = try Self.choose(presentation, configuration)
            selection = Selection(
                presentation: presentation, renditions: renditions, loadedAt: lastLoad.startedAt, date: lastLoad.date)
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
                    if let reason = selection?.presentation.rendition(id)?.unsupportedReason {
                        return finish(.failure(.nothingPlayable(reason: reason)))
                    }
                    loadMissing()
                } catch {
                    finish(.failure(.manifest(url: url, error)))
                }
            }
        }
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
    /// viewer with the same settings.
    static func choose(
        _ presentation: Presentation, _ configuration: SessionConfiguration
    ) throws(SessionError) -> [Rendition.ID] {
        let playable = presentation.variants.filter { variant in
            [variant.video, variant.audio].compactMap { $0 }.allSatisfy {
                presentation.rendition($0)?.unsupportedReason == nil
            }
        }
        if let id = configuration.renditionID {
            guard let rendition = presentation.rendition(id) else {
                let known = presentation.renditions.map(\.id).joined(separator: ", ")
                throw .setting(name: "rendition", reason: "there is no \"\(id)\" among \(known).")
            }
            if let reason = rendition.unsupportedReason { throw .setting(name: "rendition", reason: reason) }
            guard rendition.kind != .audio else { return [id] }
            let variant = presentation.variants.first { $0.video == id }
            return [id] + [variant.flatMap { Self.audio(of: $0, presentation, configuration) }].compactMap { $0 }
        }
        let sorted = playable.sorted { $0.bandwidth < $1.bandwidth }
        guard let lowest = sorted.first else {
            let reason = presentation.renditions.lazy.compactMap(\.unsupportedReason).first
            throw .nothingPlayable(reason: reason ?? "The manifest has no rendition with video or audio.")
        }
        let variant = sorted.last { $0.bandwidth <= configuration.startBitsPerSecond } ?? lowest
        let audio = Self.audio(of: variant, presentation, configuration)
        let renditions = [variant.video, audio].compactMap { $0 }
        guard let first = renditions.first, let ladder = RenditionLadder(around: first, in: presentation) else {
            return renditions
        }
        // Each segment is chosen for; what goes beside them stays.
        return [ladder.renditions[ladder.startRung(configuration)].id] + renditions.dropFirst()
    }

    private static func audio(
        of variant: Variant, _ presentation: Presentation, _ configuration: SessionConfiguration
    ) -> Rendition.ID? {
        guard let language = configuration.audioLanguage else { return variant.audio }
        return Self.first(variant.audioOptions, in: language, of: presentation) ?? variant.audio
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
