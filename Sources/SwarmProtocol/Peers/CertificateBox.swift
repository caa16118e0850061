public import Integrity

/// A certificate that was found to hold, so that what remembers it keeps a word and not a copy.
///
/// A class, immutable: one and the same can stand at every link to its peer in the process.
public final class CertificateBox: Sendable {
    /// The certificate.
    public let certificate: MembershipCertificate

    /// Keeps a certificate.
    public init(_ certificate: MembershipCertificate) { self.certificate = certificate }
}
