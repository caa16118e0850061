import CommandLineSupport
import Manifest

/// `pdn inspect`: shows a manifest as this project understands it.
enum InspectCommand: Subcommand {
    static let name = "inspect"

    static let specification = CommandSpecification(
        name: "pdn inspect", summary: "shows an HLS playlist or an MPD as this player understands it",
        operands: "URL-or-FILE", operandCount: 1...1,
        options: [
            .value("base", "URL", "take the manifest as if it had been fetched from this URL"),
            .flag("json", "print one JSON document instead of a tree"),
            .flag("follow", "fetch media playlists and segment indexes too, and show their timelines"),
            .value("live", "N", "follow a live manifest and show the first N refreshes that bring something"),
            .repeated("define", "NAME=VALUE", "a value for EXT-X-DEFINE:IMPORT"),
        ],
        notes: ["Exit codes: 3 if the input is no manifest, 4 if it can't be read or reached."])

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        let refreshCount: Int? =
            arguments.value("live") == nil ? nil : try arguments.integer("live", in: 1...100_000, default: 1)
        let variables = try variables(arguments.values("define"))
        let reader = try ResourceReader(limit: ManifestLimits.playlistByteCount)
        defer { reader.close() }
        var resource = try await reader.read(arguments.operands[0])
        if let base = arguments.value("base") { resource.url = base }
        let document: ManifestDocument
        var presentation: Presentation
        do {
            document = try ManifestDocument.parse(resource.bytes, url: resource.url, variables: variables)
            if arguments.flag("json"), !arguments.flag("follow"), refreshCount == nil {
                Terminal.print(try ManifestInspection.json(document))
                return .done
            }
            presentation = try Presentation(document)
        } catch {
            throw CommandFailure.badInput("\(arguments.operands[0]): \(error)")
        }
        let live = refreshCount == nil ? nil : LiveInspection.renditions(of: presentation)
        if arguments.flag("follow") || live != nil {
            try await follow(&presentation, reader, only: arguments.flag("follow") ? nil : live)
        }
        if !arguments.flag("json") {
            for line in ManifestInspection.tree(presentation) { Terminal.print(line) }
        }
        var refreshes: [JSONValue]?
        if let refreshCount {
            guard presentation.isLive else {
                throw CommandFailure.badInput("\(arguments.operands[0]) is not live: nothing follows")
            }
            let outcome = await LiveInspection.run(
                presentation, limit: refreshCount, printsLines: !arguments.flag("json"), loop: reader.loop)
            refreshes = outcome.refreshes
        }
        if arguments.flag("json") {
            Terminal.print(try json(document, presentation, refreshes, operand: arguments.operands[0]))
        }
        return .done
    }

    private static func variables(_ definitions: [String]) throws(CommandFailure) -> [String: String] {
        var variables: [String: String] = [:]
        for definition in definitions {
            guard let equals = definition.firstIndex(of: "=") else {
                throw .usage("--define wants NAME=VALUE, not \(definition)")
            }
            variables[String(definition[..<equals])] = String(definition[definition.index(after: equals)...])
        }
        return variables
    }

    private static func json(
        _ document: ManifestDocument, _ presentation: Presentation, _ refreshes: [JSONValue]?, operand: String
    ) throws(CommandFailure) -> JSONValue {
        do {
            let manifest = try ManifestInspection.json(document)
            guard case .object(let members) = manifest else { return manifest }
            let live = refreshes.map { [(name: "refreshes", value: JSONValue.array($0))] } ?? []
            return .object(members + [(name: "presentation", value: ManifestInspection.json(presentation))] + live)
        } catch {
            throw .badInput("\(operand): \(error)")
        }
    }

    /// Loads what every rendition needs, or some. One that fails is named on stderr and left out.
    private static func follow(
        _ presentation: inout Presentation, _ reader: ResourceReader, only renditions: [Rendition.ID]?
    ) async throws {
        for rendition in presentation.renditions where renditions?.contains(rendition.id) ?? true {
            while true {
                let url: String
                var range: Range<UInt64>?
                switch presentation.requirement(for: rendition.id) {
                case .ready: url = ""
                case .playlist(let playlist): url = playlist
                case .segmentIndex(let index, let bytes): (url, range) = (index, bytes)
                }
                guard !url.isEmpty else { break }
                do {
                    let resource = try await reader.read(url, range: range)
                    try presentation.load(rendition.id, bytes: resource.bytes, finalURL: resource.url)
                } catch let failure as CommandFailure {
                    Terminal.note("pdn inspect: \(rendition.id): \(failure.message)")
                    break
                } catch let error as ManifestError {
                    Terminal.note("pdn inspect: \(rendition.id): \(url): \(error)")
                    break
                }
            }
        }
    }
}
