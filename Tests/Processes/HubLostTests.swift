import Foundation
import Synchronization
import Testing
import TestSupport

@Suite("A watch whose phone falls silent")
struct HubLostTests {
  /// The alarms that a node has printed.
  private func alarms(_ node: NodeProcess) -> [JSONValue] { node.view.json.filter { $0["event"]?.string == "hubLost" } }

  /// Waits until a node prints the freshness of its view, in a line from `index` on.
  @discardableResult
  private func view(
    of node: NodeProcess, stale: Bool, offDuty: Bool = false, from index: Int = 0
  ) async throws -> JSONValue {
    try await node.event("a view that is \(stale ? "stale" : "fresh")", from: index) {
      $0["event"]?.string == "view" && $0["stale"]?.bool == stale && $0["hubOffDuty"]?.bool == offDuty
    }
  }

  /// The output of the hook, which goes to the node's standard error.
  private func hookLines(_ node: NodeProcess) -> [String] { node.view.errors.filter { $0.hasPrefix("lost ") } }

  private static let hook =
    "echo \"lost $RUNBUS_RUN_ID $RUNBUS_BUS $RUNBUS_SILENT_SECONDS $RUNBUS_DEVICE $RUNBUS_HUB_DEVICE\" >&2"

  @Test("kill -9 of the phone during a run: one alarm and one run of the command, and again after the next death")
  func death() async throws {
    let hanging = Mutex<Int32?>(nil)
    try await withTrio(.ipc) { trio in
      let arguments = ["--hub-lost-after", "6s", "--on-hub-lost", Self.hook]
      let (phone, watch, _) = try await trio.start(watch: arguments)
      // The hook's command hangs; it must not delay the node or its end.
      let stuck = trio.spawn(
        "watch", ["--device", "watch2", "--hub-lost-after", "6s", "--on-hub-lost", "echo $$ >&2; exec sleep 1000"])
      let failing = trio.spawn(
        "widget", ["--device", "widget2", "--hub-lost-after", "6s", "--on-hub-lost", "exit 3"])
      phone.write("start")
      for node in [watch, stuck, failing] { try await node.shows("running", revision: 1) }

      phone.signal(SIGKILL)
      let lost = try await watch.event("the alarm") { $0["event"]?.string == "hubLost" }
      #expect(lost["deviceId"]?.string == "phone" && lost["revision"]?.int == 1)
      #expect(lost["silentSeconds"]?.number ?? 0 >= 6)
      try await view(of: watch, stale: true)
      let run = try #require(lost["runId"]?.string)
      let line = try await watch.wait(for: "the command's words") { view in
        view.errors.first { $0.hasPrefix("lost ") }
      }
      #expect(line.hasPrefix("lost \(run) trio ") && line.hasSuffix(" watch phone"), "\(line)")
      try await failing.wait(for: "the command's failure") { view in
        view.errors.first { $0 == "busnode: --on-hub-lost \"exit 3\": it ended with exit status 3" }
      }
      let pid = try await stuck.wait(for: "the command that hangs") { view in
        view.errors.lazy.compactMap { Int32($0) }.first
      }
      hanging.withLock { $0 = pid }

      // Another incarnation of the watch in the same silence must print nothing.
      watch.signal(SIGKILL)
      _ = try await watch.ending()
      let again = trio.spawn("watch", arguments)
      try await view(of: again, stale: true)

      // The phone is back: the view is fresh, and the alarm is armed again.
      let index = again.view.json.count
      let second = trio.spawn("phone")
      try await view(of: again, stale: false, from: index)
      #expect(alarms(watch).count == 1 && hookLines(watch).count == 1)
      #expect(alarms(again).isEmpty && hookLines(again).isEmpty)
      try await again.snapshot("the second life") { $0["term"]?.int == 2 }
      second.signal(SIGKILL)
      try await again.event("the second alarm") { $0["event"]?.string == "hubLost" }
      _ = trio.spawn("phone")
      try await again.snapshot("the third life") { $0["term"]?.int == 3 }
      #expect(alarms(again).count == 1)
    }
    let pid = try #require(hanging.withLock { $0 })
    #expect(kill(pid, 0) == -1, "the command that hung still lives")
  }

  @Test("A phone that quits during a run raises no alarm: the view says that it went off duty")
  func goodEnd() async throws {
    try await withTrio(.ipc) { trio in
      let (phone, watch, _) = try await trio.start(
        watch: ["--hub-lost-after", "6s", "--on-hub-lost", Self.hook])
      phone.write("start")
      try await watch.shows("running", revision: 1)
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
      try await view(of: watch, stale: true, offDuty: true)
      try await laterAlarm()
      let index = watch.view.json.count
      _ = trio.spawn("phone")
      try await view(of: watch, stale: false, from: index)
      #expect(alarms(watch).isEmpty && hookLines(watch).isEmpty)
    }
  }

  /// Waits until a watch on another bus reports a silence that began after this call. By then a silence that began
  /// before this call is long enough to be reported, if it counts.
  private func laterAlarm() async throws {
    try await withTrio(.ipc) { trio in
      let (phone, watch, _) = try await trio.start(watch: ["--hub-lost-after", "6s"])
      phone.write("start")
      try await watch.shows("running", revision: 1)
      phone.signal(SIGKILL)
      try await watch.event("the alarm") { $0["event"]?.string == "hubLost" }
      // The next phone removes the socket files that the dead one left.
      _ = trio.spawn("phone")
      try await watch.snapshot("the second life") { $0["term"]?.int == 2 }
    }
  }

  @Test("A phone that hangs for less than the limit makes the view stale and raises no alarm")
  func slow() async throws {
    try await withTrio(.ipc) { trio in
      let (phone, watch, _) = try await trio.start(
        watch: ["--hub-lost-after", "60s", "--on-hub-lost", Self.hook])
      phone.write("start")
      try await watch.shows("running", revision: 1)
      phone.signal(SIGSTOP)
      let old = try await view(of: watch, stale: true)
      #expect(old["ageSeconds"]?.number ?? 0 >= 6)
      let index = watch.view.json.count
      phone.signal(SIGCONT)
      try await view(of: watch, stale: false, from: index)
      watch.write("pause")
      try await watch.shows("paused", revision: 2)
      #expect(alarms(watch).isEmpty && hookLines(watch).isEmpty)
    }
  }
}
