// The keys of the settings dictionary. The value of each is its name among the arguments of `VBPlayer.init(args:)`.
//
// | constant | argument | type | unit, range | default |
// |---|---|---|---|---|
// | `VBEnablePDNKey` | `enable-pdn` | Bool | | false |
// | `VBTrackerURLsKey` | `tracker` (repeatable) | [String] | http, https, ws, wss, udp; at most 8 | none |
// | `VBViewerTokenKey` | `token` | String | base64url, at most 512 characters | none |
// | `VBTrustedAuthorityKeysKey` | `trust` (repeatable) | [String] | 64 hexadecimal digits each; at most 8 | none |
// | `VBRequiredSignaturesKey` | `required-signatures` | Int | 1 to 8 | 1 |
// | `VBTrackerPublicKeyKey` | `tracker-key` | String | 64 hexadecimal digits | the tracker's own answer over TLS |
// | `VBStreamNameKey` | `stream` | String | 1 to 256 bytes | from token or catalogue |
// | `VBCatalogueURLKey` | `catalogue` | String | http, https | the manifest's path and `.pdn` |
// | `VBRenditionKey` | `rendition` | String | 1 to 256 bytes | the best for the link |
// | `VBMaximumBitrateKey` | `maximum-bitrate` | Int | bits per second, 1 to 100 Gbps | no limit |
// | `VBLimitQualityToDisplayKey` | `limit-to-display` | Bool | | true |
// | `VBContentKeysKey` | `content-key` (repeatable) | [String] | `KEY-ID:KEY`, 32 hexadecimal digits each; at most 64 | none |
// | `VBAudioLanguageKey` | `audio` | String | a language tag | the stream's default |
// | `VBUploadCapKey` | `upload-cap` | Int | bits per second, 0 to 100 Gbps; 0 is no upload | no fixed cap |
// | `VBUploadShareKey` | `upload-share` | Double | uploaded per downloaded byte, 0 to 100 | 2 |
// | `VBDownloadCapKey` | `download-cap` | Int | bits per second, 64 kbps to 100 Gbps | no cap |
// | `VBMeteredLinkKey` | `metered` | Bool | | false |
// | `VBUploadOnMeteredLinkKey` | `upload-on-metered` | Bool | | false |
// | `VBMemoryLimitKey` | `memory-limit` | Int | bytes, 8 MiB to 64 GiB | 128 MiB |
// | `VBDiskLimitKey` | `disk-limit` | Int | bytes, 0 to 16 TiB; at most a tenth of the free space; 0 is none | 512 MiB |
// | `VBLANOnlyKey` | `lan-only` | Bool | | false |
// | `VBListenPortKey` | `listen-port` | Int | 0 to 65535; 0 is any | 0 |
// | `VBLogLevelsKey` | `log` (repeatable, `DOMAIN=LEVEL`) | [String: String] | see ``VBLogDomain``, ``VBLogLevel`` | nothing is logged |
//
// Rates may be written `5Mbps` and sizes `64MiB` among arguments.

