import Foundation
import SystemC
import Testing
import TestSupport

@Suite("Copies of a store")
struct BackupTests {
  @Test("A copy of a running phone has the press before it, a phone that is killed behind it goes on from it")
  func duringRun() async throws {
    try await withTestBus { bus in
      let copy = bus.directory + "/phone.backup"
      let phone = bus.spawn("phone", "--stdin", "--json")
      phone.write("start")
      let running = try await phone.shows("running", revision: 1)
      phone.write("pause")
      try await phone.shows("paused", revision: 2)
      let made = try await bus.run("backup", copy, "--json")
      #expect(made.ending == .exited(0) && made.json.first?["bytes"]?.int ?? 0 > 0, "\(made.errors)")
      phone.signal(SIGKILL)
      _ = try await phone.ending()
      #expect(try await bus.run("erase", "--bus", "default", "--yes").ending == .exited(0))
      let restored = try await bus.run("restore", copy)
      #expect(restored.ending == .exited(0), "\(restored.errors)")
      let again = bus.spawn("phone", "--json")
      let shown = try await again.snapshot("the run of the copy") { _ in true }
      #expect(shown["phase"]?.string == "paused" && shown["revision"]?.int == 2 && shown["term"]?.int == 2)
      #expect(shown["runId"] == running["runId"])
    }
  }

  @Test("The former store is set aside as a whole, and can be put back")
  func former() async throws {
    try await withTestBus { bus in
      try await bus.leavePhone()
      let copy = bus.directory + "/phone.backup"
      // A node that does not run is copied, too.
      #expect(try await bus.run("backup", copy).ending == .exited(0))
      let restored = try await bus.run("restore", copy, "--bus", "default", "--yes")
      let place = restored.lines.first ?? ""
      #expect(restored.ending == .exited(0) && place.hasSuffix("/damaged-1"), "\(restored.lines)")
      let former = try bus.runBusState() + "/default/phone/damaged-1/node.sqlite"
      #expect(try await bus.run("restore", former, "--bus", "default", "--yes").ending == .exited(0))
    }
  }

  @Test("What is no copy, a node that runs and a file that is there are refused, and nothing is changed")
  func refused() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json")
      let watch = bus.spawn("watch", "--json")
      for node in [phone, watch] { try await node.snapshot("its first snapshot") { _ in true } }
      let (copy, other) = (bus.directory + "/phone.backup", bus.directory + "/watch.backup")
      #expect(try await bus.run("backup", copy).ending == .exited(0))
      #expect(try await bus.run("backup", other, "--device", "watch").ending == .exited(0))
      let again = try await bus.run("backup", copy)
      #expect(again.ending == .exited(64), "\(again.errors)")
      #expect(again.errors.first?.contains("is there already") == true, "\(again.errors)")
      #expect(try await bus.run("backup", copy + "2", "--device", "nobody").ending == .exited(65))
      #expect(try await bus.run("backup", "/nowhere/at/all").ending == .exited(74))
      let yes = ["--bus", "default", "--yes"]
      func restore(_ file: String) async throws -> NodeProcess.View {
        let process = bus.spawn(executable: TestBus.busnode, ["restore", file] + yes)
        _ = try await process.ending()
        return process.view
      }
      let held = try await restore(copy)
      #expect(held.ending == .exited(75), "\(held.errors)")
      for node in [watch, phone] {
        node.signal(SIGTERM)
        #expect(try await node.ending() == .exited(0))
      }
      let file = try bus.runBusState() + "/default/phone/node.sqlite"
      let before = try Data(contentsOf: URL(fileURLWithPath: file))
      var damaged = try Data(contentsOf: URL(fileURLWithPath: copy))
      damaged.replaceSubrange(5000..<9000, with: Data(repeating: 0x5A, count: 4000))
      try damaged.write(to: URL(fileURLWithPath: copy + "-damaged"))
      try Data("no store".utf8).write(to: URL(fileURLWithPath: copy + "-text"))
      let wrong = [
        (copy + "-damaged", "damaged copy"), (copy + "-text", "no copy"), (other, "holds the history of a peer"),
      ]
      for (name, words) in wrong {
        let view = try await restore(name)
        #expect(view.ending == .exited(65), "\(name): \(view.errors)")
        #expect(view.errors.count == 1 && view.errors.first?.contains(words) == true, "\(view.errors)")
      }
      #expect(try await restore("/nowhere").ending == .exited(74))
      #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
      #expect(try FileManager.default.contentsOfDirectory(atPath: bus.directory).allSatisfy { !$0.hasSuffix(".part") })
    }
  }
}
