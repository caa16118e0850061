import CoreModel

/// Makes runs of segments of @duration or of a SegmentTimeline: ISO/IEC 23009-1, sections 5.3.9.5.3 and 5.3.9.6.
struct DASHRunBuilder: Sendable {
    private let information: DASHSegmentInformation
    private let times: DASHPeriodTimes
    private let timescale: Int64
    private(set) var runs: [DASHAddressing.Run] = []
    private(set) var count = 0
    /// Whether segments follow without an end that is known.
    private(set) var isOpenEnded = false

    init(_ information: DASHSegmentInformation, times: DASHPeriodTimes, timescale: Int64) {
        self.information = information
        self.times = times
        self.timescale = timescale
    }

    private var offset: UInt64 { information.presentationTimeOffset ?? 0 }
    private var startNumber: UInt64 { information.startNumber ?? 1 }

    /// Makes the runs; `listedCount` is the number of SegmentURLs, if there are any to match.
    mutating func build(listedCount: Int?) throws(ManifestError) {
        if let timeline = information.timeline {
            try build(timeline, listedCount: listedCount)
        } else if let duration = information.duration {
            try build(duration: duration, listedCount: listedCount)
        }
    }

    private func fault(_ problem: String, section: String) -> ManifestError {
        .dash(line: information.line, element: "segment information", problem: problem, section: section)
    }

    /// Segments of equal duration from the beginning of the period: as many as begin before its end.
    private mutating func build(duration: UInt64, listedCount: Int?) throws(ManifestError) {
        var count: UInt64?
        if let listedCount {
            count = UInt64(listedCount)
        } else if let length = times.duration {
            count = Self.dividingUp(length, timescale: timescale, by: duration)
        }
        if let end = information.endNumber {
            let upToEnd = end >= startNumber ? (end - startNumber).addingReportingOverflow(1).partialValue : 0
            count = min(count ?? upToEnd, upToEnd)
        }
        guard let count else {
            isOpenEnded = true
            return
        }
        try append(number: startNumber, time: offset, duration: duration, count: count)
    }

    private mutating func build(_ timeline: [DASHTimelineEntry], listedCount: Int?) throws(ManifestError) {
        var number = startNumber
        var time: UInt64 = 0
        for (index, entry) in timeline.enumerated() {
            time = entry.time ?? time
            number = entry.number ?? number
            var count = UInt64(max(entry.repeatCount, 0)) + 1
            if entry.repeatCount < 0 {
                count = try repetitions(of: entry, at: time, until: nextTime(in: timeline, after: index))
            }
            if let end = information.endNumber {
                guard number <= end else { break }
                count = min(count, (end - number).addingReportingOverflow(1).partialValue)
            }
            if let listedCount { count = min(count, UInt64(listedCount - self.count)) }
            try append(number: number, time: time, duration: entry.duration, count: count)
            // Not beyond 63 bits: `append` looked.
            time += count * entry.duration
            let (next, overflow) = number.addingReportingOverflow(count)
            guard !overflow else { throw fault("the segment number passes 64 bits", section: "5.3.9.6.2") }
            number = next
        }
    }

    private func nextTime(in timeline: [DASHTimelineEntry], after index: Int) -> UInt64? {
        index + 1 < timeline.count ? timeline[index + 1].time : nil
    }

    /// How often an entry with a negative @r occurs: up to the next entry, else up to the end of the period. Without either
    /// it occurs once.
    private func repetitions(
        of entry: DASHTimelineEntry, at time: UInt64, until next: UInt64?
    ) throws(ManifestError) -> UInt64 {
        if let next {
            guard next > time else { return 1 }
            return (next - time - 1) / entry.duration + 1
        }
        guard let length = times.duration else { return 1 }
        let end = MediaTime(ticks: Int64(clamping: offset), timescale: timescale) + length
        let rest = end - MediaTime(ticks: Int64(clamping: time), timescale: timescale)
        return rest > .zero ? Self.dividingUp(rest, timescale: timescale, by: entry.duration) : 1
    }

    /// How many spans of `ticks` begin within `length`: exact, rounded up.
    static func dividingUp(_ length: MediaTime, timescale: Int64, by ticks: UInt64) -> UInt64 {
        guard length > .zero else { return 0 }
        let numerator = UInt128(length.ticks) * UInt128(timescale)
        let (denominator, overflow) = UInt128(length.timescale).multipliedReportingOverflow(by: UInt128(ticks))
        guard !overflow else { return 1 }
        return UInt64(clamping: (numerator - 1) / denominator + 1)
    }

    private mutating func append(
        number: UInt64, time: UInt64, duration: UInt64, count: UInt64
    ) throws(ManifestError) {
        guard count > 0 else { return }
        guard count <= UInt64(ManifestLimits.segmentCount - self.count) else {
            throw .tooLarge(what: "segments of a representation", limit: ManifestLimits.segmentCount)
        }
        let (span, tooLong) = count.multipliedReportingOverflow(by: duration)
        let (end, tooLate) = time.addingReportingOverflow(span)
        guard !tooLong, !tooLate, end <= UInt64(Int64.max) else {
            throw fault("the segments' times pass 63 bits", section: "5.3.9.6.2")
        }
        guard number <= .max - count else { throw fault("the segment number passes 64 bits", section: "5.3.9.5.3") }
        if var last = runs.last, last.duration == duration, last.time + UInt64(last.count) * duration == time,
            last.number + UInt64(last.count) == number
        {
            last.count += Int(count)
            runs[runs.count - 1] = last
        } else {
            runs.append(
                DASHAddressing.Run(
                    firstIndex: self.count, number: number, time: time, duration: duration, count: Int(count)))
        }
        self.count += Int(count)
    }
}
