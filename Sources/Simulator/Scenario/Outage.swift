package import CoreModel

/// A span in which something doesn't answer.
package struct Outage: Sendable, Equatable {
    package var start: MonotonicInstant
    package var end: MonotonicInstant

    package func contains(_ instant: MonotonicInstant) -> Bool { instant >= start && instant < end }
}

extension ScenarioObject {
    /// A list of outages, in order and apart from each other.
    func outages(_ key: String) throws(ScenarioError) -> [Outage] {
        var outages: [Outage] = []
        for item in try list(key, count: 0...1000, of: "objects with from and length") ?? [] {
            let object = try ScenarioObject(item.value, at: item.path, keys: ["from", "length"], files: files)
            let start =
                MonotonicInstant.origin + .clamping(seconds: try object.required("from", .duration, in: 0...1e7))
            let length = Duration.clamping(seconds: try object.required("length", .duration, in: 1e-3...1e7))
            if let last = outages.last, start < last.end {
                throw .contradiction(object.path(of: "from"), reason: "is before the end of the outage before it")
            }
            outages.append(Outage(start: start, end: start + length))
        }
        return outages
    }
}
