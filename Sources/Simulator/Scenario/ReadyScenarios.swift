/// The scenarios that come with the library, by name; their files are in Sources/Simulator/Scenarios.
///
/// They are compiled in, so that an installed tool needs no file beside it.
package enum ReadyScenarios {
    /// The names, in order.
    package static var names: [String] { files.map(\.name) }

    /// The file of a scenario; `nil` when there is none of this name.
    package static func json(named name: String) -> [UInt8]? { files.first { $0.name == name }?.json }

    private static var files: [(name: String, json: [UInt8])] {
        [
            ("cdn-trouble", PackageResources.cdn_trouble_json),
            ("company-sites", PackageResources.company_sites_json),
            ("crowd-in-a-minute", PackageResources.crowd_in_a_minute_json),
            ("live-default-caps", PackageResources.live_default_caps_json),
            ("live-free-riders", PackageResources.live_free_riders_json),
            ("live-hostile", PackageResources.live_hostile_json),
            ("live-low-latency", PackageResources.live_low_latency_json),
            ("live-outages", PackageResources.live_outages_json),
            ("live-scarce", PackageResources.live_scarce_json),
            ("live-steady", PackageResources.live_steady_json),
            ("mobile-audience", PackageResources.mobile_audience_json),
            ("office-town-hall", PackageResources.office_town_hall_json),
            ("vod-long-tail", PackageResources.vod_long_tail_json),
            ("vod-premiere", PackageResources.vod_premiere_json),
            ("vod-steady", PackageResources.vod_steady_json),
            ("world-cup-final", PackageResources.world_cup_final_json),
        ]
    }
}
