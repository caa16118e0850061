/// The one-line form of a player's address and settings: `cdn=URL enable-pdn=true tracker=URL …`.
///
/// Words are separated by white space. Single quotes keep everything between them; double quotes keep white space, and a
/// backslash before a double quote or backslash in them stands for that character, as it does for any character outside of
/// quotes. Only `tracker`, `trust` and `log` may come more than once.
struct ArgumentLine: Sendable {
    /// The manifest's address.
    var address: WebAddress
    /// The settings.
    var settings: PlayerSettings

    /// The most bytes of a line.
    static let maximumByteCount = 64 * 1024

    /// Reads a line.
    ///
    /// - Throws: An error that names the argument.
    init(_ line: String) throws(PlayerError) {
        guard line.utf8.count <= Self.maximumByteCount else {
            throw PlayerError(.malformedArguments, "The arguments have more than \(Self.maximumByteCount) bytes.")
        }
        var address: WebAddress?
        var settings = PlayerSettings()
        var seen: Set<String> = []
        for word in try Self.words(of: line) {
            guard let separator = word.firstIndex(of: "="), separator != word.startIndex else {
                throw PlayerError(
                    .malformedArguments, "The argument \"\(word.prefix(100))\" is not of the form name=value.")
            }
            let name = String(word[..<separator])
            let value = String(word[word.index(after: separator)...])
            let definition = SettingDefinition.named(name)
            guard name == "cdn" || definition != nil else {
                throw PlayerError(.unknownSetting, "There is no argument \"\(name.prefix(100))\".")
            }
            if !(definition?.isRepeatable ?? false), !seen.insert(name).inserted {
                throw PlayerError(.malformedArguments, "The argument \(name) is given twice.")
            }
            if let definition {
                try definition.store(text: value, in: &settings)
            } else {
                address = try WebAddress(value)
            }
        }
        guard let address else { throw PlayerError(.wrongAddress, "The argument cdn is missing.") }
        self.address = address
        self.settings = settings
    }

    private enum Quoting { case none, single, double }

    /// Takes the line apart.
    static func words(of line: String) throws(PlayerError) -> [String] {
        var words: [String] = []
        var word: String?
        var quoting = Quoting.none
        var isEscaped = false
        for character in line {
            if isEscaped {
                // Within double quotes a backslash is itself unless it protects a quote or another backslash.
                if quoting == .double, character != "\"", character != "\\" { word?.append("\\") }
                word = (word ?? "") + String(character)
                isEscaped = false
                continue
            }
            switch (quoting, character) {
            case (.none, "\\"), (.double, "\\"):
                isEscaped = true
                word = word ?? ""
            case (.none, "'"):
                quoting = .single
                word = word ?? ""
            case (.none, "\""):
                quoting = .double
                word = word ?? ""
            case (.single, "'"), (.double, "\""): quoting = .none
            case (.none, let space) where space.isWhitespace:
                if let complete = word { words.append(complete) }
                word = nil
            case (.none, _), (.single, _), (.double, _): word = (word ?? "") + String(character)
            }
        }
        guard quoting == .none, !isEscaped else {
            throw PlayerError(.malformedArguments, "The argument \"\((word ?? "").prefix(100))\" has an open quote.")
        }
        if let word { words.append(word) }
        return words
    }
}
