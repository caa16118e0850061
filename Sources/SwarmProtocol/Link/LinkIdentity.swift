public import CoreModel

/// Who this side is on its links: made once per certificate and shared by all links that are opened with it.
///
/// A class so that a link holds a word of it and not a copy; immutable.
public final class LinkIdentity: Sendable {
    /// The primitives.
    public let suite: any CryptoSuite
    /// The static key that the certificate binds.
    public let key: any AgreementKey
    /// This side's membership certificate.
    public let certificate: [UInt8]
    /// The swarm that the links belong to.
    public let swarm: SwarmID
    /// Whether this side uploads at all.
    public let uploads: Bool
    /// The port that this side listens on; 0 for none.
    public let listenPort: UInt16
    /// Times and bounds.
    public let configuration: LinkConfiguration
    /// The configuration's spans that are added to instants with each message, in nanoseconds: `Duration` calculates in 128
    /// bits.
    let spans: Spans

    struct Spans: Sendable {
        /// Silence that ends a link.
        let silence: Int64
        /// Silence after which the initiator pings.
        let initiatorPing: Int64
        /// Silence after which the responder pings.
        let responderPing: Int64
        /// What a request may take beyond its time.
        let answerGrace: Int64

        init(_ configuration: LinkConfiguration) {
            silence = configuration.silenceTimeout.nanosecondsClamped
            initiatorPing = configuration.pingInterval.nanosecondsClamped
            responderPing = (configuration.pingInterval * 4 / 3).nanosecondsClamped
            answerGrace = configuration.answerGrace.nanosecondsClamped
        }
    }

    /// Makes an identity.
    ///
    /// - Precondition: the certificate has 1 to ``WireLimits/certificateByteCount`` bytes.
    public init(
        suite: any CryptoSuite, key: any AgreementKey, certificate: [UInt8], swarm: SwarmID, uploads: Bool,
        listenPort: UInt16, configuration: LinkConfiguration = LinkConfiguration()
    ) {
        precondition((1...WireLimits.certificateByteCount).contains(certificate.count), "a certificate has its limits")
        self.suite = suite
        self.key = key
        self.certificate = certificate
        self.swarm = swarm
        self.uploads = uploads
        self.listenPort = listenPort
        self.configuration = configuration
        spans = Spans(configuration)
    }

    /// This side's name.
    public var peerID: PeerID { PeerID(key.publicKey) }
}

extension MonotonicInstant {
    /// The instant so many nanoseconds later, at most ``distantFuture``.
    func advanced(byNanoseconds span: Int64) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(span)
        return overflow ? .distantFuture : MonotonicInstant(nanoseconds: sum)
    }
}
