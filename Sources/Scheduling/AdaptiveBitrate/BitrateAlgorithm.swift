/// The rules that bitrate adaptation can follow.
public enum BitrateAlgorithm: String, Sendable, Codable, CaseIterable {
    /// This project's own: the best outlook over the next segments.
    case outlook
    /// The highest rung that nine tenths of the throughput sustain.
    case throughput
    /// BOLA, by the buffer; with a smaller one near the start and the end.
    case bola
    /// BOLA as first published: the whole buffer from start to end, nothing abandoned.
    case bolaBasic
    /// BOLA-E, with a placeholder for segments that could have been there.
    case bolaE
    /// Throughput while the buffer is low, BOLA above.
    case dynamic
}
