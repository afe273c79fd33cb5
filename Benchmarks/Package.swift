// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "runbus-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "runbus", path: ".."),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
  ],
  targets: [
    .executableTarget(
      name: "bench",
      dependencies: [
        .product(name: "RunBus", package: "runbus"),
        .product(name: "RunRecordings", package: "runbus"),
        // The program that `bench rest` measures, built together with it.
        .product(name: "busnode", package: "runbus"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Subprocess", package: "swift-subprocess"),
        .product(name: "SystemPackage", package: "swift-system", condition: .when(platforms: [.linux])),
      ])
  ],
  swiftLanguageModes: [.v6]
)
