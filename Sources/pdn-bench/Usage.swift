import Glibc

/// What a process or a thread has used.
enum Usage {
    /// CPU seconds of the whole process, user and system.
    static var cpuSeconds: Double {
        var usage = rusage()
        getrusage(0, &usage)  // RUSAGE_SELF, which Swift imports as another type.
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// Seconds of the monotonic clock.
    static var wallSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Bytes of memory that are resident; 0 where /proc can't be read.
    static var residentByteCount: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let columns = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split(separator: " ")
        return (columns.count > 1 ? Int(columns[1]) ?? 0 : 0) * Int(getpagesize())
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

/// The CPU seconds that `work` takes in this process.
func cpuSeconds(_ work: () throws -> Void) rethrows -> Double {
    let start = Usage.cpuSeconds
    try work()
    return Usage.cpuSeconds - start
}

/// The seconds that `work` takes.
func wallSeconds(_ work: () throws -> Void) rethrows -> Double {
    let start = Usage.wallSeconds
    try work()
    return Usage.wallSeconds - start
}
