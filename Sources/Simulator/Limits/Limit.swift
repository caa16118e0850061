/// A bound on offload: what no swarm, or no swarm of a certain kind, can exceed under the given circumstances.
package struct Limit: Sendable, Equatable {
    package enum Strength: String, Sendable {
        /// Follows from counting bytes: a run above it has an error.
        case hard
        /// Holds under assumptions of its own (nothing fetched ahead, nothing kept, everybody at one point): a run can beat
        /// it, and comparing is all that one does with it.
        case soft
    }

    package enum Name: String, CaseIterable, Sendable {
        case firstCopy, uplink, reach, deadline, injection
        case fluid, order, swarmSize, warmUp
    }

    package var name: Name
    package var strength: Strength
    /// Offload at most, from 0 to 1.
    package var value: Double
    /// What it means, for people.
    package var sentence: String

    init(_ name: Name, _ strength: Strength, _ value: Double, _ sentence: String) {
        self.name = name
        self.strength = strength
        self.value = value.isNaN ? 0 : min(1, max(0, value))
        self.sentence = sentence
    }
}

extension [Limit] {
    /// The least of the hard bounds: what a run must not exceed. `nil` without any.
    package var tightestHard: Limit? { filter { $0.strength == .hard }.min { $0.value < $1.value } }
}
