import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("The location of a bus")
struct BusLocationTests {
  private let plain = ["XDG_RUNTIME_DIR": "/run/user/7", "XDG_STATE_HOME": "/state", "HOME": "/home/r"]

  private func location(_ bus: String?, _ address: String?, _ more: [String: String] = [:]) throws -> BusLocation {
    try BusLocation(bus: bus, address: address, environment: plain.merging(more) { $1 })
  }
  private func refusal(_ bus: String?, _ address: String?, _ more: [String: String] = [:]) -> RunBusError? {
    #expect(throws: RunBusError.self) { try location(bus, address, more) }
  }

  @Test("A name gives sockets in the runtime directory and state by device")
  func paths() throws {
    let bus = try location("home-1", nil)
    #expect(bus.displayName == "home-1")
    #expect(bus.controlEndpoint == "ipc:///run/user/7/runbus/home-1/control.sock")
    #expect(bus.eventsEndpoint == "ipc:///run/user/7/runbus/home-1/events.sock")
    #expect(bus.stateDirectory(for: DeviceID("watch")) == "/state/runbus/home-1/watch")
    #expect(bus.notices == [])
    #expect(!bus.hasOpenPort)
  }

  @Test("Without environment variables, or with relative paths, there are defaults")
  func defaults() throws {
    let watch = DeviceID("watch")
    let environments: [[String: String]] = [
      ["HOME": "/home/r"],
      ["HOME": "/home/r", "XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": "./state", "TMPDIR": "tmp", "RUNBUS_BUS": ""],
    ]
    for environment in environments {
      let bus = try BusLocation(bus: nil, address: nil, environment: environment)
      #expect(bus.controlEndpoint == "ipc:///tmp/runbus-\(geteuid())/default/control.sock")
      #expect(bus.stateDirectory(for: watch) == "/home/r/.local/state/runbus/default/watch")
    }
    let elsewhere = try BusLocation(bus: nil, address: nil, environment: ["TMPDIR": "/var/tmp/"])
    #expect(elsewhere.runtimeDirectory == "/var/tmp/runbus-\(geteuid())/default")
  }

  @Test("An app in a container keeps its files there, however long the paths are")
  func container() {
    let container = "/private/var/mobile/Containers/Data/Application/0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"
    let defaults = DefaultDirectories(
      state: container + "/Library/Application Support", temporary: container + "/tmp", hasSockets: false)
    let paths = BusPaths(
      runtimeName: "default", stateName: "default", hasSockets: true, ["HOME": container], defaults: defaults)
    #expect(paths.stateDirectory == container + "/Library/Application Support/runbus/default")
    #expect(paths.runtimeDirectory == container + "/tmp/runbus-\(geteuid())/default")
    #expect(paths.notices == [])
    let moved = BusPaths(
      runtimeName: "default", stateName: "default", hasSockets: true, ["XDG_STATE_HOME": "/state", "TMPDIR": "/t"],
      defaults: defaults)
    #expect(moved.stateDirectory == "/state/runbus/default")
    #expect(moved.runtimeDirectory == "/t/runbus-\(geteuid())/default")
  }

  @Test("Flags win over the environment, whatever their kind")
  func precedence() throws {
    let (bus, address) = (["RUNBUS_BUS": "b"], ["RUNBUS_ADDRESS": "tcp://127.0.0.1:2"])
    #expect(try location(nil, nil).displayName == "default")
    #expect(try location(nil, nil, bus).displayName == "b")
    #expect(try location(nil, nil, address).displayName == "tcp://127.0.0.1:2")
    #expect(try location("a", nil, bus).displayName == "a")
    #expect(try location("a", nil, address).displayName == "a")
    #expect(try location(nil, "tcp://127.0.0.1:1", bus).displayName == "tcp://127.0.0.1:1")
    #expect(try location(nil, "tcp://127.0.0.1:1", address).displayName == "tcp://127.0.0.1:1")
    #expect(refusal("a", "tcp://127.0.0.1:1")?.code == .badInput)
    #expect(refusal(nil, nil, bus.merging(address) { $1 })?.code == .badInput)
    #expect(try location("a", nil, bus.merging(address) { $1 }).displayName == "a")
  }

  @Test(
    "An invalid bus name is refused",
    arguments: ["", "A", "-a", "a/b", "../x", "a b", String(repeating: "a", count: 33)])
  func badNames(name: String) {
    #expect(refusal(name, nil)?.code == .badInput)
  }

  @Test(
    "Addresses of this machine are accepted and normalised",
    arguments: [
      ("tcp://127.0.0.1:5570", "tcp://127.0.0.1:5570", "tcp-127.0.0.1-5570"),
      ("tcp://localhost:5570", "tcp://127.0.0.1:5570", "tcp-127.0.0.1-5570"),
      ("tcp://127.9.0.1:65535", "tcp://127.9.0.1:65535", "tcp-127.9.0.1-65535"),
      ("tcp://[::1]:1", "tcp://[::1]:1", "tcp-__1-1"),
      ("tcp://[0:0:0:0:0:0:0:1]:1", "tcp://[::1]:1", "tcp-__1-1"),
      ("tcp://127.0.0.1:00080", "tcp://127.0.0.1:80", "tcp-127.0.0.1-80"),
    ])
  func addresses(text: String, endpoint: String, name: String) throws {
    let bus = try location(nil, text)
    #expect(bus.controlEndpoint == endpoint)
    #expect(bus.eventsEndpoint == endpoint.replacing(/\d+$/, with: "*"))
    #expect(bus.stateDirectory(for: DeviceID("phone")) == "/state/runbus/\(name)/phone")
    #expect(bus.runtimeDirectory == "/run/user/7/runbus/_\(name)")
    #expect(!bus.hasOpenPort)
  }

