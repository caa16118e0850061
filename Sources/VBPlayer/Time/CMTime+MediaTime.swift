import CoreModel

#if canImport(CoreMedia)
    import CoreMedia
#endif

extension CMTime {
    /// The same time; in nanoseconds, and marked as rounded where that isn't exact, when the timescale exceeds 32 bits.
    init(_ time: MediaTime) {
        if let timescale = Int32(exactly: time.timescale) {
            self.init(value: time.ticks, timescale: timescale)
            return
        }
        let nanoseconds = time.ticks(at: 1_000_000_000)
        self.init(value: nanoseconds, timescale: 1_000_000_000)
        if MediaTime(ticks: nanoseconds, timescale: 1_000_000_000) != time { flags.insert(.hasBeenRounded) }
    }

    /// The same time on a presentation's timeline; `nil` when it is no number.
    var mediaTime: MediaTime? {
        guard isNumeric, timescale > 0 else { return nil }
        return MediaTime(ticks: value, timescale: Int64(timescale))
    }
}
