internal import Foundation

/// Reads a command line against its specification.
public enum CommandParser {
    /// What the caller asked for.
    public enum Result: Sendable {
        /// `--help` stood somewhere.
        case help
        /// `--version` stood somewhere.
        case version
        /// Run with these arguments.
        case run(CommandArguments)
    }

    /// Parses the arguments after the command's name, and the configuration file they name.
    ///
    /// Everything after `--` is an operand. An option on the command line replaces the one in the file.
    ///
    /// - Throws: A failure of exit code `usage`, or `badInput` for the configuration file.
    public static func parse(
        _ arguments: [String], for specification: CommandSpecification
    ) throws(CommandFailure) -> Result {
        let options = Dictionary(
            (specification.options + CommandSpecification.common).map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
        var values: [String: [String]] = [:]
        var operands: [String] = []
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            index += 1
            if argument == "--" {
                operands += arguments[index...]
                break
            }
            if argument == "-h" { return .help }
            guard argument.hasPrefix("--") else {
                guard !argument.hasPrefix("-") || argument == "-" || Double(argument) != nil else {
                    throw .usage("there is no option \(argument); options have two dashes")
                }
                operands.append(argument)
                continue
            }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = options[name] else { throw .usage(unknown(name, among: options.keys)) }
            switch option.form {
            case .flag:
                values[name] = [try flag(parts.count == 2 ? String(parts[1]) : "true", of: name)]
            case .value, .repeated:
                let value: String
                if parts.count == 2 {
                    value = String(parts[1])
                } else {
                    guard index < arguments.count else {
                        throw .usage("--\(name) wants a value: --\(name) \(option.placeholder)")
                    }
                    value = arguments[index]
                    index += 1
                }
                values[name] = option.form == .repeated ? values[name, default: []] + [value] : [value]
            }
        }
        if values["help"] == ["true"] { return .help }
        if values["version"] == ["true"] { return .version }
        if let file = values["config"]?.last {
            let configured = try configuration(in: file, options: options)
            values.merge(configured) { given, _ in given }
        }
        for option in specification.options where option.isRequired && values[option.name] == nil {
            throw .usage("--\(option.name) \(option.placeholder) is missing")
        }
        guard specification.operandCount.contains(operands.count) else {
            throw .usage(
                operands.count < specification.operandCount.lowerBound
                    ? "\(specification.operands) is missing"
                    : "there is one argument too many: \(operands[specification.operandCount.upperBound])")
        }
        return .run(CommandArguments(operands: operands, values: values))
    }

    private static func flag(_ text: String, of name: String) throws(CommandFailure) -> String {
        guard text == "true" || text == "false" else { throw .usage("--\(name) takes no value but true or false") }
        return text
    }

    private static func unknown(_ name: String, among known: some Collection<String>) -> String {
        let close = known.sorted().first { $0.hasPrefix(name) || name.hasPrefix($0) }
        return "there is no option --\(name)" + (close.map { "; did you mean --\($0)?" } ?? "")
    }

    private static func configuration(
        in file: String, options: [String: CommandOption]
    ) throws(CommandFailure) -> [String: [String]] {
        let bytes: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            defer { try? handle.close() }  // Nothing was written.
            bytes = try handle.read(upToCount: maximumConfigurationByteCount + 1) ?? Data()
        } catch {
            throw .badInput("\(file) can't be read: \(error.localizedDescription)")
        }
        return try configuration(Array(bytes), of: file, options: options)
    }

    /// The most bytes of a configuration file.
    static let maximumConfigurationByteCount = 1 << 20

    /// Reads the options of a configuration file from its bytes.
    ///
    /// - Parameter file: What the messages call it.
    package static func configuration(
        _ bytes: [UInt8], of file: String, options: [String: CommandOption]
    ) throws(CommandFailure) -> [String: [String]] {
        guard bytes.count <= maximumConfigurationByteCount else {
            throw .badInput("\(file) has more than \(maximumConfigurationByteCount) bytes")
        }
        let document: JSONValue
        do {
            document = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        } catch {
            throw .badInput("\(file) is not a JSON document")
        }
        guard case .object(let members) = document else {
            throw .badInput("\(file) must hold one JSON object whose members are options")
        }
        var values: [String: [String]] = [:]
        for (name, value) in members {
            guard let option = options[name], name != "config" else {
                throw .badInput("\(file): " + unknown(name, among: options.keys))
            }
            switch (option.form, value) {
            case (.flag, .boolean(let isSet)): values[name] = [String(isSet)]
            case (.repeated, .array(let items)):
                values[name] = try items.map { item throws(CommandFailure) in
                    try text(item, of: name, in: file)
                }
            case (.value, _), (.repeated, _): values[name] = [try text(value, of: name, in: file)]
            case (.flag, _): throw .badInput("\(file): \(name) must be true or false")
            }
        }
        return values
    }

    private static func text(
        _ value: JSONValue, of name: String, in file: String
    ) throws(CommandFailure) -> String {
        switch value {
        case .string(let text): return text
        case .boolean(let isSet): return String(isSet)
        case .integer(let number): return String(number)
        case .unsigned(let number): return String(number)
        case .number(let number): return String(number)
        case .null, .array, .object: throw .badInput("\(file): \(name) must be a string or a number")
        }
    }
}