  @Test("Port 0 and * leave the choice to the system", arguments: ["0", "*"])
  func openPort(port: String) throws {
    let bus = try location(nil, "tcp://127.0.0.1:\(port)")
    #expect(bus.controlEndpoint == "tcp://127.0.0.1:*")
    #expect(bus.hasOpenPort)
  }

  @Test(
    "An invalid address is refused in one sentence",
    arguments: [
      "", "tcp://", "tcp://:1", "127.0.0.1:1", "ipc:///x", "udp://127.0.0.1:1", "tcp://127.0.0.1", "tcp://127.0.0.1:",
      "tcp://127.0.0.1:65536", "tcp://127.0.0.1:-1", "tcp://127.0.0.1:+1", "tcp://127.0.0.1:1/", "tcp://127.0.0.1:１",
      "tcp://127.0.0.1/x:1", "tcp://::1:1", "tcp://[::1:1", "tcp://[]:1", "tcp://127.0.0.1 :1", "tcp:", "tcp://[:1",
    ])
  func badAddresses(text: String) {
    let error = refusal(nil, text)
    #expect(error?.code == .badInput)
    #expect(error?.message.contains("\n") == false)
  }

  @Test(
    "Without keys, hosts other than this machine are refused",
    arguments: ["10.0.0.1", "0.0.0.0", "*", "example.org", "[::]", "[fe80::1]", "[::ffff:127.0.0.1]", "128.0.0.1"])
  func beyondLoopback(host: String) {
    let error = refusal(nil, "tcp://\(host):5570")
    #expect(error?.code == .badInput)
    #expect(error?.message.contains("--listen") == true)
  }

  @Test("A path that is too long for a socket is replaced by a short one, always the same, with a notice")
  func longPath() throws {
    let long = ["XDG_RUNTIME_DIR": "/" + String(repeating: "d", count: 90)]
    let bus = try location("a", nil, long)
    #expect(bus.controlEndpoint.utf8.count <= "ipc://".count + 100)
    #expect(bus.notices.count == 1)
    #expect(bus.notices.first?.contains(bus.runtimeDirectory) == true)
    #expect(try location("a", nil, long) == bus)
    #expect(try location("b", nil, long).runtimeDirectory != bus.runtimeDirectory)
    // A hundred bytes still fit.
    let fitting = "/" + String(repeating: "d", count: 100 - "/runbus/a/control.sock".count - 1)
    #expect(try location("a", nil, ["XDG_RUNTIME_DIR": fitting]).notices == [])
    #expect(try location("a", nil, ["XDG_RUNTIME_DIR": fitting + "d"]).notices.count == 1)
    // With TCP there is no socket file.
    #expect(try location(nil, "tcp://127.0.0.1:1", long).notices == [])
  }

  @Test("The runtime directory is made for its owner alone, and an open one is refused with the command that mends it")
  func prepare() throws {
    let scratch = try ScratchDirectory()
    let bus = try location("a", nil, ["XDG_RUNTIME_DIR": scratch.file("not/yet")])
    try bus.prepareRuntimeDirectory()
    #expect(try mode(of: bus.runtimeDirectory) == 0o700)
    #expect(try mode(of: scratch.file("not/yet/runbus")) == 0o700)
    #expect(chmod(bus.runtimeDirectory, 0o777) == 0)
    #expect(!bus.hasSafeRuntimeDirectory())
    let refusal = #expect(throws: RunBusError.self) { try bus.prepareRuntimeDirectory() }
    #expect(refusal?.message.contains("chmod 700 '\(bus.runtimeDirectory)'") == true)
    #expect(try mode(of: bus.runtimeDirectory) == 0o777)
  }

  @Test("A link or a file in place of the runtime directory is refused", arguments: ["runbus", "runbus/a"])
  func links(place: String) throws {
    let scratch = try ScratchDirectory()
    let bus = try location("a", nil, ["XDG_RUNTIME_DIR": scratch.path])
    let path = scratch.file(place)
    let manager = FileManager.default
    try manager.createDirectory(atPath: scratch.file("elsewhere/a"), withIntermediateDirectories: true)
    try manager.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try manager.createSymbolicLink(atPath: path, withDestinationPath: scratch.file("elsewhere"))
    #expect(throws: RunBusError.self) { try bus.prepareRuntimeDirectory() }
    #expect(!bus.hasSafeRuntimeDirectory())
    try manager.removeItem(atPath: path)
    try Data().write(to: URL(filePath: path))
    #expect(throws: RunBusError.self) { try bus.prepareRuntimeDirectory() }
  }

  @Test("A directory of another user is refused", .enabled(if: geteuid() == 0, "only root can give a directory away"))
  func foreignDirectory() throws {
    let scratch = try ScratchDirectory()
    let bus = try location("a", nil, ["XDG_RUNTIME_DIR": scratch.path])
    try bus.prepareRuntimeDirectory()
    #expect(chown(bus.runtimeDirectory, 12345, 12345) == 0)
    let error = #expect(throws: RunBusError.self) { try bus.prepareRuntimeDirectory() }
    #expect(error?.message.contains("another user") == true)
    #expect(!bus.hasSafeRuntimeDirectory())
  }
}
