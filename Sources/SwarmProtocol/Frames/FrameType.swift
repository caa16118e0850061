/// The type byte of a frame. Numbers are never reused; an unknown one closes the link.
public enum FrameType: UInt8, Sendable, CaseIterable {
    case hello = 0x01
    case have = 0x02
    case claim = 0x03
    case recordRequest = 0x04
    case record = 0x05
    case leaves = 0x06
    case request = 0x07
    case data = 0x08
    case reject = 0x09
    case cancel = 0x0A
    case choke = 0x0B
    case unchoke = 0x0C
    case peers = 0x0D
    case ping = 0x0E
    case pong = 0x0F
    case bye = 0x10
}
