/// What happens to a transfer, in this order: at most one response, body bytes, and one end.
public enum HTTPEvent {
    /// The head of a successful answer.
    case response(HTTPResponse, after: Duration)
    /// Body bytes.
    case body(ArraySlice<UInt8>)
    /// All of the body has come.
    case finished(byteCount: Int, duration: Duration)
    /// The transfer ended early; bytes already delivered stand.
    case failed(HTTPError)
}
