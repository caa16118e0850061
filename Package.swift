// swift-tools-version: 6.2

import PackageDescription

/// Settings of every Swift target: Swift 6 mode, the stricter upcoming features, and no warning left alone.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

/// Settings of the targets that touch C memory: each use of a pointer then reads `unsafe`.
let wrapperSettings: [SwiftSetting] = swiftSettings + [.strictMemorySafety()]

func library(
    _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, resources: [Resource] = [],
    settings: [SwiftSetting] = swiftSettings
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path ?? "Sources/\(name)", resources: resources,
        swiftSettings: settings)
}

func tool(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path ?? "Sources/\(name)", swiftSettings: swiftSettings)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, resources: [Resource] = [],
    settings: [SwiftSetting] = swiftSettings
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: path ?? "Tests/\(name)", resources: resources,
        swiftSettings: settings)
}

/// C libraries of the system, and the C shims for what Swift can't import of them.
let systemLibraries: [Target] = [
    .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .target(name: "CCurlShims", dependencies: ["CCurl"], path: "Sources/CCurlShims"),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
        name: "CFFmpeg", pkgConfig: "libavformat libavcodec libavutil",
        providers: [.apt(["libavformat-dev", "libavcodec-dev", "libavutil-dev"])]),
    // Debian's has no pkg-config file; the module map names the library.
    .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
    .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .target(name: "CMicroHTTPDShims", dependencies: ["CMicroHTTPD"], path: "Sources/CMicroHTTPDShims"),
    .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CCairo", pkgConfig: "cairo", providers: [.apt(["libcairo2-dev"])]),
    .target(name: "CFFmpegShims", dependencies: ["CFFmpeg"], path: "Sources/CFFmpegShims"),
]

/// Pure modules: no socket, clock, thread, random source or file (Scripts/check-purity.sh holds them to it).
let pureModules: [Target] = [
    .target(
        name: "CoreModel", path: "Sources/CoreModel", swiftSettings: swiftSettings,
        linkerSettings: [.linkedLibrary("m")]),
    library("Integrity", ["CoreModel"]),
    library("SwarmProtocol", ["CoreModel", "Integrity"]),
    library("Scheduling", ["CoreModel"]),
    library("ViewerCore", ["CoreModel", "Integrity", "SwarmProtocol", "Scheduling"]),
    library("NetworkEmulator", ["CoreModel"]),
    // Strictly memory safe too, because one of its files calls libxml2.
    library("Manifest", ["CoreModel", "CLibXML2"], settings: wrapperSettings),
    library("TrackerProtocol", ["CoreModel", "Integrity"], path: "Tracker/Sources/TrackerProtocol"),
    library("TrackerCore", ["CoreModel", "Integrity", "TrackerProtocol"], path: "Tracker/Sources/TrackerCore"),
]

/// Wrappers of C libraries, each the only importer of its library.
let wrappers: [Target] = [
    library("Cryptography", ["CoreModel", "CSodium", "CCrypto"], settings: wrapperSettings),
    library("EventLoop", ["CoreModel", "CLibuv"], settings: wrapperSettings),
    library("HTTPTransfer", ["CoreModel", "EventLoop", "CCurl", "CCurlShims"], settings: wrapperSettings),
    library(
        "WebSockets",
        ["CoreModel", "Cryptography", "EventLoop", "HTTPTransfer", "CWslay", "CMicroHTTPD", "CMicroHTTPDShims"],
        settings: wrapperSettings),
    library("Raster", ["CCairo"], settings: wrapperSettings),
    library("MediaEngine", ["CoreModel", "Cryptography", "CFFmpeg", "CFFmpegShims"], settings: wrapperSettings),
]

