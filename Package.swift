// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target of ours is built the same strict way. A warning is an error.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The engine of regular expressions would be a third of the program's code. Nothing of ours may
/// call it by accident: `contains` and `replacing` of a text by a text are in it.
let withoutEngines: [SwiftSetting] = [
    .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])
]

/// The brain is proved by walking through millions of its transitions, so it and its tests are
/// optimized even in debug builds. `@testable` and every check of `strict` stay.
let fast: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

let strictC: [CSetting] = [
    .unsafeFlags(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"])
]

func swift(
    _ name: String, _ dependencies: [Target.Dependency] = [], also settings: [SwiftSetting] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(name)",
        swiftSettings: strict + withoutEngines + settings)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
    also settings: [SwiftSetting] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude,
        swiftSettings: strict + settings)
}

let package = Package(
    name: "orchestrator",
    products: [
        .executable(name: "orchestrator", targets: ["orchestrator"]),
        .library(name: "Stoic", targets: ["Stoic"]),
        .library(name: "StoicProcess", targets: ["StoicProcess"]),
        .library(name: "StoicLog", targets: ["StoicLog"]),
        .library(name: "StoicSubprocess", targets: ["StoicSubprocess"]),
        .library(name: "StoicTesting", targets: ["StoicTesting"]),
        .library(name: "ServiceKit", targets: ["ServiceKit"]),
    ],
    targets: [
        // Layer 0: what Swift cannot say by itself. Each module map links the library's archive,
        // so the program runs on a machine that lacks them.
        .systemLibrary(name: "CUV", path: "CShims/CUV", pkgConfig: "libuv-static"),
        .systemLibrary(name: "CYAML", path: "CShims/CYAML"),
        .systemLibrary(name: "CHTTPParser", path: "CShims/CHTTPParser"),
        .systemLibrary(name: "CJSON", path: "CShims/CJSON"),
        .target(name: "CProcess", path: "CShims/CProcess", cSettings: strictC),
        .target(name: "CLifecycle", path: "CShims/CLifecycle", cSettings: strictC),

        // Layer 1: the library and the brain.
        swift("Stoic", also: fast),

        // Layer 2: what of the library touches the process: signals, and the logs of the system.
        swift("StoicProcess", ["Stoic"]),
        swift("StoicLog", ["Stoic"]),

        // Layer 2: what tests of programs that use the library import.
        swift("StoicTesting", ["Stoic"], also: fast),

        // Layer 2: the loop, and what a Swift child links.
        swift("EventLoop", ["CUV", "CProcess"]),
        swift("ServiceKit", ["CLifecycle"]),

        // Layer 3: config text to validated specs.
        swift("Manifest", ["Stoic", "CYAML", "CJSON"]),

        // Layer 3: the host of imaginary processes. It checks each step of the brain, so it is
        // optimized like that.
        swift("Simulation", ["Stoic"], also: fast),

        // Layer 4: the host of real processes.
        swift(
            "Orchestrator",
            [
                "Stoic", "EventLoop", "Manifest", "CLifecycle", "CProcess", "CHTTPParser",
                "CJSON",
            ]),

        // Layer 5 and 6: the command line.
        swift(
            "OrchestratorCLI",
            [
                "Stoic", "EventLoop", "Manifest", "Orchestrator", "Simulation", "CProcess",
                "CLifecycle", "CJSON",
            ]),
        .executableTarget(
            name: "orchestrator", dependencies: ["OrchestratorCLI"], swiftSettings: strict),

        // Layer 5: the library's services that are processes of their own.
        swift("StoicSubprocess", ["Stoic", "Orchestrator", "EventLoop"]),

        // Examples that are programs of their own; the tests run them.
        .executableTarget(
            name: "in-process", dependencies: ["Stoic", "StoicProcess"],
            path: "examples/04-in-process", exclude: ["README.md"], swiftSettings: strict),
        .executableTarget(
            name: "timed", dependencies: ["CLifecycle"], path: "examples/03-daemon-in-c",
            exclude: ["Makefile", "README.md", "client.sh", "orchestrator.yaml"],
            cSettings: strictC),
        .executableTarget(
            name: "mixed", dependencies: ["Stoic", "StoicProcess", "StoicSubprocess"],
            path: "examples/05-mixed", exclude: ["README.md"], swiftSettings: strict),

        // Tests mirror Sources; the brain's are a target of their own, because only they need to be
        // optimized. The last three go across modules.
        .executableTarget(
            name: "puppet", path: "Tests/Fixtures/puppet", cSettings: strictC,
            linkerSettings: [.linkedLibrary("m")]),
        tests("LifecycleTests", ["Stoic", "Simulation"], also: fast),
        tests("SimulationTests", ["Simulation", "Stoic"], also: fast),
        tests("StoicTests", ["Stoic", "StoicTesting"]),
        tests("StoicTestingTests", ["Stoic", "StoicTesting"]),
        // Where real threads meet. Built and run under the sanitizers too, so it needs no more.
        tests("RaceTests", ["Stoic"]),
        .executableTarget(
            name: "graceful-async", dependencies: ["Stoic", "StoicProcess"],
            path: "Tests/Fixtures/graceful/async", swiftSettings: strict),
        .executableTarget(
            name: "graceful-toplevel", dependencies: ["Stoic", "StoicProcess"],
            path: "Tests/Fixtures/graceful/toplevel", swiftSettings: strict),
        .executableTarget(
            name: "graceful-sync", dependencies: ["Stoic", "StoicProcess"],
            path: "Tests/Fixtures/graceful/sync", swiftSettings: strict),
        tests(
            "StoicProcessTests",
            ["StoicProcess", "graceful-async", "graceful-toplevel", "graceful-sync"]),
        tests("StoicLogTests", ["Stoic", "StoicLog"]),

        // Clients of the library, built as others build theirs: with none of our settings. What
        // they have to call, what they cannot write, and what the library promises them, is checked
        // from outside, with the compiler's own tools.
        .executableTarget(
            name: "client-toplevel",
            dependencies: [
                "Stoic", "StoicProcess", "StoicLog", "StoicSubprocess", "StoicTesting",
            ],
            path: "Tests/Fixtures/client", swiftSettings: [.swiftLanguageMode(.v6)]),
        .testTarget(
            name: "ClientTests",
            dependencies: [
                "Stoic", "StoicProcess", "StoicLog", "StoicSubprocess", "StoicTesting",
            ],
            path: "Tests/ClientTests", swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "library-api",
            dependencies: [
                "Stoic", "StoicProcess", "StoicLog", "StoicSubprocess", "StoicTesting",
                "ServiceKit",
            ],
            path: "Tests/Fixtures/library-api", swiftSettings: strict),
        .target(
            name: "CAllocations", path: "Tests/Fixtures/allocations", cSettings: strictC),
        .executableTarget(
            name: "library-bench", dependencies: ["Stoic", "CAllocations"],
            path: "Tests/Fixtures/library-bench", swiftSettings: strict + fast),
        tests(
            "InterfaceTests", ["library-api", "library-bench", "client-toplevel"],
            exclude: ["Refused"]),
        tests("EventLoopTests", ["EventLoop", "CProcess"]),
        .executableTarget(name: "runaway", path: "Tests/Fixtures/runaway", cSettings: strictC),
        .executableTarget(
            name: "warden", dependencies: ["Orchestrator", "EventLoop", "CProcess", "Stoic"],
            path: "Tests/Fixtures/warden", swiftSettings: strict),
        tests(
            "ProcessTests",
            ["Orchestrator", "EventLoop", "CProcess", "Manifest", "Stoic", "runaway", "warden"]),
        tests(
            "MessagesTests",
            [
                "Orchestrator", "EventLoop", "CLifecycle", "ServiceKit", "CProcess", "Manifest",
                "Stoic",
            ]),
        tests("ManifestTests", ["Manifest", "Stoic"]),
        tests("OutputTests", ["Orchestrator", "EventLoop", "Manifest", "Stoic"]),
        tests(
            "ControlTests", ["Orchestrator", "EventLoop", "Manifest", "Stoic", "StoicTesting"]),
        tests(
            "CLITests", ["OrchestratorCLI", "Orchestrator", "Manifest", "Simulation", "Stoic"],
            exclude: ["Golden"]),
        tests("TidyTests", []),
        tests(
            "GuideTests",
            [
                "Stoic", "StoicProcess", "StoicLog", "StoicSubprocess", "StoicTesting",
                "ServiceKit",
            ], exclude: ["Given"]),
        .executableTarget(
            name: "fuzz",
            dependencies: ["Manifest", "Orchestrator", "CLifecycle", "Stoic"],
            path: "Tests/Fixtures/fuzz", swiftSettings: strict),
        tests("FuzzTests", ["fuzz"]),
        .target(
            name: "CBench", path: "Tests/Fixtures/bench", cSettings: strictC,
            linkerSettings: [.linkedLibrary("util")]),
        .executableTarget(name: "faults", path: "Tests/Fixtures/faults", cSettings: strictC),
        .executableTarget(
            name: "foreman", dependencies: ["Stoic", "StoicProcess", "StoicSubprocess"],
            path: "Tests/Fixtures/foreman", swiftSettings: strict),
        tests(
            "EndToEndTests",
            [
                "CBench", "Orchestrator", "Stoic", "orchestrator", "puppet", "in-process", "mixed",
                "timed", "foreman", "faults",
            ]),
    ]
)

/// What `scripts/sanitize` builds: the test targets that this variable names, and what they need.
/// Everything under a sanitizer would take longer than all the rest of the tests.
if let only = Context.environment["ONLY_TESTS"] {
    var kept: Set<String> = []
    var open = only.split(separator: " ").map(String.init)
    while let name = open.popLast() {
        guard kept.insert(name).inserted else { continue }
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            guard case .byNameItem(let needed, _) = dependency else { continue }
            open.append(needed)
        }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}
