internal import CSodium

/// Initialises libsodium once for the process.
enum Sodium {
    /// `sodium_init` picks the implementations and opens the random source; it returns 1 when that was done before.
    private static let result = sodium_init()

    /// Returns when libsodium is ready; safe from any thread.
    static func initialise() {
        precondition(result >= 0, "libsodium could not open the system's random source")
    }
}
