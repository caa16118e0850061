extension PlayerSettings {
    /// Reads the dictionary of ``VBPlayer/init(cdn:settings:)-(_,[String:Any])``; the first fault in the order of keys counts.
    package init(dictionary: [AnyHashable: Any]) throws(PlayerError) {
        self.init()
        var named: [String: Any] = [:]
        for (key, value) in dictionary {
            guard let name = key as? String else {
                throw PlayerError(.unknownSetting, "A key of the settings is no String: \(key).")
            }
            named[name] = value
        }
        for (name, value) in named.sorted(by: { $0.key < $1.key }) {
            guard let definition = SettingDefinition.named(name) else {
                throw PlayerError(.unknownSetting, "There is no setting \"\(name.prefix(100))\".")
            }
            try definition.store(value, in: &self)
        }
    }

    /// Reads the settings of one line of arguments with its address, as ``VBPlayer/init(args:)`` does.
    package init(line: String) throws(PlayerError) { self = try ArgumentLine(line).settings }

    /// Stores one setting from text, as `--set NAME=VALUE` of a command line gives it; a repeatable one is added.
    ///
    /// - Throws: An error that names the setting.
    package mutating func store(name: String, text: String) throws {
        guard let definition = SettingDefinition.named(name) else {
            throw PlayerError(.unknownSetting, "There is no setting \"\(name.prefix(100))\".").nsError
        }
        do { try definition.store(text: text, in: &self) } catch { throw error.nsError }
    }

    /// Whether `text` has the form of a language tag, as ``VBAudioLanguageKey`` takes it.
    package static func isLanguageTag(_ text: String) -> Bool { SettingDefinition.isLanguageTag(text) }
}
