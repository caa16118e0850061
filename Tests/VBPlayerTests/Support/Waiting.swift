import Foundation

/// Waits until `condition` holds, while the main queue runs; false when it doesn't in time.
///
/// The time is a guard against waiting for ever, and never what is tested: a busy machine takes many times longer.
@MainActor func eventually(within seconds: Double = 60, _ condition: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !condition() {
        guard ContinuousClock.now < deadline else { return false }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return true
}

/// Lets what waits on the main queue run.
@MainActor func settle(_ milliseconds: Int = 50) async { try? await Task.sleep(for: .milliseconds(milliseconds)) }
