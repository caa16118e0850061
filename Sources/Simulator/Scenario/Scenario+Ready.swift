extension Scenario {
    /// Reads a scenario that comes with the library; `nil` when there is none of this name.
    package init?(ready name: String) throws(ScenarioError) {
        guard let json = ReadyScenarios.json(named: name) else { return nil }
        try self.init(json: json)
    }
}
