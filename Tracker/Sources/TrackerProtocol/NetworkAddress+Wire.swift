import CoreModel

extension NetworkAddress {
    /// Reads sixteen bytes of address (IPv4 mapped into IPv6) and the port.
    init(from reader: inout WireReader) throws(WireError) {
        self.init(host: try reader.bytes16(), port: try reader.integer())
    }

    func write(to writer: inout WireWriter) {
        writer.append(host)
        writer.integer(port)
    }
}
