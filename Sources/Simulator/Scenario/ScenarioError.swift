/// Why a scenario can't be used: each names the key by its path, as in `links.classes[2].up`, and what may stand there.
package enum ScenarioError: Error, Equatable, CustomStringConvertible {
    /// The text is no JSON document.
    case json(JSONError)
    /// A key that means nothing; `allowed` are those of its object.
    case unknownKey(String, allowed: [String])
    /// A key that must be there is not.
    case missingKey(String, allowed: String)
    /// A value of the wrong kind or out of range.
    case wrongValue(String, found: String, allowed: String)
    /// Values that are right each on its own and can't be together.
    case contradiction(String, reason: String)
    /// A file that the scenario names can't be used.
    case file(String, name: String, reason: String)

    /// The path of the key at fault; empty for the document as a whole.
    package var keyPath: String {
        switch self {
        case .json: ""
        case .unknownKey(let path, _), .missingKey(let path, _), .wrongValue(let path, _, _),
            .contradiction(let path, _), .file(let path, _, _):
            path
        }
    }

    /// A line for a terminal: what control characters the file has are spelled.
    package var description: String {
        var line = ""
        for scalar in sentence.unicodeScalars {
            if scalar.properties.generalCategory == .control {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    private var sentence: String {
        switch self {
        case .json(let error): "no JSON: \(error)"
        case .unknownKey(let path, let allowed):
            "\(path): no such key; allowed here: \(allowed.joined(separator: ", "))"
        case .missingKey(let path, let allowed): "\(path): missing; give \(allowed)"
        case .wrongValue(let path, let found, let allowed): "\(path): \(found) is not allowed; give \(allowed)"
        case .contradiction(let path, let reason): "\(path): \(reason)"
        case .file(let path, let name, let reason): "\(path): \(name): \(reason)"
        }
    }
}
