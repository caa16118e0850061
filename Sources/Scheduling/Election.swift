import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The election that stands in for a front when no tracker names one: waiting times without messages.
///
/// Each viewer draws x in [0, 1) from its certificate's nonce and the segment and waits
/// t = T·ln(1 + x·(e^λ − 1))/λ with λ = ln N + 2: most wait nearly T, a few far less, so that about one fires before it
/// hears of another's claim. Since the nonce is the tracker's choice and everybody can compute x, a claim that comes
/// before its time shows itself.
public enum Election {
    /// The draw of a viewer for a segment, in [0, 1).
    public static func draw(nonce: UInt64, key: UInt64) -> Double {
        var generator = SeededGenerator(seed: nonce ^ (key &* 0x9E37_79B9_7F4A_7C15))
        return Double(generator.next() >> 11) * 0x1p-53
    }

    /// The waiting time of a draw in a swarm of `size` viewers.
    public static func wait(draw: Double, size: Int, span: Duration) -> Duration {
        let lambda = log(Double(max(size, 1))) + 2
        let fraction = log(1 + draw * (exp(lambda) - 1)) / lambda
        return .nanoseconds(Int64((span.inSeconds * fraction * 1e9).rounded(.down)))
    }
}
