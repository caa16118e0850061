internal import CoreModel

/// The viewers of one run: drawn from a scenario and a seed, the same in each process.
///
/// Each aspect (arrivals, sessions, lines, …) has a random sequence of its own, so that a change of one leaves the others as
/// they are, and policies are compared on the same viewers.
package struct Population: Sendable, Equatable {
    /// In order of arrival; who would come after the end of the run is left out.
    package private(set) var viewers: [ViewerProfile]
    /// The viewers' events, each viewer's in order of time.
    package private(set) var events: [ViewerEvent]
    /// Lines that several viewers share.
    package private(set) var sharedLines: [SharedLine]
    /// What each viewer may upload at most, in bits a second, by its index: the least of the line (as far as it is usable)
    /// and the caps on rate and on volume a day. 0 for who doesn't upload.
    package private(set) var lineUplinks: [Double]
    /// The same under the cap by download too, for who downloads at the ladder's highest rate.
    package private(set) var usableUplinks: [Double]

    /// Draws the viewers.
    ///
    /// - Parameters:
    ///   - count: How many, when not as many as the scenario says.
    /// - Complexity: O(*n* log *n*); a million viewers take seconds.
    package init(_ scenario: Scenario, seed: UInt64, count: Int? = nil) throws(PopulationError) {
        var draw = PopulationDraw(scenario, seed: seed, count: count ?? scenario.population.viewerCount)
        guard !draw.viewers.isEmpty else { throw .nobodyComes }
        draw.drawLines()
        draw.drawConduct()
        let factor = try draw.uplinkFactor()
        for index in draw.viewers.indices {
            let scaled = Double(draw.viewers[index].upBitsPerSecond) * factor
            draw.viewers[index].upBitsPerSecond = Int(min(scaled, 1e15).rounded())
        }
        try draw.drawEvents()
        viewers = draw.viewers
        events = draw.events
        sharedLines = draw.sharedLines
        lineUplinks = draw.viewers.map { draw.lineUplink($0, factor: 1) }
        usableUplinks = draw.viewers.map { draw.usableUplink($0, factor: 1) }
    }

    /// The mean of ``usableUplinks``.
    package var meanUsableUplink: Double { usableUplinks.reduce(0, +) / Double(max(1, usableUplinks.count)) }

    /// Viewers online at once, at the most.
    package var peakConcurrency: Int {
        let departures = viewers.map(\.departure).sorted()
        var left = 0
        var peak = 0
        for (index, viewer) in viewers.enumerated() {
            while left < departures.count, departures[left] <= viewer.arrival { left += 1 }
            peak = max(peak, index + 1 - left)
        }
        return peak
    }
}
