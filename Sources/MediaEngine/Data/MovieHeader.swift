import CoreModel

/// What a `moov` box says that is needed to check and to measure what follows it.
struct MovieHeader: Equatable {
    /// One `trak`.
    struct Track: Equatable {
        var id: UInt32
        var kind: TrackKind?
        var timescale: Int64
        /// Duration of the samples that the box itself lists.
        var duration: UInt64
        /// From `trex`: what a fragment's samples last unless it says otherwise.
        var defaultSampleDuration: UInt64 = 0
    }

    var tracks: [Track] = []
    /// Samples come in fragments (`mvex`).
    var isFragmented = false

    private static let trackLimit = 64

    /// Reads the payload of a `moov`.
    init(_ moov: BoxReader) throws(BoxReader.Malformed) {
        var moov = moov
        var extensions: BoxReader?
        while let child = try moov.child() {
            if child.type == BoxType("trak") {
                guard tracks.count < Self.trackLimit else { throw child.malformed }
                tracks.append(try Self.track(child))
            } else if child.type == BoxType("mvex") {
                isFragmented = true
                extensions = child
            }
        }
        guard !tracks.isEmpty else { throw moov.malformed }
        while let child = try extensions?.child() {
            guard child.type == BoxType("trex") else { continue }
            var box = child
            _ = try box.versionAndFlags()
            let id = UInt32(try box.number(4))
            try box.skip(4)
            let duration = try box.number(4)
            for index in tracks.indices where tracks[index].id == id { tracks[index].defaultSampleDuration = duration }
        }
    }

    private static func track(_ trak: BoxReader) throws(BoxReader.Malformed) -> Track {
        var trak = trak
        var id: UInt32?
        var media: BoxReader?
        while let child = try trak.child() {
            if child.type == BoxType("tkhd") {
                var box = child
                let version = try box.versionAndFlags().version
                try box.skip(version == 1 ? 16 : 8)
                id = UInt32(try box.number(4))
            } else if child.type == BoxType("mdia") {
                media = child
            }
        }
        guard let id, var media else { throw trak.malformed }
        var (timescale, duration): (Int64, UInt64) = (0, 0)
        var kind: TrackKind?
        var hasDescription = false
        while let child = try media.child() {
            var box = child
            if child.type == BoxType("mdhd") {
                let version = try box.versionAndFlags().version
                try box.skip(version == 1 ? 16 : 8)
                timescale = Int64(try box.number(4))
                duration = try box.number(version == 1 ? 8 : 4)
                if duration >= (version == 1 ? .max : UInt64(UInt32.max)) { duration = 0 }
            } else if child.type == BoxType("hdlr") {
                _ = try box.versionAndFlags()
                try box.skip(4)
                let handler = BoxType(UInt32(try box.number(4)))
                kind = handler == BoxType("vide") ? .video : handler == BoxType("soun") ? .audio : nil
            } else if child.type == BoxType("minf") {
                while let part = try box.child() {
                    guard part.type == BoxType("stbl") else { continue }
                    hasDescription = try hasSampleDescription(part)
                }
            }
        }
        guard timescale > 0, hasDescription else { throw media.malformed }
        return Track(id: id, kind: kind, timescale: timescale, duration: duration)
    }

    private static func hasSampleDescription(_ table: BoxReader) throws(BoxReader.Malformed) -> Bool {
        var table = table
        while let child = try table.child() {
            guard child.type == BoxType("stsd") else { continue }
            var box = child
            _ = try box.versionAndFlags()
            let count = try box.number(4)
            let first = try box.child()
            return count > 0 && first != nil
        }
        return false
    }

    /// The longest track of a kind in what the box itself lists.
    func duration(of kind: TrackKind) -> MediaTime {
        tracks.filter { $0.kind == kind }.map {
            MediaTime(ticks: Int64(clamping: $0.duration), timescale: $0.timescale)
        }.max() ?? .zero
    }

    /// Reads the payload of a `moof`: the duration of its samples by kind.
    func fragmentDurations(_ moof: BoxReader) throws(BoxReader.Malformed) -> FragmentDurations {
        var moof = moof
        var durations = FragmentDurations()
        var count = 0
        while let child = try moof.child() {
            guard child.type == BoxType("traf") else { continue }
            count += 1
            guard count <= Self.trackLimit else { throw child.malformed }
            let (id, ticks) = try fragmentDuration(child)
            guard let track = tracks.first(where: { $0.id == id }), let kind = track.kind else { continue }
            durations[kind] += MediaTime(ticks: Int64(clamping: ticks), timescale: track.timescale)
        }
        return durations
    }

    private func fragmentDuration(_ traf: BoxReader) throws(BoxReader.Malformed) -> (id: UInt32, ticks: UInt64) {
        var traf = traf
        var id: UInt32?
        var sampleDuration: UInt64 = 0
        var ticks: UInt64 = 0
        while let child = try traf.child() {
            var box = child
            if child.type == BoxType("tfhd") {
                let flags = try box.versionAndFlags().flags
                let track = UInt32(try box.number(4))
                id = track
                sampleDuration = tracks.first { $0.id == track }?.defaultSampleDuration ?? 0
                if flags & 0x1 != 0 { try box.skip(8) }
                if flags & 0x2 != 0 { try box.skip(4) }
                if flags & 0x8 != 0 { sampleDuration = try box.number(4) }
            } else if child.type == BoxType("trun") {
                guard id != nil else { throw child.malformed }
                ticks = ticks &+ (try runDuration(&box, sampleDuration))
            }
        }
        guard let id else { throw traf.malformed }
        return (id, ticks)
    }

    private func runDuration(_ box: inout BoxReader, _ sampleDuration: UInt64) throws(BoxReader.Malformed) -> UInt64 {
        let flags = try box.versionAndFlags().flags
        let count = try box.number(4)
        if flags & 0x1 != 0 { try box.skip(4) }
        if flags & 0x4 != 0 { try box.skip(4) }
        let fieldCount = [0x100, 0x200, 0x400, 0x800].count { flags & $0 != 0 }
        guard count <= UInt64(Self.runSampleLimit), box.remaining >= Int(count) * fieldCount * 4 else {
            throw box.malformed
        }
        guard flags & 0x100 != 0 else { return count &* sampleDuration }
        var ticks: UInt64 = 0
        for _ in 0..<count {
            ticks = ticks &+ (try box.number(4))
            try box.skip((fieldCount - 1) * 4)
        }
        return ticks
    }

    /// Samples in one run: beyond any real fragment, and cheap to count.
    private static let runSampleLimit = 1 << 20
}

/// Durations of audio and video.
struct FragmentDurations: Equatable {
    var video = MediaTime.zero
    var audio = MediaTime.zero

    subscript(kind: TrackKind) -> MediaTime {
        get { kind == .video ? video : audio }
        set { if kind == .video { video = newValue } else { audio = newValue } }
    }

    static func += (left: inout FragmentDurations, right: FragmentDurations) {
        left.video += right.video
        left.audio += right.audio
    }

    /// The part that `done` of `total` bytes stand for.
    func part(_ done: UInt64, of total: UInt64) -> FragmentDurations {
        guard done < total else { return self }
        func scaled(_ time: MediaTime) -> MediaTime {
            // A header may claim more than nanoseconds hold.
            let nanoseconds = Int64(exactly: (time.seconds * Double(done) / Double(total) * 1e9).rounded()) ?? .max
            return MediaTime(ticks: nanoseconds, timescale: 1_000_000_000)
        }
        return FragmentDurations(video: scaled(video), audio: scaled(audio))
    }
}
