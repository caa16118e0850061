public import CoreModel

/// How much one viewer may upload at this moment, over all its links.
///
/// The caps hold for what is handed to the socket. The last frame may exceed the allowance and is paid back.
public struct UploadBudget: Sendable {
    /// The caps in force; they may be changed at any time.
    public var caps: UploadCaps
    private var rate: TokenBucket
    private var uploaded: RollingSum
    private var downloaded: RollingSum
    private var day: RollingSum

    /// A burst of the rate cap: the upload of this span.
    private static let burst: Duration = .milliseconds(50)
    private static let shareSpan: Duration = .seconds(600)

    /// Starts with nothing uploaded or downloaded.
    public init(caps: UploadCaps, now: MonotonicInstant) {
        self.caps = caps
        rate = TokenBucket(capacity: Self.capacity(caps.bytesPerSecond ?? 0), now: now)
        uploaded = RollingSum(span: Self.shareSpan, slotCount: 20, now: now)
        downloaded = RollingSum(span: Self.shareSpan, slotCount: 20, now: now)
        day = RollingSum(span: .seconds(86_400), slotCount: 48, now: now)
    }

    /// Bytes that may go out now; nothing or less means wait. Without a cap, `Int.max`.
    public mutating func allowance(now: MonotonicInstant) -> Int {
        guard !caps.isMetered else { return 0 }
        var allowance = Int.max
        if let bytesPerSecond = caps.bytesPerSecond {
            let capacity = Self.capacity(bytesPerSecond)
            allowance = min(allowance, Int(rate.level(rate: bytesPerSecond, capacity: capacity, now: now)))
        }
        return min(allowance, volumeAllowance(now: now))
    }

    /// Bytes that the caps on volume (share, day, metered) leave; the cap on rate only delays.
    public mutating func volumeAllowance(now: MonotonicInstant) -> Int {
        guard !caps.isMetered else { return 0 }
        var allowance = Int.max
        if let share = caps.shareOfDownload {
            uploaded.advance(to: now)
            downloaded.advance(to: now)
            let limit = Double(downloaded.total) * share - Double(uploaded.total)
            allowance = min(allowance, Int(max(-1e15, min(1e15, limit))))
        }
        if let bytesPerDay = caps.bytesPerDay {
            day.advance(to: now)
            allowance = min(allowance, Int(clamping: bytesPerDay) - Int(clamping: day.total))
        }
        return allowance
    }

    /// Whether nothing but the passing of time, or another meter, allows uploads again.
    public mutating func isVolumeUsedUp(now: MonotonicInstant) -> Bool {
        guard !caps.isMetered, let bytesPerDay = caps.bytesPerDay else { return caps.isMetered }
        day.advance(to: now)
        return day.total >= bytesPerDay
    }

    /// Takes note of bytes that went out.
    public mutating func spend(_ byteCount: Int, now: MonotonicInstant) {
        rate.take(caps.bytesPerSecond == nil ? 0 : Double(byteCount))
        uploaded.add(byteCount, now: now)
        day.add(byteCount, now: now)
    }

    /// Takes note of bytes that came in, from wherever.
    public mutating func receive(_ byteCount: Int, now: MonotonicInstant) { downloaded.add(byteCount, now: now) }

    /// When asking again may give more than nothing; `nil` when only a download or other caps can change that.
    public mutating func nextAllowance(now: MonotonicInstant) -> MonotonicInstant? {
        guard !caps.isMetered else { return nil }
        if volumeAllowance(now: now) <= 0 {
            return min(uploaded.nextSlot, day.nextSlot)
        }
        guard let bytesPerSecond = caps.bytesPerSecond else { return now }
        return max(now, rate.refilled(rate: bytesPerSecond))
    }

    private static func capacity(_ bytesPerSecond: Double) -> Double { bytesPerSecond * burst.inSeconds }
}
