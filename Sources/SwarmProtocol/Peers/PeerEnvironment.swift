public import CoreModel
public import Integrity

/// What a neighbourhood asks its driver for when it has to decide: the store, the time of day, and where its transports
/// stand. Nothing here may call the neighbourhood.
public protocol PeerEnvironment {
    /// The kind of the segment store.
    associatedtype Source: ChunkSource
    /// The kind of the generator.
    associatedtype Secrets: RandomNumberGenerator

    /// Where uploads come from.
    var source: Source { get }
    /// What ephemeral keys are drawn from; cryptographically secure in production.
    var secrets: Secrets { get set }
    /// The time that certificates are checked against.
    var time: UnixTime { get }

    /// Whether ``Neighbourhood/acknowledged(_:)`` is called when the other side has acknowledged bytes. Where the system
    /// doesn't say when it has, links with a full window are looked at every quarter of a round trip instead.
    var tellsAcknowledgements: Bool { get }

    /// Bytes that were handed to a link's transport and wait in this process.
    func queuedByteCount(of link: LinkID) -> Int

    /// Bytes that a link's transport has sent, or queued in the system, and that the other side has not acknowledged.
    func unacknowledgedByteCount(of link: LinkID) -> Int

    /// Bytes that a link's transport has taken from this process since its start.
    func sentByteCount(of link: LinkID) -> Int

    /// The round trip as a link's transport measures it; `nil` before it has.
    func roundTrip(of link: LinkID) -> Duration?

    /// A box for a certificate that was found to hold: a driver of many viewers gives the same to all.
    func box(_ certificate: MembershipCertificate) -> CertificateBox
}

extension PeerEnvironment {
    /// The system doesn't say.
    public var tellsAcknowledgements: Bool { false }

    /// A box of its own.
    public func box(_ certificate: MembershipCertificate) -> CertificateBox { CertificateBox(certificate) }
}
