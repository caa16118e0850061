public import CoreModel

/// A peer's draw in the election of who fetches a segment from the CDN: it can be computed by everybody and chosen by
/// nobody, for the tracker drew the nonce.
public enum ElectionTicket {
    /// A number in [0, 1) from a certificate's nonce and what identifies the segment, its root where there is a record.
    public static func draw(nonce: Bytes16, segment: Digest, suite: some CryptoSuite) -> Double {
        let message = Array("pdn/1 election\0".utf8) + nonce.bytes + segment.bytes
        return Double(suite.sha256(message.span.bytes).value.words.0 >> 11) * 0x1p-53
    }
}
