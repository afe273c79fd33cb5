import Foundation
import Testing
import TestSupport

@Suite("Signals end a node properly")
struct SignalTests {
  @Test(
    "A phone that is told to end says goodbye and exits 0, and no watch raises an alarm",
    arguments: [SIGHUP, SIGQUIT, SIGINT, SIGTERM])
  func goodbye(number: Int32) async throws {
    try await withTrio(.ipc) { trio in
      let (phone, watch, _) = try await trio.start()
      phone.write("start")
      try await watch.shows("running", revision: 1)
      phone.signal(number)
      // A terminal that is closed often sends several.
      if number == SIGHUP { for _ in 1...3 { phone.signal(number) } }
      #expect(try await phone.ending() == .exited(0), "\(phone.view.errors)")
      #expect(phone.view.errors.isEmpty)
      try await watch.event("its word that the phone went off duty") {
        $0["event"]?.string == "view" && $0["hubOffDuty"]?.bool == true
      }
    }
  }

  // Once broken: SIGHUP killed a node like a crash and raised the alarm; SIGQUIT printed a crash report and did not end
  // it; SIGHUP left `up`'s state directory behind, because only SIGINT and SIGTERM were handled.
  @Test("A node that was started with nohup outlives its terminal")
  func nohup() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn(executable: "/bin/bash", ["-c", "trap '' HUP; exec \"$BUSNODE\" phone --json --stdin"])
      try await phone.snapshot("its first snapshot") { _ in true }
      phone.signal(SIGHUP)
      phone.write("start")
      try await phone.shows("running", revision: 1)
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }

  @Test("up ends its nodes and leaves nothing behind", arguments: [SIGHUP, SIGQUIT, SIGINT, SIGTERM])
  func up(number: Int32) async throws {
    try await withTestBus { bus in
      let up = bus.spawn("up", "--synthetic", "--duration", "600", "--json")
      try await up.event("the run") { $0["node"]?.string == "widget" && $0["phase"]?.string == "running" }
      up.signal(number)
      #expect(try await up.ending() == .exited(130), "\(up.view.errors)")
      let left = FileManager.default.enumerator(atPath: bus.directory)?.compactMap { $0 as? String } ?? []
      #expect(Set(left).isSubset(of: ["run", "run/runbus"]), "\(left)")
    }
  }

  // Once broken: A second Ctrl-C left `up`'s state directory behind, because it ended the process at once.
  @Test("A second Ctrl-C ends up at once, with nodes that do not end by themselves, and nothing is left")
  func twice() async throws {
    try await withTestBus { bus in
      let up = bus.spawn("up", "--synthetic", "--duration", "600", "--json")
      try await up.event("the run") { $0["node"]?.string == "widget" && $0["phase"]?.string == "running" }
      let id = try #require(up.view.processID)
      _ = try await bus.shell("kill -STOP $(pgrep -P \(id))")
      up.signal(SIGINT)
      up.signal(SIGTERM)
      #expect(try await up.ending() == .exited(130), "\(up.view.errors)")
      let left = FileManager.default.enumerator(atPath: bus.directory)?.compactMap { $0 as? String } ?? []
      #expect(Set(left).isSubset(of: ["run", "run/runbus"]), "\(left)")
    }
  }

  @Test("up ends its nodes when nobody reads its output any more")
  func reader() async throws {
    try await withTestBus { bus in
      let up = try await bus.shell(
        "\"$BUSNODE\" up --synthetic --duration 600 --json | head -n 5 >/dev/null; exit ${PIPESTATUS[0]}")
      #expect(up.ending == .exited(130) && up.errors.isEmpty, "\(up.errors)")
      let left = FileManager.default.enumerator(atPath: bus.directory)?.compactMap { $0 as? String } ?? []
      #expect(Set(left).isSubset(of: ["run", "run/runbus"]), "\(left)")
    }
  }
}
