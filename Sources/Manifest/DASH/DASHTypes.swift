public import CoreModel

/// A date as an MPD wrote it.
public struct DASHDate: Hashable, Sendable {
    /// The text.
    public var text: String
    /// What it says; a date without a zone is taken as UTC. `nil` if it is no date.
    public var time: UnixTime?
}

/// BaseURL: ISO/IEC 23009-1, section 5.6.
public struct DASHBaseURL: Hashable, Sendable {
    /// The reference as written.
    public var text: String
    public var serviceLocation: String?
    public var byteRange: String?
    /// Seconds as written; `INF` is possible.
    public var availabilityTimeOffset: String?
    public var availabilityTimeComplete: Bool?
    public var timeShiftBufferDepth: MediaTime?
    /// DVB: the lower, the more preferred.
    public var priority: UInt64?
    /// DVB: the share among equal priorities.
    public var weight: UInt64?
}

/// A descriptor: ISO/IEC 23009-1, section 5.8.2.
public struct DASHDescriptor: Hashable, Sendable {
    /// @schemeIdUri, as written.
    public var scheme: String
    public var value: String?
    public var id: String?
    /// @cenc:default_KID, as written.
    public var defaultKeyID: String?
    /// Contents of cenc:pssh elements, in Base64.
    public var protectionData: [String]

    init(_ element: XMLElement) {
        scheme = element["schemeIdUri"] ?? ""
        value = element["value"]
        id = element["id"]
        defaultKeyID = element.attribute(named: "default_KID")
        protectionData = element.children("pssh").map { $0.text.trimmed }
    }
}

/// A reference with a byte range (URLType): ISO/IEC 23009-1, section 5.3.9.2.2.
public struct DASHURL: Hashable, Sendable {
    /// @sourceURL as written; `nil` means the base URL.
    public var sourceURL: String?
    /// @range.
    public var range: Range<UInt64>?
}

/// EventStream: ISO/IEC 23009-1, section 5.10.2.
public struct DASHEventStream: Hashable, Sendable {
    public var scheme: String
    public var value: String?
    /// Ticks a second of its times; 1 unless given.
    public var timescale: UInt64
    public var presentationTimeOffset: UInt64
    public var events: [DASHEvent]
}

/// Event: ISO/IEC 23009-1, section 5.10.2.2.
public struct DASHEvent: Hashable, Sendable {
    public var presentationTime: UInt64
    public var duration: UInt64?
    public var id: String?
    /// @messageData, or the text in it.
    public var message: String?
}

/// ServiceDescription: ISO/IEC 23009-1, annex K.
public struct DASHServiceDescription: Hashable, Sendable {
    /// Latencies in milliseconds.
    public struct Latency: Hashable, Sendable {
        public var target: UInt64?
        public var minimum: UInt64?
        public var maximum: UInt64?
        public var referenceID: UInt64?
    }

    /// Playback rates.
    public struct PlaybackRate: Hashable, Sendable {
        public var minimum: MediaTime?
        public var maximum: MediaTime?
    }

    public var id: String?
    public var latency: Latency?
    public var playbackRate: PlaybackRate?
}

/// ProducerReferenceTime: ISO/IEC 23009-1, section 5.12.
public struct DASHProducerReferenceTime: Hashable, Sendable {
    public var id: String?
    public var type: String?
    public var wallClockTime: String?
    public var presentationTime: UInt64?
    /// The clock that the wall-clock time was read from.
    public var utcTiming: DASHDescriptor?
}

/// PatchLocation: ISO/IEC 23009-1, section 5.15.
public struct DASHPatchLocation: Hashable, Sendable {
    /// Resolved.
    public var url: String
    /// Seconds.
    public var timeToLive: MediaTime?
}
