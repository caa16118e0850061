// Foundation has no key-value observing on Linux: these are the types its signature needs, with the meaning they have on
// Apple's platforms.
#if !canImport(ObjectiveC)

    public import Foundation

    /// What an observer is told, and when.
    public struct NSKeyValueObservingOptions: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The change carries the new value.
        public static let new = NSKeyValueObservingOptions(rawValue: 1 << 0)
        /// The change carries the old value.
        public static let old = NSKeyValueObservingOptions(rawValue: 1 << 1)
        /// The handler is called once before `observe` returns, on the calling thread.
        public static let initial = NSKeyValueObservingOptions(rawValue: 1 << 2)
        /// The handler is called a second time for each change, first, with ``NSKeyValueObservedChange/isPrior`` true.
        public static let prior = NSKeyValueObservingOptions(rawValue: 1 << 3)
    }

    /// The kind of a change; properties of this module are only ever set.
    public enum NSKeyValueChange: UInt, Sendable {
        /// The property has another value.
        case setting = 1
        /// Members were added to the property.
        case insertion = 2
        /// Members were removed from the property.
        case removal = 3
        /// Members of the property were replaced.
        case replacement = 4
    }

    /// One change of an observed property.
    public struct NSKeyValueObservedChange<Value> {
        /// The kind of change.
        public typealias Kind = NSKeyValueChange

        /// The kind of change.
        public let kind: Kind
        /// The value after the change, when asked for with `.new`; `nil` in a prior call.
        public let newValue: Value?
        /// The value before the change, when asked for with `.old`.
        public let oldValue: Value?
        /// The members that changed: always `nil`, no property of this module is a collection.
        public let indexes: IndexSet?
        /// Whether this call announces the change, as `.prior` asks.
        public let isPrior: Bool
    }

    /// An observer that stays until it is invalidated or released.
    public final class NSKeyValueObservation: NSObject, Sendable {
        private let cancellation: Cancellation
        private let forget: @Sendable () -> Void

        /// - Parameter forget: Lets the handler go, on the thread that ends the observation.
        init(_ cancellation: Cancellation, forget: @escaping @Sendable () -> Void) {
            self.cancellation = cancellation
            self.forget = forget
        }

        deinit { invalidate() }

        /// Ends the observation: no new call of the handler starts after it, and what the handler holds is let go, unless
        /// it is being called. Again is fine.
        public func invalidate() { if cancellation.cancel() { forget() } }
    }

#endif
