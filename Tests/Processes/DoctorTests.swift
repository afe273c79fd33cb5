import Foundation
import Testing
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("Looking for what is wrong on a machine, and leaving it")
struct DoctorTests {
  /// The findings of `busnode doctor`, and its exit status.
  private static func findings(
    _ bus: TestBus, _ more: String...
  ) async throws -> (status: NodeProcess.Ending?, bad: [String], all: [JSONValue]) {
    let doctor = bus.spawn(executable: TestBus.busnode, ["doctor", "--json"] + more)
    let ending = try await doctor.ending()
    let all = doctor.view.json
    #expect(doctor.view.errors.isEmpty, "\(doctor.view.errors)")
    return (ending, all.filter { $0["level"]?.string == "bad" }.compactMap { $0["text"]?.string }, all)
  }

  private static func stopped(_ bus: TestBus) async throws {
    let phone = bus.spawn("phone", "--json", "--listen", "tcp://127.0.0.1:\(try #require(Loopback.freeFixedPorts()))")
    _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
    #expect(try await bus.run("send", "start").ending == .exited(0))
    phone.signal(SIGTERM)
    #expect(try await phone.ending() == .exited(0))
  }

  private static func state(of bus: TestBus) throws -> String {
    try #require(bus.environment["XDG_STATE_HOME"] ?? nil) + "/runbus"
  }

  @Test("On a good machine nothing is bad, whether or not nodes run, and nothing is changed")
  func good() async throws {
    try await withTestBus { bus in
      #expect(try await Self.findings(bus).bad == [])
      try await Self.stopped(bus)
      let file = try Self.state(of: bus) + "/default/phone/node.sqlite"
      let before = try Data(contentsOf: URL(fileURLWithPath: file))
      let found = try await Self.findings(bus)
      #expect(found.bad == [] && found.all.contains { $0["text"]?.string?.contains("its store is sound") == true })
      #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
      let watch = bus.spawn("watch", "--json")
      _ = try await watch.wait(for: "the watch") { $0.json.first }
      let running = try await Self.findings(bus)
      #expect(running.all.contains { $0["text"]?.string?.hasPrefix("watch runs and answers") == true })
    }
  }

  @Test("Each wrong thing is one line that says what to do, and the status is 2")
  func bad() async throws {
    try await withTestBus { bus in
      try await Self.stopped(bus)
      let state = try Self.state(of: bus)
      let busDirectory = state + "/default"
      #expect(chmod(busDirectory, 0o775) == 0 && chmod(state + "/_keys/default.hub", 0o644) == 0)
      let damaged = try #require(FileHandle(forUpdatingAtPath: busDirectory + "/phone/node.sqlite"))
      try damaged.seek(toOffset: 8192)
      try damaged.write(contentsOf: Data(repeating: 0x5A, count: 2048))
      try damaged.close()
      let port = try #require(Loopback.freeFixedPorts())
      let other = bus.spawn("phone", "--json", "--bus", "other", "--listen", "tcp://127.0.0.1:\(port)")
      _ = try await other.event("the other phone") { $0["event"]?.string == "snapshot" }
      let found = try await Self.findings(bus, "--listen", "tcp://127.0.0.1:\(port)")
      #expect(found.status == .exited(2))
      let patterns = [
        "chmod 700 '\(busDirectory)'", "chmod 600 '\(state)/_keys/default.hub'", "is damaged",
        "(control) cannot be used",
        "(events) cannot be used",
      ]
      for pattern in patterns { #expect(found.bad.count { $0.contains(pattern) } == 1, "\(pattern): \(found.bad)") }
      #expect(found.bad.count == patterns.count, "\(found.bad)")
    }
  }

  @Test("A paired machine is told when its phone cannot be reached")
  func unreachable() async throws {
    try await withTestBus { bus in
      let port = try #require(Loopback.freeFixedPorts())
      let phone = bus.spawn("phone", "--json", "--listen", "tcp://127.0.0.1:\(port)")
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      let watch = try PairedMachine("watch", on: bus)
      try await watch.pair(on: bus)
      func phoneLine() async throws -> String? {
        let doctor = bus.spawn("doctor", "--json", environment: watch.environment)
        _ = try await doctor.ending()
        return doctor.view.json.first { $0["subject"]?.string == "phone" }?["level"]?.string
      }
      #expect(try await phoneLine() == "ok")
      phone.signal(SIGTERM)
      _ = try await phone.ending()
      #expect(try await phoneLine() == "warn")
    }
  }

  @Test("A directory that others may enter is refused with the command that mends it, and is left as it is")
  func openDirectory() async throws {
    try await withTestBus { bus in
      let parent = bus.runtimeDirectory + "/runbus"
      try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
      #expect(chmod(parent, 0o770) == 0)
      let phone = bus.spawn("phone")
      #expect(try await phone.ending() == .exited(1))
      #expect(phone.view.errors.count == 1 && phone.view.errors[0].contains("chmod 700 '\(parent)'"))
      #expect(try FileManager.default.attributesOfItem(atPath: parent)[.posixPermissions] as? Int == 0o770)
    }
  }

  @Test("Nothing of a bus is left after erase; other buses and a running node are not touched")
  func erase() async throws {
    try await withTestBus { bus in
      try await Self.stopped(bus)
      let other = bus.spawn("phone", "--json", "--bus", "other")
      _ = try await other.event("the other phone") { $0["event"]?.string == "snapshot" }
      #expect(try await bus.run("erase", "--bus", "other", "--yes").ending == .exited(75))
      let unasked = bus.spawn("erase")
      unasked.closeInput()
      #expect(try await unasked.ending() == .exited(1))
      #expect(try await bus.run("records", "ls").ending == .exited(0))
      #expect(try await bus.run("erase", "--yes").ending == .exited(0))
      let state = try Self.state(of: bus)
      #expect(try FileManager.default.contentsOfDirectory(atPath: state).sorted() == ["_keys", "other"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/_keys") == [])
      #expect(try FileManager.default.contentsOfDirectory(atPath: bus.runtimeDirectory + "/runbus") == ["other"])
      #expect(try await bus.run("state", "--bus", "other").ending == .exited(0))
      #expect(try await bus.run("erase", "--yes").lines.last?.contains("nothing on this machine") == true)
    }
  }

  @Test(
    "Another user's process gets no answer, also when somebody has opened the directory of the sockets",
    .enabled("needs root and scripts/bootstrap --python") { geteuid() == 0 && Checkout.hasPython })
  func otherUser() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json")
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      let directory = bus.runtimeDirectory + "/runbus/default"
      for path in [bus.directory, bus.runtimeDirectory, bus.runtimeDirectory + "/runbus", directory] {
        #expect(chmod(path, 0o755) == 0)
      }
      let sockets = ["control.sock", "events.sock", "phone.door"]
      for socket in sockets { #expect(chmod("\(directory)/\(socket)", 0o777) == 0) }
      for user in ["0", "65534"] {
        let client = bus.spawn(
          executable: Checkout.python,
          [Checkout.path("Tests/Processes/Clients/other_user.py"), user] + sockets.map { "\(directory)/\($0)" },
          environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        #expect(try await client.ending() == .exited(0), "\(client.view.errors)")
        #expect(client.view.lines == [user == "0" ? "connected 3" : "connected 0"], "\(client.view)")
      }
    }
  }
}
