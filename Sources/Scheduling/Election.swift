internal import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The election that stands in for a front when no tracker names one: waiting times without messages.
///
/// Each viewer has a draw x in [0, 1) from its certificate's nonce and the segment, and waits
/// t = T·ln(1 + x·(e^λ − 1))/λ with λ = ln N + 2: most wait nearly T, a few far less, so that about one fires before it
/// hears of another's claim. Since the nonce is the tracker's choice and everybody can compute x, a claim that comes
/// before its time shows itself.
public enum Election {
    /// The waiting time of a draw in a swarm of `size` viewers.
    public static func wait(draw: Double, size: Int, span: Duration) -> Duration {
        let lambda = log(Double(max(size, 1))) + 2
        let fraction = log(1 + draw * (exp(lambda) - 1)) / lambda
        return .clamping(seconds: span.inSeconds * fraction)
    }

    /// Whether a claim after `waited` can be true: everybody can compute the claimer's draw, so one from before its time
    /// shows itself. Half the time allows for another idea of the swarm's size.
    public static func isDue(waited: Duration, draw: Double, size: Int, span: Duration) -> Bool {
        waited >= wait(draw: draw, size: size, span: span) / 2
    }
}
