public import CoreModel

/// Something that a ``LiveFollower`` wants of the network. Its shell carries it out and answers with ``LiveInput``.
public struct LiveRequest: Sendable, Equatable {
    /// Names a request; never given twice by one follower.
    public typealias ID = UInt32

    /// What is asked for.
    public enum Purpose: Sendable, Equatable {
        /// A media playlist.
        case playlist(Rendition.ID)
        /// The MPD.
        case manifest
        /// A patch for the MPD.
        case patch
        /// The time, of a server that DASH UTCTiming names.
        case clock
    }

    /// How it is asked for.
    public enum Method: Sendable, Equatable {
        /// HTTP GET.
        case get
        /// HTTP HEAD: the answer's date is what matters.
        case head
        /// A request of RFC 4330 (48 bytes, ``NTPTime/request``) over UDP to port 123 of the host that `url` is.
        case ntp
    }

    /// Its name.
    public var id: ID
    /// What is asked for.
    public var purpose: Purpose
    /// How.
    public var method: Method
    /// Where.
    public var url: String
    /// How long the answer may take: a blocking reload is answered when there is something new.
    public var timeout: Duration
}

/// What a server answered.
public struct LiveAnswer: Sendable, Equatable {
    /// The body.
    public var bytes: [UInt8]
    /// Where it came from, after redirects.
    public var finalURL: String
    /// The HTTP status; 200 for what isn't HTTP.
    public var status: Int
    /// The `Date` of the answer.
    public var date: UnixTime?
    /// Its `Age`: how long it lay in caches.
    public var age: Duration

    /// Describes an answer.
    public init(
        bytes: [UInt8], finalURL: String, status: Int = 200, date: UnixTime? = nil, age: Duration = .zero
    ) {
        self.bytes = bytes
        self.finalURL = finalURL
        self.status = status
        self.date = date
        self.age = age
    }
}

/// What the shell tells a ``LiveFollower``.
public enum LiveInput: Sendable, Equatable {
    /// A request was answered.
    case answer(LiveRequest.ID, LiveAnswer)
    /// A request failed; `isGone` when the server says that it isn't there (404, 410) or asks for too much (400).
    case failed(LiveRequest.ID, isGone: Bool)
    /// Something speaks for a new manifest before its time: a segment that isn't there, an event in the media, a record
    /// of a segment that isn't listed yet.
    case refreshWanted
    /// An instant of ``LiveOutput/wait(until:)`` has come.
    case timer
}

/// What a ``LiveFollower`` wants or tells.
public enum LiveOutput: Sendable, Equatable {
    /// To be asked for.
    case fetch(LiveRequest)
    /// Something has happened.
    case event(LiveEvent)
    /// Nothing to do before this instant; `nil` means that only an input can make progress.
    case wait(until: MonotonicInstant?)
}

/// What happens to a live presentation.
public enum LiveEvent: Sendable, Equatable {
    /// The clock is known and all renditions that are followed have segments: playback can start.
    case ready
    /// Segments were added to a rendition.
    case grown(Rendition.ID, count: Int)
    /// The encoder began its numbers again; what follows is another epoch.
    case restarted(Rendition.ID, epoch: UInt32)
    /// Segments are missing between what was known and what is listed now.
    case jumped(Rendition.ID, missingSegments: UInt64)
    /// An answer was older than what is known and was left aside.
    case ignoredOlder(Rendition.ID)
    /// Nothing new has come for longer than it should take. Asking goes on.
    case stale
    /// Something new came after that.
    case recovered
    /// No segment will be added.
    case ended
    /// Something was passed over.
    case problem(String)
}
