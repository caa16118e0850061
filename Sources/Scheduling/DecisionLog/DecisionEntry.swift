public import CoreModel

/// One line of a decision log: a call to a scheduler, with what went in or came out.
///
/// A log begins with the configuration and then has every call in order: an input for each ``Scheduler/handle(_:now:)``,
/// an output for each ``Scheduler/poll(now:)``, ``SchedulerOutput/wait(until:)`` included, since a pass may change what the
/// scheduler knows without deciding anything. Another scheduler that gets the same calls gives the same outputs.
public struct DecisionEntry: Sendable, Equatable {
    /// What happened.
    public enum Event: Sendable, Equatable {
        /// The scheduler was made.
        case configuration(SchedulerConfiguration)
        /// The driver told the scheduler something.
        case input(SchedulerInput)
        /// The scheduler answered.
        case output(SchedulerOutput)
        /// A rendition of so many bits a second was chosen for a segment. Nothing that a scheduler is told.
        case choice(SegmentID, BitrateDecision, bitsPerSecond: Int)
    }

    /// The instant that the driver gave.
    public var time: MonotonicInstant
    /// What happened then.
    public var event: Event

    /// Makes an entry.
    public init(time: MonotonicInstant, event: Event) {
        self.time = time
        self.event = event
    }
}

extension DecisionEntry: Codable {
    private enum CodingKeys: String, CodingKey { case time, kind, value }

    private enum Kind: String, Codable { case configuration, input, output, choice }

    private struct Choice: Codable {
        var segment: SegmentID
        var decision: BitrateDecision
        var bitsPerSecond: Int
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        time = MonotonicInstant(nanoseconds: try container.decode(Int64.self, forKey: .time))
        switch try container.decode(Kind.self, forKey: .kind) {
        case .configuration:
            event = .configuration(try container.decode(SchedulerConfiguration.self, forKey: .value))
        case .input: event = .input(try container.decode(SchedulerInput.self, forKey: .value))
        case .output: event = .output(try container.decode(SchedulerOutput.self, forKey: .value))
        case .choice:
            let choice = try container.decode(Choice.self, forKey: .value)
            event = .choice(choice.segment, choice.decision, bitsPerSecond: choice.bitsPerSecond)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time.nanoseconds, forKey: .time)
        switch event {
        case .configuration(let value):
            try container.encode(Kind.configuration, forKey: .kind)
            try container.encode(value, forKey: .value)
        case .input(let value):
            try container.encode(Kind.input, forKey: .kind)
            try container.encode(value, forKey: .value)
        case .output(let value):
            try container.encode(Kind.output, forKey: .kind)
            try container.encode(value, forKey: .value)
        case .choice(let segment, let decision, let bitsPerSecond):
            try container.encode(Kind.choice, forKey: .kind)
            try container.encode(
                Choice(segment: segment, decision: decision, bitsPerSecond: bitsPerSecond), forKey: .value)
        }
    }
}
