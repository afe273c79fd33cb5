import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("The path of a node's admin socket")
struct AdminSocketPathTests {
  private let longest: DeviceID
  private let watch: DeviceID
  init() throws {
    longest = try #require(DeviceID(String(repeating: "x", count: 32)))
    watch = DeviceID("watch")
  }
  private func bus(_ runtime: String, address: String? = nil) throws -> BusLocation {
    try BusLocation(bus: address == nil ? "a" : nil, address: address, environment: ["XDG_RUNTIME_DIR": runtime])
  }

  @Test("The admin socket is beside the bus's sockets, or in a local directory with TCP")
  func places() throws {
    #expect(try bus("/run/user/7").adminEndpoint(for: watch) == "ipc:///run/user/7/runbus/a/watch.door")
    #expect(
      try bus("/run/user/7", address: "tcp://127.0.0.1:1").adminEndpoint(for: watch)
        == "ipc:///run/user/7/runbus/_tcp-127.0.0.1-1/watch.door")
  }

  @Test("Long paths and names give short socket paths, and no two are the same")
  func fits() throws {
    var seen: [String: String] = [:]
    for count in [1, 40, 50, 60, 70, 76, 77, 80, 90, 200] {
      for address in [nil, "tcp://127.0.0.1:65535"] {
        let runtime = "/" + String(repeating: "d", count: count)
        for device in [watch, longest] {
          let endpoint = try bus(runtime, address: address).adminEndpoint(for: device)
          #expect(endpoint.utf8.count <= "ipc://".count + 100)
          #expect(try bus(runtime, address: address).adminEndpoint(for: device) == endpoint)
          #expect(seen.updateValue("\(count) \(address ?? "") \(device)", forKey: endpoint) == nil)
        }
      }
    }
  }

  @Test("The directory is made for its owner alone, and nobody asks there before it exists")
  func prepare() throws {
    let scratch = try ScratchDirectory()
    for address in [nil, "tcp://127.0.0.1:1"] {
      let bus = try bus(scratch.file("not/yet"), address: address)
      #expect(!bus.hasSafeAdminDirectory(for: longest))
      try bus.prepareAdminSocket(for: longest)
      #expect(bus.hasSafeAdminDirectory(for: longest))
      #expect(try mode(of: bus.runtimeDirectory) == 0o700)
    }
  }
}
