import Foundation
import Testing
import TestSupport

@Suite("Records at a watch")
struct RecordDeliveryTests {
  private func records(_ node: NodeProcess) -> [JSONValue] { node.view.json.filter { $0["event"]?.string == "record" } }

  private func record(_ node: NodeProcess, _ act: String, version: Int? = nil) async throws -> JSONValue {
    try await node.event("a record that is \(act)") {
      $0["event"]?.string == "record" && $0["act"]?.string == act
        && (version == nil || $0["record"]?["version"]?.int == version)
    }
  }

  private func end(_ node: NodeProcess, _ number: Int32 = SIGTERM) async throws {
    node.signal(number)
    _ = try await node.ending()
  }

  @Test("A watch that was away during a run gets its record once on return, and later edits and removals")
  func away() async throws {
    try await withTestBus { bus in
      func phone() -> NodeProcess { bus.spawn(executable: TestBus.busnode, ["phone", "--json", "--debounce", "0"]) }
      func watch() -> NodeProcess { bus.spawn(executable: TestBus.busnode, ["watch", "--json"]) }
      let first = phone()
      let before = watch()
      try await before.event("the phone") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      try await end(before)
      #expect(try await bus.run("send", "start").ending == .exited(0))
      #expect(try await bus.run("send", "stop").ending == .exited(0))
      let kept = try await record(first, "kept")
      let id = try #require(kept["runId"]?.string)

      let back = watch()
      let come = try await record(back, "kept")
      #expect(come["record"] == kept["record"])
      // The watch's records can be listed at the watch, but are changed only at the phone.
      let listed = try await bus.run("records", "--device", "watch", "--json")
      #expect(listed.json == [try #require(kept["record"])])
      let shown = try await bus.run("records", "show", id, "--device", "watch", "--json")
      #expect(shown.json == (try await bus.run("records", "show", id, "--device", "phone", "--json")).json)
      let refused = try await bus.run("records", "edit", id, "--title", "River", "--device", "watch")
      #expect(refused.ending == .exited(1) && refused.errors.count == 1)
      #expect(records(back).count == 1)
      try await end(back, SIGKILL)

      let again = watch()
      try await again.event("the phone") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      #expect(try await bus.run("records", "edit", id, "--title", "River").ending == .exited(0))
      #expect(try await record(again, "kept", version: 2)["record"]?["title"]?.string == "River")
      #expect(records(again).count == 1, "the first version came again")

      // The phone is gone, and the watch still has its runs.
      try await end(first, SIGKILL)
      #expect(try await bus.run("records", "--device", "watch", "--json").json.first?["title"]?.string == "River")
      let second = phone()
      try await again.snapshot("the second life") { $0["term"]?.int == 2 }
      #expect(try await bus.run("records", "rm", id, "--yes").ending == .exited(0))
      #expect(try await record(again, "removed")["runId"]?.string == id)
      #expect(records(again).count == 2)
      #expect(try await bus.run("records", "--device", "watch", "--json").json.isEmpty)
      try await end(again)
      try await end(second)
    }
  }

  // Once broken: `records rm` said "is removed", and every list went on showing the run from the store of a watch that
  // did not run, because Copies hide nothing, and what the hub had removed was not asked for.
  @Test("A removed run is gone from every list of this machine at once, though a watch with its copy does not run")
  func removedAtOnce() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn(executable: TestBus.busnode, ["phone", "--json", "--debounce", "0"])
      let watch = bus.spawn(executable: TestBus.busnode, ["watch", "--json"])
      try await watch.event("the phone") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      for kind in ["start", "stop", "start", "stop"] {
        #expect(try await bus.run("send", kind).ending == .exited(0))
        if kind == "stop" { _ = try await record(watch, "kept") }
      }
      _ = try await watch.event("both records") { _ in records(watch).count == 2 }
      let id = try #require(records(watch).first?["runId"]?.string)
      try await end(watch)
      let backup = bus.directory + "/backup"
      let stores = bus.stateDirectory + "/runbus/default"
      phone.signal(SIGTERM)
      _ = try await phone.ending()
      try FileManager.default.copyItem(atPath: stores + "/phone", toPath: backup)
      #expect(try await bus.run("records", "rm", id, "--yes").ending == .exited(0))
      func shown() async throws -> [String?] {
        let lists = [
          try await bus.run("records", "--json"), try await bus.run("records", "--device", "watch", "--json"),
        ]
        return lists.flatMap { $0.json.map { $0["runId"]?.string } }
      }
      let other = try #require(records(watch).last?["runId"]?.string)
      #expect(try await shown() == [other, other])
      #expect(try await bus.run("records", "show", id).ending == .exited(1))
      #expect(try await bus.run("records", "stats", "--by", "year", "--json").json.first?["count"]?.int == 1)
      // It stays so once the watch has heard of it, and the phone that is restored from before has its run again.
      let again = bus.spawn(executable: TestBus.busnode, ["phone", "--json", "--debounce", "0"])
      let hearing = bus.spawn(executable: TestBus.busnode, ["watch", "--json"])
      _ = try await record(hearing, "removed")
      #expect(try await shown() == [other, other])
      try await end(hearing)
      try await end(again)
      try FileManager.default.removeItem(atPath: stores + "/phone")
      try FileManager.default.moveItem(atPath: backup, toPath: stores + "/phone")
      #expect(try await bus.run("records", "--json").json.map { $0["runId"]?.string } == [id, other])
    }
  }
}
