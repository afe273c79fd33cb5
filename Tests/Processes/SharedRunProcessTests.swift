import Foundation
import RunBus
import RunRecordings
import RunScripts
import Testing
import TestSupport

@Suite("Three processes share one run")
struct SharedRunProcessTests {
  @Test("Pause on all devices at once is one transition: one applied, the rest coalesced", arguments: Link.allCases)
  func allAtOnce(link: Link) async throws {
    try await withTrio(link) { trio in
      let (phone, watch, widget) = try await trio.start()
      phone.write("start")
      for node in [phone, watch, widget] { try await node.shows("running", revision: 1) }

      async let shell = trio.run("send", "pause", "--json")
      for node in [phone, watch, widget] { node.write("pause") }
      var verdicts = [try #require(try await shell.json.last)]
      for node in [phone, watch, widget] { verdicts.append(try await node.verdict("pause")) }

      let applied = verdicts.filter { $0["receipt"]?.string == "applied" }
      let coalesced = verdicts.filter { $0["receipt"]?.string == "coalesced" }
      #expect(applied.count == 1 && coalesced.count == 3, "\(verdicts)")
      #expect(Set(verdicts.map { $0["commandId"] }).count == 4)
      #expect(Set(coalesced.map { $0["coalescedInto"] }) == [applied.first?["commandId"]])
      #expect(verdicts.allSatisfy { $0["revision"]?.int == 2 })

      // The next press makes the next revision, so nothing happened in between.
      #expect(try await trio.run("send", "resume", "--json").json.last?["revision"]?.int == 3)
      for node in [phone, watch, widget] {
        try await node.shows("running", revision: 3)
        #expect(node.revisions.subtracting([0]) == [1, 2, 3])
        let pauses = node.snapshots.filter { $0["revision"]?.int == 2 }
        #expect(Set(pauses.map { $0["changedBy"]?["commandId"] }) == [applied.first?["commandId"]])
        #expect(pauses.allSatisfy { $0["phase"]?.string == "paused" })
      }
    }
  }

  @Test("A late joiner has the state at once", arguments: Link.allCases)
  func lateJoiner(link: Link) async throws {
    try await withTrio(link) { trio in
      let (phone, watch, widget) = try await trio.start()
      phone.write("start")
      try await watch.shows("running", revision: 1)
      widget.write("pause")
      let present = try await phone.shows("paused", revision: 2)

      let late = trio.spawn("watch", ["--device", "watch2"])
      let first = try await late.snapshot("its first snapshot") { _ in true }
      #expect(first["phase"]?.string == "paused" && first["revision"]?.int == 2)
      #expect(first["runId"] == present["runId"] && first["changedBy"] == present["changedBy"])
      #expect(try #require(first["metrics"]?["activeSeconds"]?.number) > 0)
      late.write("resume")
      #expect(try await late.verdict("resume")["receipt"]?.string == "applied")
      for node in [phone, watch, widget] { try await node.shows("running", revision: 3) }
    }
  }

  @Test("A watch that was killed shows the present state when it is back", arguments: Link.allCases)
  func killedWatch(link: Link) async throws {
    try await withTrio(link) { trio in
      let (phone, watch, widget) = try await trio.start()
      watch.write("start")
      try await watch.shows("running", revision: 1)
      watch.signal(SIGKILL)
      #expect(try await watch.ending() == .signaled(SIGKILL))
      widget.write("pause")
      try await phone.shows("paused", revision: 2)

      let again = trio.spawn("watch")
      let first = try await again.snapshot("its first snapshot") { _ in true }
      #expect(first["phase"]?.string == "paused" && first["revision"]?.int == 2)
      again.write("resume")
      #expect(try await again.verdict("resume")["receipt"]?.string == "applied")
      try await widget.shows("running", revision: 3)
    }
  }

  @Test(
    "A killed phone continues its run: same revision, higher term, and peers follow", arguments: Link.allCases)
  func killedPhone(link: Link) async throws {
    let sensors = ["--synthetic", "--seed", "3", "--duration", "600", "--speed", "20"]
    try await withTrio(link) { trio in
      let (phone, watch, widget) = try await trio.start(phone: sensors)
      watch.write("start")
      // Some distance is durable, because a snapshot shows only durable values.
      let shown = try await widget.snapshot("some distance") { $0["metrics"]?["distanceMeters"]?.number ?? 0 > 20 }
      phone.signal(SIGKILL)
      #expect(try await phone.ending() == .signaled(SIGKILL))

      let again = trio.spawn("phone", sensors)
      let first = try await again.snapshot("its first snapshot") { _ in true }
      #expect(first["phase"]?.string == "running" && first["revision"]?.int == 1)
      #expect(try #require(first["term"]?.int) > 1)
      #expect(first["runId"] == shown["runId"] && first["changedBy"] == shown["changedBy"])
      #expect(
        try #require(first["metrics"]?["distanceMeters"]?.number)
          >= #require(shown["metrics"]?["distanceMeters"]?.number))
      let term = first["term"]?.int
      for node in [watch, widget] { try await node.shows("running", revision: 1, term: term) }

      widget.write("pause")
      #expect(try await widget.verdict("pause")["receipt"]?.string == "applied")
      for node in [again, watch, widget] { try await node.shows("paused", revision: 2, term: term) }
      for node in [watch, widget] {
        let orders = node.snapshots.map(\.order)
        #expect(zip(orders, orders.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }, "\(orders)")
      }
    }
  }

  @Test("A watch that was frozen until the hub missed it catches up when it continues", arguments: Link.allCases)
  func frozenWatch(link: Link) async throws {
    try await withTrio(link) { trio in
      let (phone, watch, widget) = try await trio.start()
      phone.write("start")
      try await watch.shows("running", revision: 1)
      watch.signal(SIGSTOP)
      widget.write("pause")
      try await phone.shows("paused", revision: 2)
      let seen = phone.view.json.count
      try await phone.event("the watch missed") {
        $0["event"]?.string == "presence" && $0["deviceId"]?.string == "watch" && $0["reachable"]?.bool == false
      }
      #expect(!watch.snapshots.contains { $0["revision"]?.int == 2 })
      widget.write("resume")
      try await phone.shows("running", revision: 3)

      watch.signal(SIGCONT)
      try await watch.shows("running", revision: 3)
      try await phone.event("the watch back", from: seen) {
        $0["event"]?.string == "presence" && $0["deviceId"]?.string == "watch" && $0["reachable"]?.bool == true
      }
      watch.write("stop")
      #expect(try await watch.verdict("stop")["receipt"]?.string == "applied")
      for node in [phone, watch, widget] { try await node.shows("completed", revision: 4) }
    }
  }

  @Test("A disconnected watch loses no reading: they arrive when it is back", arguments: Link.allCases)
  func offlineWatch(link: Link) async throws {
    let sensors = ["--synthetic", "--seed", "5", "--duration", "90"]
    let recording = SyntheticRun(seed: 5, duration: .seconds(90)).recording()
    let (wanted, last) = (measure(recording), recording.presses.count { $0.kind != .lap })
    try await withTrio(link) { trio in
      let (phone, watch, widget) = try await trio.start(phone: sensors + ["--speed", "20"], watch: sensors)
      func press(_ presses: some Collection<RecordedPress>) {
        for press in presses {
          phone.write(NodeOrder.press(press.kind, at: press.kind == .start ? nil : press.offset).line)
        }
      }
      press(recording.presses.dropLast())
      try await widget.snapshot("a heart rate") { $0["metrics"]?["heartRateBpm"]?.number != nil }
      let index = watch.view.json.count
      watch.write("offline")
      try await watch.event("no link", from: index) {
        $0["event"]?.string == "link" && $0["reachable"]?.bool == false
      }
      // The watch hears nothing until it is back, though the run continues and ends, however slow the machine is.
      press(recording.presses.suffix(1))
      try await widget.shows("completed", revision: last)
      #expect(!watch.revisions.contains(last))

      watch.write("online")
      for node in [phone, watch, widget] {
        try await node.snapshot("every reading") {
          $0["metrics"]?["averageHeartRateBpm"]?.number == wanted.averageHeartRateBpm
            && $0["metrics"]?["distanceMeters"]?.number == wanted.distanceMeters
        }
      }
      try await watch.event("all of its readings") { $0["event"]?.string == "sensorsDone" }
    }
  }
}
