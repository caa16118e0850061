public import Foundation

/// An object whose observable properties can be watched with Foundation's `observe(_:options:changeHandler:)`.
///
/// On Apple's platforms `NSObject` brings that method; here an extension of this protocol does.
public protocol VBObservable: NSObject {}

/// An observable object of this module, with the state it publishes.
protocol ObservationHost: NSObject {
    associatedtype Snapshot: Sendable
    var observedState: ObservedState<Snapshot> { get }
}

#if !canImport(ObjectiveC)

    extension VBObservable {
        /// Watches a property.
        ///
        /// The handler is called on the main queue, once for each change made after this call, in order; changes that
        /// leave the property equal are not told. Only properties that are documented as observable have changes;
        /// a property computed from them has those too.
        ///
        /// - Parameters:
        ///   - keyPath: The property.
        ///   - options: What the change carries; `.initial` calls the handler before this method returns.
        ///   - changeHandler: Takes the object and the change.
        /// - Returns: The observation; keep it, releasing it ends it.
        public func observe<Value>(
            _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
            changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
        ) -> NSKeyValueObservation {
            let cancellation = Cancellation()
            let observer = PropertyObserver(
                object: self, keyPath: keyPath, options: options, handler: changeHandler, cancellation: cancellation)
            guard let host = self as? any ObservationHost else { return NSKeyValueObservation(cancellation) {} }
            return register(observer, with: host, isInitial: options.contains(.initial))
        }

        private func register<Value>(
            _ observer: PropertyObserver<Self, Value>, with host: some ObservationHost, isInitial: Bool
        ) -> NSKeyValueObservation {
            let state = host.observedState
            let cancellation = observer.cancellation
            let snapshot = state.add(cancellation) { observer.tell($1, of: $0) }
            if isInitial {
                observer.tellInitial(state.withVisible(snapshot) { self[keyPath: observer.keyPath] }, of: self)
            }
            return NSKeyValueObservation(cancellation) { [weak state] in state?.remove(cancellation) }
        }
    }

    /// One observation of one property.
    ///
    /// `@unchecked Sendable`: all but the weak reference is immutable; the handler is called on the main queue, and before
    /// that once on the caller's thread; key paths are immutable values.
    private final class PropertyObserver<Object: NSObject, Value>: @unchecked Sendable {
        weak var object: Object?
        let keyPath: KeyPath<Object, Value>
        let options: NSKeyValueObservingOptions
        let handler: (Object, NSKeyValueObservedChange<Value>) -> Void
        let cancellation: Cancellation

        init(
            object: Object, keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions,
            handler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void, cancellation: Cancellation
        ) {
            self.object = object
            self.keyPath = keyPath
            self.options = options
            self.handler = handler
            self.cancellation = cancellation
        }

        func tellInitial(_ value: Value, of object: Object) { call(object, new: value, old: nil, isPrior: false) }

        func tell<Snapshot>(_ change: ObservedState<Snapshot>.Change, of state: ObservedState<Snapshot>) {
            guard let object else { return }
            let old = state.withVisible(change.old) { object[keyPath: keyPath] }
            let new = state.withVisible(change.new) { object[keyPath: keyPath] }
            guard !Self.isSame(old, new) else { return }
            if options.contains(.prior) { call(object, new: nil, old: old, isPrior: true) }
            guard !cancellation.isCancelled else { return }
            call(object, new: new, old: old, isPrior: false)
        }

        private func call(_ object: Object, new: Value?, old: Value?, isPrior: Bool) {
            let change = NSKeyValueObservedChange(
                kind: .setting, newValue: options.contains(.new) ? new : nil,
                oldValue: options.contains(.old) ? old : nil, indexes: nil, isPrior: isPrior)
            handler(object, change)
        }

        /// Whether two values are equal; values that can't be compared are taken as different.
        private static func isSame(_ left: Value, _ right: Value) -> Bool {
            func compare<Comparand: Equatable>(_ type: Comparand.Type) -> Bool {
                guard let left = left as? Comparand, let right = right as? Comparand else { return false }
                return left == right
            }
            // An error holds values that don't compare; the same object is the same all the same.
            if let left = left as? NSObject, let right = right as? NSObject, left === right { return true }
            guard let type = Value.self as? any Equatable.Type else { return false }
            return compare(type)
        }
    }

#endif