/// Whether segments may come from other viewers and go to them (Bool; false): the operator's and the viewer's decision.
public let VBEnablePDNKey = "enable-pdn"
/// The trackers to ask for other viewers ([String] of http, https, ws, wss or udp addresses, at most 8; none). Those of
/// udp are standard BitTorrent trackers, which are not asked yet.
public let VBTrackerURLsKey = "tracker"
/// The token that admits this viewer (String, base64url, at most 512 characters; none). It goes to trackers only, over TLS:
/// with a token, those without (http, ws) are not used unless their address is the machine's own.
public let VBViewerTokenKey = "token"
/// The public keys of the authorities whose signatures over segments are trusted ([String] of 64 hexadecimal digits, at
/// most 8; none: then nothing is taken from other viewers).
public let VBTrustedAuthorityKeysKey = "trust"
/// How many trusted authorities must have signed a segment before peers may bring it (Int, 1 to 8; 1).
public let VBRequiredSignaturesKey = "required-signatures"
/// The membership key of the tracker (String of 64 hexadecimal digits; what the tracker says over TLS).
public let VBTrackerPublicKeyKey = "tracker-key"
/// The operator's name of the stream (String, 1 to 256 bytes; from the token or the signed catalogue).
public let VBStreamNameKey = "stream"
/// Where the signed catalogue is (String, http or https; the manifest's path with `.pdn` behind it, query kept).
public let VBCatalogueURLKey = "catalogue"
/// The rendition to play from the beginning to the end, as `pdn inspect` names it (String, 1 to 256 bytes; chosen for each
/// segment by what the network gives).
public let VBRenditionKey = "rendition"
/// The highest bit rate that is chosen (Int, bits per second, 1 to 100 Gbps; no limit). The lowest quality is always allowed.
public let VBMaximumBitrateKey = "maximum-bitrate"
/// Whether no picture is chosen that is larger than the ``VBDisplayLayer/bounds`` it is shown in (Bool; true): more pixels
/// cost bytes and aren't seen. Has no effect until these are set.
public let VBLimitQualityToDisplayKey = "limit-to-display"
/// The keys of media in common encryption ([String] of an identifier and a key, 32 hexadecimal digits each with a colon
/// between them, at most 64; none). They stay in the process, and nothing logs or repeats them. Keys that an HLS playlist
/// names by address are fetched without this.
public let VBContentKeysKey = "content-key"
/// The language of the audio (String, a language tag such as `de`; the stream's default).
public let VBAudioLanguageKey = "audio"
/// The most to upload (Int, bits per second, 0 to 100 Gbps, 0 for nothing; no fixed cap, uploads yield to other traffic).
public let VBUploadCapKey = "upload-cap"
/// The most to upload for each byte downloaded (Double, 0 to 100; 2).
public let VBUploadShareKey = "upload-share"
/// The most to download while other viewers bring segments (Int, bits per second, 64 kbps to 100 Gbps; no cap). They are
/// held back so far that the CDN's bytes and theirs stay below it; the CDN itself never is, for playback comes first.
public let VBDownloadCapKey = "download-cap"
/// Whether the link costs by volume (Bool; false): then nothing is uploaded unless ``VBUploadOnMeteredLinkKey`` allows it.
public let VBMeteredLinkKey = "metered"
/// Whether a metered link may be uploaded on (Bool; false).
public let VBUploadOnMeteredLinkKey = "upload-on-metered"
/// The memory for segments kept to share and to seek in (Int, bytes, 8 MiB to 64 GiB; 128 MiB).
public let VBMemoryLimitKey = "memory-limit"
/// The most disk space for segments that other viewers may still ask for and the memory has no room for (Int, bytes, 0 to
/// 16 TiB, 0 for nothing; 512 MiB: a quarter of an hour at 5 Mbps). All players of a process together take at most a tenth
/// of what is free there. The file has no name, lies in the user's cache folder (`$XDG_CACHE_HOME` or `$HOME/.cache`, else
/// `$TMPDIR`, else `/tmp`; not in one that is kept in memory) and is gone with the player, however the process ends. With
/// the PDN off there is none. Bytes that come back from it are verified again.
public let VBDiskLimitKey = "disk-limit"
/// Whether only viewers in the same local network are talked to (Bool; false).
public let VBLANOnlyKey = "lan-only"
/// The port on which other viewers are heard (Int, 0 to 65535; 0, any).
public let VBListenPortKey = "listen-port"
/// What is logged to standard error ([String: String] of ``VBLogDomain`` to ``VBLogLevel``; nothing).
public let VBLogLevelsKey = "log"

/// A part of the library that logs on its own level.
public enum VBLogDomain: String, Sendable, CaseIterable {
    /// The player's states and commands.
    case player
    /// Decoding and presentation.
    case engine
    /// What is fetched from where.
    case delivery
    /// Transfers from the CDN.
    case network
    /// Links to other viewers.
    case peers
    /// Talk with trackers.
    case tracker
    /// Signatures, catalogues and what was refused.
    case integrity
}

/// How much a domain logs; each level includes those before it.
public enum VBLogLevel: String, Sendable, CaseIterable, Comparable {
    /// Nothing.
    case off
    /// What ended playback.
    case error
    /// What a person should look at.
    case warning
    /// The turns of a session.
    case info
    /// Decisions.
    case debug
    /// Everything.
    case trace

    public static func < (left: VBLogLevel, right: VBLogLevel) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
