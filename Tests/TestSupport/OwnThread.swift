import Foundation
import Glibc

/// Runs work that blocks on a thread of its own: Swift's own threads are few, and on Linux the global dispatch queues
/// share them.
///
/// - Parameter givesWay: Whether it computes for long and should leave the processor to others: for work that nobody times.
public func onOwnThread<Value: Sendable>(
    givesWay: Bool = false, _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            // On Linux this is the thread's and not the process's.
            if givesWay { _ = nice(10) }
            continuation.resume(with: Result { try work() })
        }
    }
}
