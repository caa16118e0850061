/// Carries a caller's block or object, which its signature does not call `Sendable`, to the queue where it is used.
///
/// `@unchecked Sendable`: the box is only a means of transport. Blocks are called on the one queue that the API promises
/// for them, so that what they capture is used there only, as in the Objective-C interface that this module mirrors.
struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
