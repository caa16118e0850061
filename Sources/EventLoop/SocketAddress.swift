public import CoreModel
internal import CLibuv
internal import Glibc

extension NetworkAddress {
    /// Reads `host:port` or `[host]:port` with a numeric IPv4 or IPv6 address; `localhost` is 127.0.0.1 and an empty
    /// host or `*` every IPv4 address. `nil` for anything else.
    public init?(parsing text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        self.init(numericHost: host, port: port)
    }

    /// Reads a numeric address without a port.
    public init?(numericHost host: String, port: UInt16) {
        let name = host == "localhost" ? "127.0.0.1" : (host.isEmpty || host == "*" ? "0.0.0.0" : host)
        var ipv4 = in_addr()
        if unsafe inet_pton(AF_INET, name, &ipv4) == 1 {
            self.init(ipv4: UInt32(bigEndian: ipv4.s_addr), port: port)
            return
        }
        var ipv6 = in6_addr()
        guard unsafe inet_pton(AF_INET6, name, &ipv6) == 1 else { return nil }
        let bytes = unsafe withUnsafeBytes(of: &ipv6) { unsafe Array($0) }
        guard let host = Bytes16(bytes) else { return nil }
        self.init(host: host, port: port)
    }

    /// Calls `body` with the address as the system's calls take it.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        if let ipv4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = ipv4.bigEndian
            return unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
            }
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        let bytes = host.bytes
        unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
        }
    }

    /// Reads an address that the system lends; `nil` for another family.
    init?(_ address: UnsafePointer<sockaddr>) {
        let isIPv4 = unsafe Int32(address.pointee.sa_family) == AF_INET
        var storage = sockaddr_storage()
        let byteCount = isIPv4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        guard unsafe isIPv4 || Int32(address.pointee.sa_family) == AF_INET6 else { return nil }
        unsafe withUnsafeMutableBytes(of: &storage) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: byteCount))
        }
        self.init(storage)
    }

    /// Reads what the system filled in; `nil` for another family.
    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            let address = unsafe withUnsafePointer(to: &storage) {
                unsafe $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { unsafe $0.pointee }
            }
            self.init(ipv4: UInt32(bigEndian: address.sin_addr.s_addr), port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            var address = unsafe withUnsafePointer(to: &storage) {
                unsafe $0.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { unsafe $0.pointee }
            }
            let bytes = unsafe withUnsafeBytes(of: &address.sin6_addr) { unsafe Array($0) }
            guard let host = Bytes16(bytes) else { return nil }
            self.init(host: host, port: UInt16(bigEndian: address.sin6_port))
        default: return nil
        }
    }
}
