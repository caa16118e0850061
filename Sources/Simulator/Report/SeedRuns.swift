/// Runs of one scenario with several seeds, side by side on the machine's cores.
///
/// Each run is alone with its own state, and the results come in the order of the seeds: nothing depends on how many run at
/// once or which is done first.
package enum SeedRuns {
    /// How far a run has come.
    package struct Progress: Sendable {
        /// Which one, in the order of the seeds.
        package var run: Int
        /// Seconds that it has simulated.
        package var second: Int
    }

    /// The seeds from `first` on; after the greatest number comes 0.
    package static func seeds(from first: UInt64, count: Int) -> [UInt64] { (0..<count).map { first &+ UInt64($0) } }

    /// - Parameters:
    ///   - seeds: One for each run.
    ///   - jobs: How many run at once at most; the machine's cores bound it too.
    ///   - progress: Called from several threads.
    ///   - simulate: One run; it tells the closure that it is given of each second.
    /// - Returns: A result for each seed, in the same order.
    /// - Throws: The error of the first seed that has one; runs that have begun come to their end before.
    package static func run(
        seeds: [UInt64], jobs: Int, progress: @escaping @Sendable (Progress) -> Void = { _ in },
        simulate: @escaping @Sendable (UInt64, (Int) -> Void) throws -> SimulationResult
    ) async throws -> [SimulationResult] {
        precondition(jobs >= 1)
        typealias Outcome = (run: Int, result: Result<SimulationResult, any Error>)
        var results = [Result<SimulationResult, any Error>?](repeating: nil, count: seeds.count)
        await withTaskGroup(of: Outcome.self) { group in
            var started = 0
            func start() {
                guard started < seeds.count else { return }
                let run = started
                started += 1
                group.addTask { @concurrent in
                    (
                        run,
                        Result { try simulate(seeds[run]) { progress(Progress(run: run, second: $0)) } }
                    )
                }
            }
            for _ in 0..<jobs { start() }
            var hasFailed = false
            for await outcome in group {
                results[outcome.run] = outcome.result
                if case .failure = outcome.result { hasFailed = true }
                if !hasFailed { start() }
            }
        }
        return try results.compactMap { try $0?.get() }
    }
}
