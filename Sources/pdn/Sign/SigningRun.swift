import CommandLineSupport
import CoreModel
import HTTPTransfer
import Integrity
import Manifest

/// One run of `pdn sign`.
struct SigningRun {
    let options: SignOptions
    let downloader: SegmentDownloader

    /// What a run did.
    struct Summary: Sendable {
        var output: String
        var stream: StreamID
        var keys: [VerificationKey]
        var recordCount: Int
        var renditionCount: Int
        var mediaByteCount: Int
        var downloadedByteCount: Int
        var catalogueByteCount: Int
        var skipped: Int

        func print(asJSON: Bool) {
            guard asJSON else {
                Terminal.print(
                    "\(output): \(recordCount) records of \(renditionCount) renditions over "
                        + "\(Quantity.describe(byteCount: mediaByteCount)), \(Quantity.describe(byteCount: catalogueByteCount))"
                )
                return
            }
            Terminal.print([
                "catalogue": .string(output), "stream": .string(stream.description),
                "keys": .array(keys.map { .string($0.description) }), "records": .integer(recordCount),
                "renditions": .integer(renditionCount), "mediaBytes": .integer(mediaByteCount),
                "downloadedBytes": .integer(downloadedByteCount), "catalogueBytes": .integer(catalogueByteCount),
                "skipped": .integer(skipped),
            ])
        }
    }

    /// Does everything.
    func run() async throws -> Summary {
        var plan = SigningPlan()
        for url in options.manifests { plan.add(try await presentation(url), suite: options.suite) }
        for note in plan.notes { Terminal.note("pdn sign: \(note)") }
        guard !plan.resources.isEmpty else {
            throw CommandFailure.badInput("the manifests name no segment that can be signed")
        }
        let journal = try SigningJournal(
            path: options.output + ".journal", startsOver: options.startsOver, suite: options.suite)
        var trees: [SegmentResource: SegmentTree] = [:]
        for resource in plan.resources { trees[resource] = journal.finished[resource] }
        let missing = plan.resources.filter { trees[$0] == nil }
        let resumed = trees.count
        if resumed > 0 { Terminal.note("pdn sign: \(resumed) segments are known from an earlier run") }
        let (downloaded, skipped) = try await download(missing, of: plan.resources.count, journal: journal)
        trees.merge(downloaded) { first, _ in first }

        let issued = WallClock.now
        let segments = plan.sign(
            trees, stream: options.stream, epoch: options.epoch, keys: options.keys, issued: issued,
            expires: issued + options.life)
        let file = try catalogue(plan, segments, issued: issued)
        try AtomicFile.write(file, to: options.output)
        journal.remove()
        return Summary(
            output: options.output, stream: options.stream, keys: options.keys.map(\.verificationKey),
            recordCount: segments.count, renditionCount: plan.renditions.count,
            mediaByteCount: trees.values.reduce(0) { $0 + $1.geometry.byteCount },
            downloadedByteCount: await downloader.byteCount, catalogueByteCount: file.count, skipped: skipped)
    }

    // MARK: Manifests

    /// Fetches a manifest with everything that its timelines need.
    private func presentation(_ url: String) async throws -> Presentation {
        let manifest = try await document(SegmentResource(url: url))
        do {
            var presentation = try Presentation.parse(manifest.bytes, url: manifest.finalURL)
            for id in presentation.renditions.map(\.id) { try await load(id, into: &presentation) }
            guard !presentation.isLive else {
                throw CommandFailure.badInput(
                    "\(SegmentResource.publicName(of: url)) is live; 'pdn sign' signs what is complete")
            }
            return presentation
        } catch let error as ManifestError {
            throw CommandFailure.badInput("\(SegmentResource.publicName(of: url)): \(error)")
        }
    }

    private func load(_ id: Rendition.ID, into presentation: inout Presentation) async throws {
        while true {
            let resource: SegmentResource
            switch presentation.requirement(for: id) {
            case .ready: return
            case .playlist(let url): resource = SegmentResource(url: url)
            case .segmentIndex(let url, let range): resource = SegmentResource(url: url, byteRange: range)
            }
            let answer = try await document(resource)
            try presentation.load(id, bytes: answer.bytes, finalURL: answer.finalURL)
        }
    }

    private func document(_ resource: SegmentResource) async throws -> (bytes: [UInt8], finalURL: String) {
        do {
            return try await downloader.document(resource)
        } catch let error as HTTPError {
            throw CommandFailure.unreachable("\(resource.publicName): \(error)")
        }
    }

    // MARK: Segments

    /// Downloads and hashes resources, as many at once as the options say.
    ///
    /// - Returns: The trees, and how many resources were passed over.
    private func download(
        _ resources: [SegmentResource], of total: Int, journal: borrowing SigningJournal
    ) async throws -> (trees: [SegmentResource: SegmentTree], skipped: Int) {
        var trees: [SegmentResource: SegmentTree] = [:]
        var skipped = 0
        var bar = ProgressBar()
        defer { bar.clear() }
        try await withThrowingTaskGroup(of: (SegmentResource, SegmentTree?).self) { group in
            var waiting = resources[...]
            for _ in 0..<options.jobs {
                guard let next = waiting.popFirst() else { break }
                group.addTask { (next, try await tree(of: next)) }
            }
            while let (resource, tree) = try await group.next() {
                if let tree {
                    trees[resource] = tree
                    journal.note(resource, tree)
                } else {
                    skipped += 1
                    bar.clear()
                    Terminal.note("pdn sign: \(resource.publicName) is empty or too large; it goes without peers")
                }
                let done = total - resources.count + trees.count + skipped
                let bytes = Quantity.describe(byteCount: await downloader.byteCount)
                bar.show(Double(done) / Double(total), "\(done)/\(total) segments, \(bytes)")
                if let next = waiting.popFirst() { group.addTask { (next, try await self.tree(of: next)) } }
            }
        }
        return (trees, skipped)
    }

    private func tree(of resource: SegmentResource) async throws -> SegmentTree? {
        do {
            return try await downloader.tree(of: resource)
        } catch let error as HTTPError {
            let message = "\(resource.publicName): \(error); the same command goes on from here"
            switch error {
            case .resolve, .refused, .connect, .tls, .firstByteTimeout: throw CommandFailure.unreachable(message)
            case .invalidURL, .stalled, .status, .truncated, .wrongLength, .tooLarge, .redirectRefused, .other:
                throw CommandFailure.failed(message)
            }
        }
    }

    // MARK: Output

    private func catalogue(
        _ plan: SigningPlan, _ segments: [SignedSegment], issued: UnixTime
    ) throws(CommandFailure) -> [UInt8] {
        let writer = CatalogueWriter(
            stream: options.stream, epoch: options.epoch, title: options.title, renditions: plan.renditions,
            issued: issued, expires: issued + options.life)
        do {
            return try writer.file(of: segments, signedBy: options.keys, suite: options.suite)
        } catch {
            switch error {
            case .empty: throw .badInput("no segment could be signed")
            case .tooLarge: throw .badInput("the title has more segments or renditions than a catalogue holds")
            case .ambiguousRendition, .foreignSegment, .duplicate:
                throw .failed("the catalogue contradicts itself: \(error)")
            }
        }
    }
}
