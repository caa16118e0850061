/// How far one read or write on a socket that doesn't block came.
public enum SocketProgress: Hashable, Sendable {
    /// So many bytes went through; at least one.
    case bytes(Int)
    /// Nothing now; the socket's watch tells when to try again.
    case wouldBlock
    /// The other side ended its direction; of reads only.
    case end
    /// The connection is broken, in words.
    case failed(String)
}
