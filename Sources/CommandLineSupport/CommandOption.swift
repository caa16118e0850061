/// One option that a command understands, written `--name` or `--name VALUE` or `--name=VALUE`.
public struct CommandOption: Sendable {
    /// How often an option may appear and whether it takes a value.
    public enum Form: Sendable, Equatable {
        /// Present or absent; `--name=false` is absent.
        case flag
        /// Takes a value; a later one replaces an earlier one.
        case value
        /// Takes a value and may be repeated.
        case repeated
    }

    /// The name without its dashes.
    public let name: String
    /// Whether it takes a value, and several.
    public let form: Form
    /// What stands for the value in the help: `FILE`, `SECONDS`, `on|off`.
    public let placeholder: String
    /// One line of help; says the default.
    public let summary: String
    /// Whether the command can't run without it.
    public let isRequired: Bool

    /// An option without a value.
    public static func flag(_ name: String, _ summary: String) -> CommandOption {
        CommandOption(name: name, form: .flag, placeholder: "", summary: summary, isRequired: false)
    }

    /// An option with a value.
    public static func value(
        _ name: String, _ placeholder: String, _ summary: String, isRequired: Bool = false
    ) -> CommandOption {
        CommandOption(name: name, form: .value, placeholder: placeholder, summary: summary, isRequired: isRequired)
    }

    /// An option with a value that may be given several times.
    public static func repeated(_ name: String, _ placeholder: String, _ summary: String) -> CommandOption {
        CommandOption(name: name, form: .repeated, placeholder: placeholder, summary: summary, isRequired: false)
    }
}