/// What carries the decisions of the pure modules out, and what people use.
let shells: [Target] = [
    library(
        "Delivery",
        [
            "CoreModel", "Integrity", "SwarmProtocol", "Scheduling", "ViewerCore", "Manifest", "TrackerProtocol",
            "Cryptography", "EventLoop", "HTTPTransfer", "WebSockets",
        ]),
    library(
        "VBPlayer", ["CoreModel", "Cryptography", "Delivery", "EventLoop", "MediaEngine", "Scheduling"]),
    library("CommandLineSupport", ["CoreModel", "Cryptography", "Integrity"]),
    .target(
        name: "Simulator",
        dependencies: [
            "CoreModel", "CommandLineSupport", "Integrity", "NetworkEmulator", "Scheduling", "SwarmProtocol",
            "TrackerCore", "TrackerProtocol", "ViewerCore",
        ],
        path: "Sources/Simulator", exclude: ["Scenario.md"], resources: [.embedInCode("Scenarios")],
        swiftSettings: swiftSettings),
    library(
        "TrackerServer",
        [
            "CoreModel", "Integrity", "TrackerProtocol", "TrackerCore", "Cryptography", "EventLoop", "WebSockets",
        ], path: "Tracker/Sources/TrackerServer"),
    tool(
        "pdn",
        [
            "CoreModel", "CommandLineSupport", "VBPlayer", "Delivery", "MediaEngine", "Manifest", "Integrity",
            "Cryptography", "EventLoop", "HTTPTransfer", "Raster", "Simulator",
        ]),
    tool(
        "pdn-tracker",
        [
            "CoreModel", "CommandLineSupport", "TrackerCore", "TrackerProtocol", "TrackerServer", "EventLoop",
            "WebSockets", "Cryptography", "Integrity",
        ],
        path: "Tracker/Sources/pdn-tracker"),
]

/// Benchmarks, run by Scripts/bench.sh; no product, since nobody installs them.
let benchmarks: [Target] = [
    tool(
        "pdn-bench",
        [
            "CoreModel", "Cryptography", "Integrity", "SwarmProtocol", "EventLoop", "Delivery", "CCrypto", "CCurl",
            "CCurlShims", "Manifest", "MediaEngine", "NetworkEmulator", "Scheduling", "Simulator", "VBPlayer",
        ])
]

let testTargets: [Target] = [
    // The sample of README.md; a test holds the two to the same text.
    tool("ReadmeSample", ["VBPlayer"], path: "Tests/ReadmeSample"),
    tests("CoreModelTests", ["CoreModel"]),
    tests(
        "TrackerProtocolTests", ["CoreModel", "Cryptography", "TrackerProtocol"],
        path: "Tracker/Tests/TrackerProtocolTests"),
    tests(
        "TrackerCoreTests", ["CoreModel", "Cryptography", "Integrity", "TrackerCore", "TrackerProtocol"],
        path: "Tracker/Tests/TrackerCoreTests"),
    tests(
        "TrackerServerTests",
        [
            "pdn-tracker", "CoreModel", "Cryptography", "EventLoop", "Integrity", "TrackerCore", "TrackerProtocol",
            "TrackerServer", "WebSockets", "TestSupport",
        ], path: "Tracker/Tests/TrackerServerTests"),
    tests(
        "WebSocketsTests", ["CoreModel", "Cryptography", "EventLoop", "WebSockets", "TestSupport"],
        resources: [.copy("Python")]),
    tests(
        "CallerMode5Tests", ["VBPlayer"], path: "Tests/CallerTests/Mode5",
        settings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    tests(
        "CallerMode6Tests", ["VBPlayer"], path: "Tests/CallerTests/Mode6",
        settings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    tests(
        "VBPlayerTests",
        ["VBPlayer", "CoreModel", "Cryptography", "Delivery", "EventLoop", "MediaEngine", "Scheduling", "TestSupport"],
        resources: [.copy("Python")]),
    tests("EventLoopTests", ["CLibuv", "CoreModel", "EventLoop", "TestSupport"]),
    tests("HTTPTransferTests", ["CoreModel", "EventLoop", "HTTPTransfer", "TestSupport"]),
    tests("CryptographyTests", ["CoreModel", "Cryptography"]),
    tests("RasterTests", ["Raster"]),
    tests("NetworkEmulatorTests", ["CoreModel", "NetworkEmulator"]),
    tests(
        "ViewerCoreTests",
        ["ViewerCore", "CoreModel", "Cryptography", "Integrity", "Scheduling", "SwarmProtocol"]),
    tests("SchedulingTests", ["CoreModel", "Scheduling", "TestSupport"]),
    tests(
        "SimulatorTests",
        ["CommandLineSupport", "CoreModel", "Cryptography", "Scheduling", "Simulator", "SwarmProtocol"]),
    tests(
        "PeersTests",
        ["Delivery", "SwarmProtocol", "Integrity", "CoreModel", "Cryptography", "EventLoop", "TestSupport"]),
    tests(
        "SwarmProtocolTests", ["SwarmProtocol", "CoreModel", "Cryptography", "Integrity"],
        resources: [.copy("Vectors"), .copy("Python")]),
    tests(
        "DeliveryTests",
        [
            "Delivery", "CoreModel", "Cryptography", "EventLoop", "HTTPTransfer", "Integrity", "Manifest",
            "Scheduling", "TestSupport", "TrackerCore", "TrackerProtocol", "TrackerServer",
        ]),
    tests("CommandLineSupportTests", ["CommandLineSupport"]),
    tests("MediaEngineTests", ["CoreModel", "MediaEngine", "TestSupport"]),
    tests("ManifestTests", ["CoreModel", "Manifest", "TestSupport"]),
    tests("IntegrityTests", ["CoreModel", "Integrity", "Cryptography"], resources: [.copy("Golden")]),
    tests(
        "PDNTests",
        [
            "pdn", "pdn-tracker", "CoreModel", "CommandLineSupport", "Cryptography", "Integrity", "Manifest",
            "Delivery",
            "EventLoop", "Scheduling", "Simulator", "VBPlayer", "TestSupport",
        ]),
]

/// What several suites of tests need: child processes and folders that end with the tests, and their threads.
let testSupport: [Target] = [library("TestSupport", path: "Tests/TestSupport")]

/// Coverage-guided fuzz targets (Scripts/fuzz.sh), one per parser of bytes from outside. Only there when asked for, since
/// their build instruments everything.
func fuzz(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: "Fuzz\(name)", dependencies: dependencies, path: "Tests/Fuzz/\(name)",
        sources: ["Fuzz\(name).swift"],
        swiftSettings: swiftSettings + [.unsafeFlags(["-parse-as-library"])],
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])])
}

