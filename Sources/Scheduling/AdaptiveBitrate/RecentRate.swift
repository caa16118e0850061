import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The rate at which a fetch under way has gone lately.
///
/// The mean since its beginning hides for many seconds that a link has broken down.
struct RecentRate: Sendable, Equatable {
    /// After so many milliseconds, older progress counts half.
    private static let halfLife = 1500.0

    private var bits = 0.0
    private var milliseconds = 0.0
    private var seenBits = 0.0
    private var seenMilliseconds = 0.0

    /// Takes in how far the fetch is. Less than before means that it is another one.
    mutating func update(_ progress: SegmentProgress) {
        if progress.transferMilliseconds < seenMilliseconds || progress.receivedBits < seenBits { self = RecentRate() }
        let span = progress.transferMilliseconds - seenMilliseconds
        let share = exp2(-span / Self.halfLife)
        bits = bits * share + progress.receivedBits - seenBits
        milliseconds = milliseconds * share + span
        seenBits = progress.receivedBits
        seenMilliseconds = progress.transferMilliseconds
    }

    /// Kilobits a second, at least 1; `nil` before any progress.
    var kilobitsPerSecond: Double? { milliseconds > 0 ? max(bits / milliseconds, 1) : nil }
}
