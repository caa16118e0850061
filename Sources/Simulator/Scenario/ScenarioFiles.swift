/// How the files that a scenario names are read; names are relative to the scenario.
package struct ScenarioFiles: Sendable {
    /// Why a file can't be read, in words.
    package struct Failure: Error, Equatable {
        package var reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// Reads a whole file; should refuse what is longer than ``NetworkTrace/byteLimit``, as its parsers do.
    package var read: @Sendable (_ name: String) throws(Failure) -> [UInt8]

    package init(read: @escaping @Sendable (_ name: String) throws(Failure) -> [UInt8]) { self.read = read }

    /// For scenarios that are whole in themselves.
    package static let none = ScenarioFiles { name throws(Failure) in
        throw Failure(reason: "this scenario can't name files")
    }
}
