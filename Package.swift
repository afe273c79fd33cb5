// swift-tools-version: 6.2
import PackageDescription

// CI treats warnings as errors. Other builds do not, because a newer compiler may give new warnings.
let strict: [SwiftSetting] = Context.environment["CI"] != nil ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ] + strict

// The tests of the engine and of the readers of recordings try millions of cases. `make` and CI build both, and the simulated
// worlds, optimized also in debug builds, with all assertions: that takes less time than the tests win by it.
let optimized: [SwiftSetting] =
  settings
  + (Context.environment["RUNBUS_FAST_ENGINE"] == nil
    ? [] : [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))])

// Homebrew installs C libraries where only pkg-config finds it. On Debian pkg-config is not needed, and its flags cause a
// warning.
#if os(macOS)
  let zeroMQPackage: String? = "libzmq"
  let qrEncodePackage: String? = "libqrencode"
#else
  let zeroMQPackage: String? = nil
  let qrEncodePackage: String? = nil
#endif

// With a trait as the only condition of all its products, a package is not fetched for an app that leaves it out.
func program(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Programs"]))
}
func programOnLinux(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(platforms: [.linux], traits: ["Programs"]))
}

// `busnode --version` names the commit that scripts/build-release puts into the environment. Other builds name none.
let commit: [CSetting] = Context.environment["RUNBUS_COMMIT"].map { [.define("RUNBUS_COMMIT", to: $0)] } ?? []

// The examples are a package of their own, as an app has one. CI builds them in this package, where everything else is
// built already, and without access to what only the package may use.
let examples: [Target] =
  Context.environment["RUNBUS_EXAMPLES"] == nil
  ? []
  : [
    .executableTarget(
      name: "embed", dependencies: ["RunBus"], path: "examples/embed/Sources/embed", packageAccess: false),
    .executableTarget(
      name: "stopwatch", dependencies: ["RunBus", "RunBusUI"], path: "examples/embed/Sources/stopwatch",
      packageAccess: false),
    .target(
      name: "Articles", dependencies: ["RunBus", "RunRecordings"], path: "examples/embed/Sources/Articles",
      packageAccess: false),
  ]

