/// What a format name of RFC 6381 stands for.
enum CodecKind: Equatable {
    case video, audio, text, image

    /// Reads the sample entry in front of the first point; `nil` if it isn't known.
    init?(_ codec: some StringProtocol) {
        let entry = String(codec).trimmed.split(separator: ".").first.map { $0.lowercased() } ?? ""
        switch entry {
        case "avc1", "avc2", "avc3", "avc4", "hvc1", "hev1", "dvh1", "dvhe", "dva1", "dvav", "dav1", "av01", "vp8",
            "vp08",
            "vp9", "vp09", "vvc1", "vvi1", "mp4v", "lvc1", "evc1", "theora":
            self = .video
        case "mp4a", "ac-3", "ec-3", "ac-4", "opus", "flac", "alac", "dtsc", "dtse", "dtsh", "dtsl", "dtsx", "mp3",
            "vorbis",
            "mha1", "mha2", "mhm1", "mhm2", "iamf", "samr", "sawb", "pcm", "ipcm", "fpcm":
            self = .audio
        case "stpp", "wvtt", "tx3g", "ttml", "webvtt": self = .text
        case "jpeg", "png": self = .image
        default: return nil
        }
    }
}
