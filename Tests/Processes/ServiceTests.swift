import Foundation
import Testing
import TestSupport

@Suite("A node as a service")
struct ServiceTests {
  /// The kinds of address that a manager's socket can have.
  enum Kind: CaseIterable { case path, abstract }

  private func socket(_ kind: Kind, _ bus: TestBus) throws -> NotifySocket {
    switch kind {
    case .path: try NotifySocket(bus.directory + "/notify")
    case .abstract: try NotifySocket("@" + bus.directory + "/notify")
    }
  }

  #if os(Linux)
    private static let kinds = Kind.allCases
  #else
    private static let kinds = [Kind.path]
  #endif

  @Test(
    "A phone tells its manager that it is ready, what the run does, that it lives and that it ends", arguments: kinds)
  func phone(kind: Kind) async throws {
    try await withTestBus { bus in
      let manager = try socket(kind, bus)
      let phone = bus.spawn(
        "phone", "--stdin", "--json", environment: ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "200000"])
      try await manager.wait(for: "READY=1")
      try await manager.wait(for: "STATUS=no run has been started")
      // Who is told that it is ready can ask it.
      #expect(try await bus.run("state").ending == .exited(0))
      try await manager.wait(for: "WATCHDOG=1")
      phone.write("start")
      try await manager.wait(for: "STATUS=the run is running")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0), "\(phone.view.errors)")
      try await manager.wait(for: "STOPPING=1")
      #expect(manager.lines.first == "READY=1")
      #expect(manager.lines.count { $0 == "READY=1" } == 1)
    }
  }

  @Test("A phone that cannot start is never ready")
  func neverReady() async throws {
    try await withTestBus { bus in
      let first = bus.spawn("phone", "--json")
      try await first.snapshot("its first snapshot") { _ in true }
      let manager = try socket(.path, bus)
      let second = bus.spawn("phone", "--device", "phone-2", environment: ["NOTIFY_SOCKET": manager.address])
      #expect(try await second.ending() == .exited(75))
      #expect(manager.lines == [])
    }
  }

  @Test(
    "Watch, widget and page are ready without a phone, and say that it is out of reach",
    arguments: [["watch"], ["widget"], ["web", "--http", "127.0.0.1:0"]])
  func peer(command: [String]) async throws {
    try await withTestBus { bus in
      let manager = try socket(.path, bus)
      let node = bus.spawn(
        executable: TestBus.busnode, command, environment: ["NOTIFY_SOCKET": manager.address])
      try await manager.wait(for: "READY=1")
      #expect(manager.lines.starts(with: ["READY=1", "STATUS=the phone is out of reach"]))
      let phone = bus.spawn("phone")
      try await manager.wait(for: "STATUS=no run has been started")
      node.signal(SIGTERM)
      #expect(try await node.ending() == .exited(0), "\(node.view.errors)")
      try await manager.wait(for: "STOPPING=1")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }

  @Test("A manager that is not there, or is no manager, hurts nothing, and what a node starts is not its service")
  func noManager() async throws {
    try await withTestBus { bus in
      let long = "/" + String(repeating: "x", count: 200)
      for address in [bus.directory + "/nobody", "/dev/null", long, "@" + long, "nonsense"] {
        let phone = bus.spawn(
          "phone", "--json", "--stdin", environment: ["NOTIFY_SOCKET": address, "WATCHDOG_USEC": "20000"])
        try await phone.snapshot("its first snapshot") { _ in true }
        phone.closeInput()
        #expect(try await phone.ending() == .exited(0) && phone.view.errors.isEmpty, "\(phone.view.errors)")
      }
      // The nodes of `up` are its own.
      let manager = try socket(.path, bus)
      let up = bus.spawn(
        "up", "--synthetic", "--duration", "20", "--speed", "20", "--json",
        environment: ["NOTIFY_SOCKET": manager.address])
      #expect(try await up.ending() == .exited(0), "\(up.view.errors)")
      #expect(manager.lines == [])
    }
  }
}
