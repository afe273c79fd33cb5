// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "embed",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "runbus", path: "../..")],
  targets: [
    .executableTarget(name: "embed", dependencies: [.product(name: "RunBus", package: "runbus")])
  ],
  swiftLanguageModes: [.v6]
)
