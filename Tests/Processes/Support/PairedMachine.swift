import Foundation
import Testing
import TestSupport
import SystemC

/// Another machine that is paired with a bus: the same computer with directories of its own.
struct PairedMachine {
  /// The variables for its processes.
  let environment: [String: String?]
  let name: String

  init(_ name: String, on bus: TestBus) throws {
    self.name = name
    let (run, state) = ("\(bus.directory)/\(name)-run", "\(bus.directory)/\(name)-state")
    for directory in [run, state] {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    environment = ["XDG_RUNTIME_DIR": run, "XDG_STATE_HOME": state]
  }

  /// Pairs it as a device, and returns the line that was used.
  ///
  /// - Parameters:
  ///   - device: The name that it gets; its own name if `nil`.
  ///   - pairing: Further arguments of `busnode pair`.
  ///   - joining: Further arguments of `busnode join`.
  @discardableResult
  func pair(
    on bus: TestBus, as device: String? = nil, pairing: [String] = [], joining: [String] = []
  ) async throws -> String {
    let pair = bus.spawn(executable: TestBus.busnode, ["pair", "--yes", "--json"] + pairing)
    let line = try #require(try await pair.event("the line") { $0["step"]?.string == "open" }["line"]?.string)
    let join = bus.spawn(
      executable: TestBus.busnode, ["join", "--device", device ?? name, "--json"] + joining, environment: environment)
    join.write(line)
    #expect(try await join.ending() == .exited(0), "\(join.view)")
    #expect(try await pair.ending() == .exited(0), "\(pair.view)")
    let digits = join.view.json.compactMap { $0["digits"]?.string }
    #expect(digits.count == 1 && digits == pair.view.json.compactMap { $0["digits"]?.string })
    return line
  }
}

extension TestBus {
  /// The directory with the state of all buses and the keys.
  func runBusState() throws -> String { try #require(environment["XDG_STATE_HOME"] ?? nil) + "/runbus" }

  /// A phone that listens for paired devices.
  ///
  /// - Parameter port: The first of three free ports in a row; `nil` for any.
  func listeningPhone(_ more: String..., port: UInt16? = nil) async throws -> NodeProcess {
    let port = try #require(port ?? Loopback.freeFixedPorts())
    let phone = spawn(
      executable: TestBus.busnode, ["phone", "--json", "--listen", "tcp://127.0.0.1:\(port)"] + more)
    _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
    return phone
  }

  /// Leaves the state of a phone that has listened and had a run, and does not run any more.
  func leavePhone() async throws {
    let phone = try await listeningPhone()
    let sent = try await run("send", "start")
    #expect(sent.ending == .exited(0), "\(sent.errors), \(phone.view)")
    phone.signal(SIGTERM)
    #expect(try await phone.ending() == .exited(0), "\(phone.view)")
  }
}
