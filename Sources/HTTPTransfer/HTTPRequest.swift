/// A GET request.
public struct HTTPRequest: Sendable {
    /// Which bytes of the resource are wanted.
    public enum Bytes: Hashable, Sendable {
        /// All of it, without a Range header.
        case all
        /// A range (RFC 9110, section 14.2); not empty.
        case range(Range<UInt64>)
        /// From an offset to the end.
        case from(UInt64)
    }

    /// How often and when a request is made again after a failure that may pass.
    public struct Retry: Hashable, Sendable {
        /// Tries in all, the first included; 1 for no retry.
        public var attempts: Int
        /// The wait after the first failure; it doubles each time.
        public var baseDelay: Duration
        /// The longest wait.
        public var maximumDelay: Duration

        /// Describes a policy. Each wait is drawn between half and all of its length.
        public init(attempts: Int, baseDelay: Duration = .milliseconds(250), maximumDelay: Duration = .seconds(8)) {
            self.attempts = max(1, attempts)
            self.baseDelay = baseDelay
            self.maximumDelay = maximumDelay
        }

        /// No second try.
        public static let none = Retry(attempts: 1)
    }

    /// The absolute http or https address.
    public var url: String
    /// The bytes wanted.
    public var bytes = Bytes.all
    /// The entity tag that the resource must still have for a range to be sent (If-Range, RFC 9110, section 13.1.5).
    public var ifRange: String?
    /// More header fields.
    public var headers: [(name: String, value: String)] = []
    /// How long a connection may take to come up, TLS included.
    public var connectTimeout: Duration = .seconds(10)
    /// How long the first body byte may take.
    public var firstByteTimeout: Duration = .seconds(10)
    /// How long the body may pause.
    public var stallTimeout: Duration = .seconds(3)
    /// The most body bytes that are taken.
    public var maximumByteCount = 1 << 30
    /// The body's size where it is known from elsewhere.
    public var expectedByteCount: Int?
    /// Retries; only as long as no body byte was delivered.
    public var retry = Retry.none
    /// Whether a compressed body is welcome; for text only.
    public var allowsCompression = false
    /// Whether a redirect may lead from https to http.
    public var allowsDowngrade = false

    /// Makes a request for all of `url`.
    public init(url: String) { self.url = url }
}
