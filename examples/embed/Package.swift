// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "embed",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "runbus", path: "../..", traits: ["ZeroMQ"])],
  targets: [
    .executableTarget(name: "embed", dependencies: [.product(name: "RunBus", package: "runbus")]),
    // The tutorial and the articles of the documentation show excerpts of these two, which scripts/check-docs checks.
    .executableTarget(
      name: "stopwatch",
      dependencies: [.product(name: "RunBus", package: "runbus"), .product(name: "RunBusUI", package: "runbus")]),
    .target(
      name: "Articles",
      dependencies: [
        .product(name: "RunBus", package: "runbus"), .product(name: "RunRecordings", package: "runbus"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
