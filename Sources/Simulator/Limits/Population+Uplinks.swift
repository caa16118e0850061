internal import CoreModel
internal import SwarmProtocol

extension Population {
    /// What all viewers can upload while online, in bytes on the wire: each within its line (or the part of the trace that
    /// it lived through) and its caps, and all of one shared line within that. Viewers of one site have the site's network
    /// for each other beside the line to the outside.
    ///
    /// - Parameters:
    ///   - onlineSeconds: How long each viewer was online from its arrival on, by its index.
    ///   - downloadedBytes: What each viewer downloaded, for the cap by download.
    package func uploadableBytes(
        onlineSeconds: [Double], downloadedBytes: [Double], scenario: Scenario
    ) -> Double {
        precondition(onlineSeconds.count == viewers.count && downloadedBytes.count == viewers.count)
        let share = scenario.uploads.caps.shareOfDownload
        let volumes = Self.volumes(scenario)
        var total = 0.0
        var ofLine = Array(repeating: 0.0, count: sharedLines.count)
        for (index, viewer) in viewers.enumerated() where lineUplinks[index] > 0 {
            let online = onlineSeconds[index]
            var bytes = lineUplinks[index] / 8 * online
            if let volume = volumes[Int(viewer.linkClass)] {
                bytes = volume.bits(from: Double(viewer.traceOffsetSeconds), for: online) / 8
                bytes *= scale(viewer, scenario) * scenario.uploads.usableShare
                if let cap = scenario.uploads.caps.bytesPerSecond { bytes = min(bytes, cap * online) }
            }
            if let share { bytes = min(bytes, share * downloadedBytes[index]) }
            if viewer.sharedLine >= 0 { ofLine[Int(viewer.sharedLine)] += bytes } else { total += bytes }
        }
        let span = scenario.duration.inSeconds
        for (index, line) in sharedLines.enumerated() {
            var capacity = Double(line.upBitsPerSecond)
            if let site = line.site { capacity += site.lanBitsPerSecond.map(Double.init) ?? .infinity }
            total += min(ofLine[index], capacity / 8 * span)
        }
        return total
    }

    /// What each viewer can upload in its best moment, in bits a second, by its index: ``lineUplinks``, and of a trace the
    /// greatest rate.
    func peakUplinks(_ scenario: Scenario) -> [Double] {
        let volumes = Self.volumes(scenario)
        return viewers.enumerated().map { index, viewer in
            guard lineUplinks[index] > 0, let volume = volumes[Int(viewer.linkClass)] else { return lineUplinks[index] }
            let peak = volume.peakBitsPerSecond * scale(viewer, scenario) * scenario.uploads.usableShare
            return min(peak, scenario.uploads.caps.bytesPerSecond.map { $0 * 8 } ?? .infinity)
        }
    }

    /// By how much a viewer's line is faster than its class's trace.
    private func scale(_ viewer: ViewerProfile, _ scenario: Scenario) -> Double {
        guard let trace = scenario.links.classes[Int(viewer.linkClass)].trace?.up else { return 1 }
        return Double(viewer.upBitsPerSecond) / trace.meanBitsPerSecond
    }

    private static func volumes(_ scenario: Scenario) -> [TraceVolume?] {
        scenario.links.classes.map { $0.trace?.up.map { TraceVolume($0) } }
    }
}
