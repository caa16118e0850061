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

    private enum Kind: String, Codable { case configuration, input, output }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        time = MonotonicInstant(nanoseconds: try container.decode(Int64.self, forKey: .time))
        switch try container.decode(Kind.self, forKey: .kind) {
        case .configuration:
            event = .configuration(try container.decode(SchedulerConfiguration.self, forKey: .value))
        case .input: event = .input(try container.decode(SchedulerInput.self, forKey: .value))
        case .output: event = .output(try container.decode(SchedulerOutput.self, forKey: .value))
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
        }
    }
}
