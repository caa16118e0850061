public import CoreModel

/// One encoding of one component of a presentation: what a player chooses among.
public struct Rendition: Sendable, Identifiable {
    /// Names a rendition within its presentation. Unique; the same for the same manifest text.
    public typealias ID = String

    /// What a rendition's media are.
    public enum Kind: String, Sendable {
        /// Video and audio in the same segments.
        case muxed
        case video, audio, text, image
    }

    /// How a rendition's segments are packed, as far as the manifest tells.
    public enum Container: String, Sendable {
        /// ISO base media: initialization section and fragments.
        case mp4
        case mpegTS
        /// Elementary audio, with an ID3 tag for its time.
        case packedAudio
        case webVTT
        case webM
        case unknown
    }

    /// Its name.
    public var id: ID
    /// What it holds.
    public var kind: Kind
    /// The bit rate that the manifest declares, in bit/s; for HLS the variant's peak, other renditions of it included.
    public var bandwidth: UInt64?
    /// The mean bit rate, in bit/s.
    public var averageBandwidth: UInt64?
    /// The formats (RFC 6381), separated by commas.
    public var codecs: String?
    /// Width in pixels.
    public var width: Int?
    /// Height in pixels.
    public var height: Int?
    /// Frames a second.
    public var frameRate: Double?
    /// The language (RFC 5646).
    public var language: String?
    /// A name for people.
    public var label: String?
    /// Channels, as written: HLS CHANNELS, or the value of DASH AudioChannelConfiguration.
    public var channels: String?
    /// DASH roles, or HLS characteristics.
    public var roles: [String] = []
    /// The HLS group it is in.
    public var group: String?
    /// Whether to choose it unless somebody chose otherwise.
    public var isDefault = false
    /// How its segments are packed.
    public var container: Container
    /// The path of its playlist (HLS), or of its media with `$Number$` and `$Time$` left in (DASH): no host, no query.
    public var path: String
    /// How its segments are encrypted; `nil` when they are clear, or not known before the playlist is loaded.
    public var encryption: Encryption?
    /// Its segments, once all that they need is loaded.
    public var timeline: Timeline?

    /// Why this player can't play it, as a sentence; `nil` if nothing speaks against it.
    ///
    /// - Parameter keyIDs: The identifiers of the content keys that the viewer was given.
    public func unsupportedReason(keyIDs: Set<Bytes16> = []) -> String? {
        guard let encryption, let obstacle = encryption.obstacle(knowing: keyIDs) else { return nil }
        return "The rendition \"\(id)\" is encrypted (\(encryption)), \(obstacle)."
    }

    /// Takes note of how a part of it is encrypted.
    mutating func add(_ other: Encryption) {
        guard let known = encryption else { return encryption = other }
        encryption?.keyIDs += other.keyIDs.filter { !known.keyIDs.contains($0) }
    }
}
