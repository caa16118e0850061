/// An IPv4 or IPv6 address with a port.
public struct NetworkAddress: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The address; IPv4 in its IPv6-mapped form (`::ffff:a.b.c.d`).
    public var host: Bytes16
    /// The port in host order.
    public var port: UInt16

    /// Makes an address from its sixteen bytes and a port.
    public init(host: Bytes16, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Makes an IPv4 address, the first octet in the highest byte.
    public init(ipv4: UInt32, port: UInt16) {
        self.host = Bytes16(high: 0, low: 0xFFFF_0000_0000 | UInt64(ipv4))
        self.port = port
    }

    /// Whether the address is an IPv4 one.
    public var isIPv4: Bool { host.high == 0 && host.low >> 32 == 0xFFFF }

    /// The IPv4 address, the first octet in the highest byte; `nil` for IPv6.
    public var ipv4: UInt32? { isIPv4 ? UInt32(truncatingIfNeeded: host.low) : nil }

    /// Whether the address is the machine itself (127/8, ::1).
    public var isLoopback: Bool {
        if let ipv4 { return ipv4 >> 24 == 127 }
        return host == Bytes16(high: 0, low: 1)
    }

    /// Whether the address is private, link-local or unique-local (RFC 1918, 3927, 4193, 4291).
    public var isPrivate: Bool {
        if let ipv4 {
            return ipv4 >> 24 == 10 || ipv4 >> 20 == 0xAC1 || ipv4 >> 16 == 0xC0A8 || ipv4 >> 16 == 0xA9FE
        }
        return host.high >> 57 == 0x7E || host.high >> 54 == 0x3FA
    }

    /// The prefix that is counted as one neighbour: /24 of IPv4, /48 of IPv6.
    public var sitePrefix: Bytes16 {
        isIPv4
            ? Bytes16(high: 0, low: host.low & ~0xFF) : Bytes16(high: host.high & ~0xFFFF, low: 0)
    }

    /// What limits per address count as one: an IPv4 address, or the /48 of an IPv6 one, since every site may take any
    /// address in its own.
    public var countedHost: Bytes16 { isIPv4 ? host : sitePrefix }

    public static func < (left: NetworkAddress, right: NetworkAddress) -> Bool {
        (left.host, left.port) < (right.host, right.port)
    }

    /// `a.b.c.d:port`, or `[x:x:…]:port` with eight groups.
    public var description: String {
        if let ipv4 {
            let octets = [24, 16, 8, 0].map { String(ipv4 >> UInt32($0) & 0xFF) }
            return octets.joined(separator: ".") + ":\(port)"
        }
        let groups = [host.high, host.low].flatMap { word in
            [48, 32, 16, 0].map { String(word >> UInt64($0) & 0xFFFF, radix: 16) }
        }
        return "[" + groups.joined(separator: ":") + "]:\(port)"
    }
}