let fuzzTargets: [Target] =
    Context.environment["PDN_FUZZ"] == nil
    ? []
    : [
        .target(
            name: "FuzzSupport", dependencies: ["CoreModel", "Cryptography", "Integrity", "Manifest"],
            path: "Tests/Fuzz/Support",
            swiftSettings: swiftSettings),
        fuzz("HLS", ["FuzzSupport", "Manifest"]),
        fuzz("DASH", ["FuzzSupport", "Manifest"]),
        fuzz("SegmentIndex", ["FuzzSupport", "Manifest"]),
        fuzz("Media", ["FuzzSupport", "MediaEngine"]),
        fuzz("Protection", ["FuzzSupport", "MediaEngine"]),
        fuzz("Decoding", ["FuzzSupport", "MediaEngine"]),
        fuzz("Record", ["FuzzSupport", "CoreModel", "Integrity"]),
        fuzz("Certificate", ["FuzzSupport", "CoreModel", "Integrity"]),
        fuzz("Token", ["FuzzSupport", "CoreModel", "Integrity"]),
        fuzz("Claim", ["FuzzSupport", "Integrity"]),
        fuzz("Catalogue", ["FuzzSupport", "CoreModel", "Integrity"]),
        fuzz("Frame", ["FuzzSupport", "CoreModel", "SwarmProtocol"]),
        fuzz("Link", ["FuzzSupport", "CoreModel", "SwarmProtocol"]),
        fuzz("TrackerMessages", ["FuzzSupport", "TrackerProtocol"]),
        fuzz("TrackerState", ["FuzzSupport", "CoreModel", "Integrity", "TrackerCore", "TrackerProtocol"]),
        fuzz("Settings", ["FuzzSupport", "CommandLineSupport", "VBPlayer"]),
        fuzz("Scenario", ["FuzzSupport", "CommandLineSupport", "Simulator"]),
        fuzz("NetworkTrace", ["FuzzSupport", "Simulator"]),
        fuzz("DecisionLog", ["FuzzSupport", "Simulator"]),
    ]

let package = Package(
    name: "peer-assisted-delivery",
    products: [
        .library(name: "VBPlayer", targets: ["VBPlayer"]),
        .executable(name: "pdn", targets: ["pdn"]),
        .executable(name: "pdn-tracker", targets: ["pdn-tracker"]),
    ],
    targets: systemLibraries + pureModules + wrappers + shells + benchmarks + testSupport + testTargets + fuzzTargets
)
