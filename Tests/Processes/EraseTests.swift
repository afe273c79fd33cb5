import Foundation
import RunBus
import Testing
import TestSupport
import SystemC

@Suite("Leaving a machine")
struct EraseTests {
  @Test("Nothing of a bus is left after erase; other buses and a running node are not touched")
  func erase() async throws {
    try await withTestBus { bus in
      try await bus.leavePhone()
      let other = bus.spawn("phone", "--json", "--bus", "other")
      _ = try await other.event("the other phone") { $0["event"]?.string == "snapshot" }
      #expect(try await bus.run("erase", "--bus", "other", "--yes").ending == .exited(75))
      let unasked = bus.spawn("erase")
      unasked.closeInput()
      #expect(try await unasked.ending() == .exited(64))
      #expect(unasked.view.errors.first?.contains("erase --yes --bus NAME") == true)
      #expect(try await bus.run("records", "ls").ending == .exited(0))
      #expect(try await bus.run("erase", "--bus", "default", "--yes").ending == .exited(0))
      let state = try bus.runBusState()
      #expect(try FileManager.default.contentsOfDirectory(atPath: state).sorted() == ["_keys", "other"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/_keys") == [])
      #expect(try FileManager.default.contentsOfDirectory(atPath: bus.runtimeDirectory + "/runbus") == ["other"])
      #expect(try await bus.run("state", "--bus", "other").ending == .exited(0))
      let again = try await bus.run("erase", "--bus", "default", "--yes")
      #expect(again.lines.last?.contains("nothing on this machine") == true)
    }
  }

  // Once broken: `busnode erase` with `RUNBUS_BUS=garden` erased the bus `default` with all its records, because these
  // commands had an option `--bus` of their own.
  @Test("erase removes the bus that the variable names and no other; without a terminal --yes needs a name")
  func eraseNamed() async throws {
    try await withTestBus { bus in
      for name in ["default", "garden"] {
        let phone = bus.spawn("phone", "--json", "--bus", name)
        _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
        phone.signal(SIGTERM)
        #expect(try await phone.ending() == .exited(0))
      }
      let state = try bus.runBusState()
      let garden = ["RUNBUS_BUS": "garden" as String?]
      for environment in [garden, [:]] {
        let unnamed = try await bus.run("erase", "--yes", environment: environment)
        #expect(unnamed.ending == .exited(64) && unnamed.errors.first?.contains("needs --bus") == true)
      }
      let asked = bus.spawn("erase", environment: garden)
      asked.closeInput()
      #expect(try await asked.ending() == .exited(64))
      #expect(asked.view.lines.allSatisfy { $0.contains("/garden") }, "\(asked.view.lines)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: state).sorted() == ["default", "garden"])
      #expect(try await bus.run("erase", "--bus", "garden", "--yes").ending == .exited(0))
      #expect(try FileManager.default.contentsOfDirectory(atPath: state) == ["default"])
    }
  }

  // Once broken: `erase` said that nothing was left, and the store of a paired machine stayed, because its directory is
  // named by an id that the damaged key would have told; the stores that may be its own are named now.
  @Test("A paired machine whose key is damaged is told to keep its store; erase names the stores that may be its own")
  func damagedDeviceKey() async throws {
    try await withTestBus { bus in
      _ = try await bus.listeningPhone()
      let machine = try PairedMachine("watch", on: bus)
      try await machine.pair(on: bus)
      let watch = bus.spawn("watch", "--json", environment: machine.environment)
      _ = try await watch.event("the phone") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      watch.signal(SIGTERM)
      _ = try await watch.ending()
      let state = try #require(machine.environment["XDG_STATE_HOME"] ?? nil) + "/runbus"
      let key = state + "/_keys/default.device"
      try Data(try Data(contentsOf: URL(fileURLWithPath: key)).prefix(30)).write(to: URL(fileURLWithPath: key))
      let refused = bus.spawn("state", environment: machine.environment)
      #expect(try await refused.ending() != .exited(0))
      #expect(refused.view.errors.first?.contains("move it away and pair again") == true)
      // The store of another bus, whose key is away.
      try FileManager.default.createDirectory(atPath: state + "/_bus-other/watch", withIntermediateDirectories: true)
      func stores() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: state).filter { $0.hasPrefix("_bus-") }
      }
      let all = try stores()
      #expect(all.count == 2)
      let erased = bus.spawn("erase", "--yes", "--bus", "default", environment: machine.environment)
      #expect(try await erased.ending() == .exited(74))
      let told = try #require(erased.view.errors.first)
      #expect(all.allSatisfy { told.contains("\(state)/\($0)") }, "\(told)")
      #expect(try stores() == all && !FileManager.default.fileExists(atPath: key))
    }
  }

  // Once broken: `erase` removed the link of a device or of the spool, said that nothing was left, and the data behind
  // the link stayed.
  @Test("What lies behind a link below the directory of a bus is named, again and again until it is gone")
  func linksBelow() async throws {
    try await withTestBus { bus in
      try await bus.leavePhone()
      let state = try bus.runBusState() + "/default"
      let files = FileManager.default
      let away = state + "-away"
      try files.moveItem(atPath: state + "/phone", toPath: away)
      try files.createSymbolicLink(atPath: state + "/phone", withDestinationPath: away)
      try? files.removeItem(atPath: state + "/_spool")
      try files.createSymbolicLink(atPath: state + "/_spool", withDestinationPath: away + "-nowhere")
      for _ in 1...2 {
        let erased = try await bus.run("erase", "--yes", "--bus", "default")
        #expect(erased.ending == .exited(74))
        #expect(erased.errors.count == 1 && erased.errors[0].contains("\(state)/phone (to \(away))"))
        #expect(erased.errors[0].contains("\(state)/_spool (to "))
      }
      #expect(files.fileExists(atPath: away + "/node.sqlite"))
      #expect(try files.contentsOfDirectory(atPath: state).sorted() == ["_spool", "phone"])
      for link in ["phone", "_spool"] { try files.removeItem(atPath: "\(state)/\(link)") }
      try files.removeItem(atPath: away)
      #expect(try await bus.run("erase", "--yes", "--bus", "default").ending == .exited(0))
    }
  }

  // Once broken: Something else in the place of a lock made `erase` end with 74, though no node can hold it.
  @Test("A store whose lock is a pipe or a directory is erased", arguments: [true, false])
  func obstructedLock(isPipe: Bool) async throws {
    try await withTestBus { bus in
      try await bus.leavePhone()
      let lock = try bus.runBusState() + "/default/phone/lock"
      try FileManager.default.removeItem(atPath: lock)
      #expect((isPipe ? mkfifo(lock, 0o600) : mkdir(lock, 0o700)) == 0)
      #expect(try await bus.run("erase", "--yes", "--bus", "default").ending == .exited(0))
    }
  }
}