let package = Package(
  name: "runbus",
  platforms: [.macOS(.v15), .iOS(.v18), .watchOS(.v11)],
  products: [
    .library(name: "RunCore", targets: ["RunCore"]),
    .library(name: "RunBus", targets: ["RunBus"]),
    .library(name: "RunBusTesting", targets: ["RunBusTesting"]),
    .library(name: "RunBusUI", targets: ["RunBusUI"]),
    .library(name: "RunRecordings", targets: ["RunRecordings"]),
    .executable(name: "busnode", targets: ["busnode"]),
  ],
  traits: [
    .trait(name: "ZeroMQ", description: "The ZeroMQ transport; off, an embedder brings a transport of its own."),
    .trait(name: "Programs", description: "What only busnode, the benchmarks and the tests need; off in an app."),
    .default(enabledTraits: ["ZeroMQ", "Programs"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["JSON"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-numerics", from: "1.1.1"),
    // The order of the two default traits changes from build to build, which would recompile the package each time.
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
  ],
  targets: [
    // Three wings, as in docs/architecture.md.

    // MARK: The bus

    .systemLibrary(name: "CZMQ", pkgConfig: zeroMQPackage, providers: [.apt(["libzmq3-dev"]), .brew(["zeromq"])]),
    .systemLibrary(name: "CSodium", providers: [.apt(["libsodium-dev"])]),
    // A part of Linux's C libraries that Swift's modules of them leave out.
    .systemLibrary(name: "CEpoll"),
    // The C library of the system.
    .target(name: "SystemC", swiftSettings: settings),
    .target(
      name: "RunCore",
      dependencies: [
        .product(name: "RealModule", package: "swift-numerics"),
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      swiftSettings: optimized),
    .target(
      name: "RunWire",
      dependencies: ["RunCore", .product(name: "SwiftProtobuf", package: "swift-protobuf")],
      exclude: ["runbus.proto", "runbus.desc", "together.proto", "together.desc"],
      swiftSettings: settings),
    .target(
      name: "RunBus",
      dependencies: [
        "RunCore", "RunWire", "SystemC",
        .target(name: "CZMQ", condition: .when(platforms: [.linux, .macOS], traits: ["ZeroMQ"])),
        .target(name: "CEpoll", condition: .when(platforms: [.linux, .android])),
        // Apple's systems have CryptoKit.
        .target(name: "CSodium", condition: .when(platforms: [.linux])),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
      ],
      swiftSettings: settings),
    .target(name: "RunBusTesting", dependencies: ["RunCore", "RunBus"], swiftSettings: settings),
    .target(name: "RunBusUI", dependencies: ["RunCore", "RunBus"], swiftSettings: settings),

    // MARK: The runs (and Metrics, Run and Records of RunCore)

    .target(name: "RunRecordings", dependencies: ["RunCore", "RunBus"], swiftSettings: optimized),

    // MARK: The tools

    .systemLibrary(
      name: "CQREncode", pkgConfig: qrEncodePackage, providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),
    .target(
      name: "RunBusWeb",
      dependencies: ["RunCore", "RunBus", "SystemC", .product(name: "CoreMetrics", package: "swift-metrics")],
      swiftSettings: settings),
    .target(
      name: "RunScripts",
      dependencies: [
        "RunBus", "RunRecordings",
        program("Subprocess", "swift-subprocess"),
        programOnLinux("SystemPackage", "swift-system"),
      ],
      swiftSettings: settings),
    .target(name: "CBuild", cSettings: commit),
    .executableTarget(
      name: "busnode",
      dependencies: [
        "CBuild", "CQREncode", "RunBus", "RunBusWeb", "RunRecordings", "RunScripts", "SystemC",
        program("ArgumentParser", "swift-argument-parser"),
        program("Configuration", "swift-configuration"),
        .product(name: "Logging", package: "swift-log"),
        program("Subprocess", "swift-subprocess"),
        programOnLinux("SystemPackage", "swift-system"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "bench",
      dependencies: [
        "RunBus", "RunRecordings", "SystemC",
        // The program that `bench rest` measures, built together with it.
        "busnode",
        program("Histogram", "hdrhistogram-swift"),
        program("ArgumentParser", "swift-argument-parser"),
        program("Subprocess", "swift-subprocess"),
        programOnLinux("SystemPackage", "swift-system"),
      ],
      path: "Benchmarks/Sources/bench",
      swiftSettings: settings),
    .executableTarget(
      name: "cost", dependencies: ["RunBus", "RunCore", "RunWire"], path: "Benchmarks/Sources/cost",
      swiftSettings: settings),

    // MARK: Tests

    .target(
      name: "TestSupport",
      dependencies: [
        "RunBus", "SystemC",
        program("Subprocess", "swift-subprocess"),
        programOnLinux("SystemPackage", "swift-system"),
      ],
      path: "Tests/Support",
      swiftSettings: settings),
    .target(name: "Simulation", dependencies: ["RunCore"], path: "Tests/Simulation/World", swiftSettings: optimized),
    .executableTarget(
      name: "simulate",
      dependencies: [
        "RunCore", "Simulation",
        program("ArgumentParser", "swift-argument-parser"),
      ],
      path: "Tests/Simulation/Command",
      swiftSettings: settings),
    .executableTarget(
      name: "crowd",
      dependencies: ["RunBus", program("ArgumentParser", "swift-argument-parser")],
      path: "Tests/Crowd",
      swiftSettings: settings),
    .executableTarget(
      name: "scribe",
      dependencies: ["RunBus", program("ArgumentParser", "swift-argument-parser")],
      path: "Tests/Scribe",
      swiftSettings: settings),
    .executableTarget(
      name: "askers",
      dependencies: ["RunBus", program("ArgumentParser", "swift-argument-parser")],
      path: "Tests/Askers",
      swiftSettings: settings),
    .testTarget(
      name: "RunCoreTests", dependencies: ["RunCore", "Simulation", "SystemC", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "RunWireTests",
      dependencies: ["RunWire", "TestSupport", .product(name: "SwiftProtobuf", package: "swift-protobuf")],
      swiftSettings: settings),
    .testTarget(
      name: "RunBusTests",
      dependencies: [
        "RunBus", "RunWire", "SystemC", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      exclude: ["JSON/Golden"],
      swiftSettings: settings),
    .testTarget(
      name: "RunBusTestingTests", dependencies: ["RunBus", "RunBusTesting", "RunBusUI"], swiftSettings: settings),
    .testTarget(name: "RunBusWebTests", dependencies: ["RunBus", "RunBusWeb", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "RunBusUITests", dependencies: ["RunBus", "RunBusUI", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "RunRecordingsTests", dependencies: ["RunBus", "RunRecordings", "TestSupport"],
      exclude: ["FIT/Clients"],
      swiftSettings: settings),
    // What busnode does without a process.
    .testTarget(
      name: "BusnodeTests",
      dependencies: [
        "RunBus", "RunBusTesting", "RunBusUI", "RunBusWeb", "RunRecordings", "RunScripts", "TestSupport", "busnode",
        program("ArgumentParser", "swift-argument-parser"),
      ],
      exclude: ["Golden"],
      swiftSettings: settings),
    .testTarget(
      name: "ProcessTests",
      dependencies: [
        "RunBus", "RunRecordings", "RunScripts", "RunWire", "SystemC", "TestSupport", "busnode", "crowd",
        "scribe", "askers",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/Processes",
      exclude: ["Clients"],
      swiftSettings: settings),
  ] + examples,
  swiftLanguageModes: [.v6]
)
