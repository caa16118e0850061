internal import CommandLineSupport
package import CoreModel

/// What `pdn simulate` runs: a stream, its viewers and their lines, and everything around them.
///
/// The file format is described in Scenario.md, key by key.
package struct Scenario: Sendable, Equatable {
    /// A short name for reports.
    package var name: String
    /// A sentence on what the scenario shows.
    package var shows: String
    /// The seed when the command line names none.
    package var seed: UInt64
    /// How much time is simulated.
    package var duration: Duration
    package var stream: StreamPlan
    package var population: PopulationPlan
    package var links: LinkPlan
    package var nat: NATMix
    package var uploads: UploadRules
    package var conduct: ConductPlan
    package var cdn: CDNPlan
    package var tracker: TrackerPlan
    package var witness: WitnessPlan
    /// Links to other viewers that one keeps at most.
    package var maximumLinkCount: Int

    /// The instant at which the run ends.
    package var end: MonotonicInstant { .origin + duration }
}

extension Scenario {
    /// Bytes of the longest scenario file.
    package static let byteLimit = 16 << 20
    /// How much time can be simulated.
    package static let durations = Duration.seconds(1)...Duration.seconds(1_000_000)

    private static let keys = [
        "name", "shows", "seed", "duration", "stream", "population", "links", "nat", "uploads", "conduct", "cdn",
        "tracker", "witness", "peers",
    ]

    /// Reads a scenario.
    ///
    /// - Parameters:
    ///   - json: The file.
    ///   - files: Reads the traces and tables that the scenario names.
    /// - Throws: An error that names the key and what is allowed there.
    package init(json: [UInt8], files: ScenarioFiles = .none) throws(ScenarioError) {
        guard json.count <= Self.byteLimit else {
            throw .json(JSONError(line: 1, column: 1, reason: .tooLong(limit: Self.byteLimit)))
        }
        let value: JSONValue
        do { value = try JSONReader.read(json) } catch { throw .json(error) }
        let document = try ScenarioObject(value, at: "", keys: Self.keys, files: files)

        guard let name = try document.text("name", allowed: "a name") else {
            throw .missingKey("name", allowed: "a name")
        }
        guard let shows = try document.text("shows", allowed: "a sentence") else {
            throw .missingKey("shows", allowed: "a sentence on what the scenario shows")
        }
        self.name = name
        self.shows = shows
        seed = UInt64(try document.count("seed", in: 0...Int.max) ?? 1)
        duration = .clamping(seconds: try document.required("duration", .duration, in: 1...1e6))
        stream = try StreamPlan(Self.section("stream", StreamPlan.keys, of: document))
        population = try PopulationPlan(
            Self.section("population", PopulationPlan.keys, of: document), stream: stream)
        links = try LinkPlan(Self.section("links", LinkPlan.keys, of: document))
        nat = try NATMix(document.object("nat", keys: NATMix.keys))
        uploads = try UploadRules(document.object("uploads", keys: UploadRules.keys))
        conduct = try ConductPlan(document.object("conduct", keys: ConductPlan.keys))
        cdn = try CDNPlan(document.object("cdn", keys: CDNPlan.keys))
        tracker = try TrackerPlan(document.object("tracker", keys: TrackerPlan.keys))
        witness = try WitnessPlan(document.object("witness", keys: WitnessPlan.keys))
        let peers = try document.object("peers", keys: ["links"])
        maximumLinkCount = try peers?.count("links", in: 1...200) ?? 25
    }

    private static func section(
        _ key: String, _ keys: [String], of document: ScenarioObject
    ) throws(ScenarioError) -> ScenarioObject {
        guard let object = try document.object(key, keys: keys) else {
            throw .missingKey(key, allowed: "an object with the keys \(keys.joined(separator: ", "))")
        }
        return object
    }
}
