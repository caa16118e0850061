import Synchronization

/// Someone who waits for an answer gets exactly one: the first that is given or, when whoever should give it goes, the
/// one for that case.
final class OneAnswer<Value: Sendable>: Sendable {
    private let taker: Mutex<(@Sendable (Value) -> Void)?>
    private let otherwise: Value

    init(otherwise: Value, _ taker: @escaping @Sendable (Value) -> Void) {
        self.otherwise = otherwise
        self.taker = Mutex(taker)
    }

    deinit { give(otherwise) }

    /// Answers; again does nothing.
    func give(_ value: Value) {
        let taker = taker.withLock { taker in
            defer { taker = nil }
            return taker
        }
        taker?(value)
    }
}
