import CoreModel
import Cryptography
import Delivery
import Integrity
import Manifest

/// What is to be downloaded for a title, and which names the bytes get.
struct SigningPlan {
    /// One name of a resource's bytes.
    struct Name: Hashable, Sendable {
        var rendition: RenditionKey
        var position: SegmentPosition
        var duration: MediaTime
    }

    /// The rows of the catalogue's table.
    private(set) var renditions: [CatalogueRendition] = []
    /// The resources, in the order of the manifests.
    private(set) var resources: [SegmentResource] = []
    /// The names of each resource.
    private(set) var names: [SegmentResource: [Name]] = [:]
    /// What was left out, for people.
    private(set) var notes: [String] = []

    private var namesTaken: [RenditionKey: [SegmentPosition: SegmentResource]] = [:]

    /// Adds every rendition of a presentation whose timelines are loaded.
    mutating func add(_ presentation: Presentation, suite: SystemCryptoSuite) {
        let descriptions = presentation.descriptions
        let lines = RenditionKeys.canonicalLines(descriptions)
        let keys = RenditionKeys.assign(descriptions, suite: suite)
        for ((rendition, line), key) in zip(zip(presentation.renditions, lines), keys) {
            guard let line, let key else {
                notes.append("rendition \(rendition.id) can't be told from another one; it goes without peers")
                continue
            }
            guard let timeline = rendition.timeline else { continue }
            if !renditions.contains(where: { $0.key == key }) {
                renditions.append(CatalogueRendition(key: key, line: line))
            }
            for segment in timeline.segments where !segment.isGap {
                if let initialization = segment.initialization {
                    add(
                        SegmentResource(url: initialization.url, byteRange: initialization.byteRange),
                        Name(rendition: key, position: initialization.position, duration: .zero))
                }
                add(
                    SegmentResource(url: segment.url, byteRange: segment.byteRange),
                    Name(
                        rendition: key, position: segment.position, duration: max(.zero, segment.duration)))
            }
        }
    }

    private mutating func add(_ resource: SegmentResource, _ name: Name) {
        if let taken = namesTaken[name.rendition]?[name.position] {
            // The same initialization section stands before every segment; two manifests may even be the same one.
            if taken != resource {
                notes.append(
                    "\(resource.publicName) has the name of \(taken.publicName); it goes without peers")
            }
            return
        }
        namesTaken[name.rendition, default: [:]][name.position] = resource
        if names[resource] == nil { resources.append(resource) }
        names[resource, default: []].append(name)
    }

    /// Signs every resource whose tree is known.
    ///
    /// - Parameter keys: At least one.
    func sign(
        _ trees: [SegmentResource: SegmentTree], stream: StreamID, epoch: UInt32, keys: [RoleKey], issued: UnixTime,
        expires: UnixTime
    ) -> [SignedSegment] {
        resources.flatMap { resource -> [SignedSegment] in
            guard let tree = trees[resource] else { return [] }
            return names[resource, default: []].compactMap { name in
                let statement = RecordStatement(
                    name: SegmentName(
                        stream: stream, epoch: epoch, rendition: name.rendition, position: name.position),
                    duration: name.duration, geometry: tree.geometry, root: tree.root)
                let signatures = keys.map {
                    RecordSignature(signing: statement, with: $0, issued: issued, expires: expires)
                }
                return SegmentRecord(statement: statement, signatures: signatures).flatMap {
                    SignedSegment(record: $0, stripeLayer: tree.stripeLayer)
                }
            }
        }
    }
}
