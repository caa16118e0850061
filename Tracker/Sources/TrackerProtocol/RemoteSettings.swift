import CoreModel

/// What the operator tightens for the viewers of a stream. Absent means no limit from here; a viewer never loosens its
/// own limits, or its consent, because of these.
public struct RemoteSettings: Hashable, Sendable {
    /// Upload at most this many bits a second.
    public var maximumUploadBitsPerSecond: UInt32?
    /// Upload at most this share of what was downloaded, in percent.
    public var maximumUploadPercent: UInt32?
    /// Upload at most this many MiB a day.
    public var maximumUploadMebibytesPerDay: UInt32?
    /// Hold at most this many links to peers.
    public var maximumPeerCount: UInt32?
    /// Use no peers at all: leave, and play from the CDN alone until the session ends.
    public var disablesPeers = false

    /// No limit at all.
    public init() {}

    private enum Key: UInt8, CaseIterable {
        case uploadBitsPerSecond = 1
        case uploadPercent = 2
        case uploadMebibytesPerDay = 3
        case peerCount = 4
        case disablesPeers = 5
    }

    init(from reader: inout WireReader) throws(WireError) {
        let count = Int(try reader.integer(UInt8.self))
        guard count <= ControlProtocol.maximumSettingCount else {
            throw .tooLarge(field: "settings", value: count, limit: ControlProtocol.maximumSettingCount)
        }
        for _ in 0..<count {
            let key: UInt8 = try reader.integer()
            let value: UInt32 = try reader.integer()
            switch Key(rawValue: key) {
            case .uploadBitsPerSecond: maximumUploadBitsPerSecond = value
            case .uploadPercent: maximumUploadPercent = value
            case .uploadMebibytesPerDay: maximumUploadMebibytesPerDay = value
            case .peerCount: maximumPeerCount = value
            case .disablesPeers: disablesPeers = value != 0
            case nil: break  // A later tracker may name what this viewer doesn't know.
            }
        }
    }

    func write(to writer: inout WireWriter) {
        let settings = Key.allCases.compactMap { key in value(of: key).map { (key, $0) } }
        writer.integer(UInt8(settings.count))
        for (key, value) in settings {
            writer.integer(key.rawValue)
            writer.integer(value)
        }
    }

    private func value(of key: Key) -> UInt32? {
        switch key {
        case .uploadBitsPerSecond: maximumUploadBitsPerSecond
        case .uploadPercent: maximumUploadPercent
        case .uploadMebibytesPerDay: maximumUploadMebibytesPerDay
        case .peerCount: maximumPeerCount
        case .disablesPeers: disablesPeers ? 1 : nil
        }
    }
}
