internal import CoreModel

/// A record request of this side that has not been answered.
struct OutgoingRecordRequest: Sendable {
    let id: RecordRequestID
    /// When it is given up; `nil` once it was. The answer may still come.
    var deadline: MonotonicInstant?
}
