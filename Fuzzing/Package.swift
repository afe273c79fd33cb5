// swift-tools-version: 6.2
import PackageDescription

// Links to the product's sources, only those that read bytes: neither store nor sockets are built here. `Fuzzing/run`
// passes the fuzzer's flags to the libraries as well, because only instrumented code is explored.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "runbus-fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-numerics", from: "1.1.1"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
  ],
  targets: [
    .target(
      name: "RunCore",
      dependencies: [
        .product(name: "RealModule", package: "swift-numerics"),
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      swiftSettings: settings),
    .target(
      name: "RunWire",
      dependencies: ["RunCore", .product(name: "SwiftProtobuf", package: "swift-protobuf")],
      exclude: ["runbus.proto", "runbus.desc", "together.proto", "together.desc"],
      swiftSettings: settings),
    .target(name: "SystemC", swiftSettings: settings),
    .target(name: "RunBus", dependencies: ["RunCore", "SystemC"], swiftSettings: settings),
    .target(
      name: "RunRecordings", dependencies: ["RunCore", "RunBus"], exclude: ["RecordExchange.swift"],
      swiftSettings: settings),
    .target(name: "RunScripts", dependencies: ["RunBus"], swiftSettings: settings),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "RunCore", "RunWire", "RunRecordings", "RunScripts", "SystemC",
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
