import Foundation
import RunBus
import Testing
import TestSupport

@Suite("Presses while the hub is away")
struct OutboxTests {
  /// Starts a node and waits until it shows a snapshot.
  private func spawn(_ role: String, on bus: TestBus, _ arguments: String...) async throws -> NodeProcess {
    let node = bus.spawn(executable: TestBus.busnode, [role, "--json", "--stdin"] + arguments)
    try await node.snapshot("its first snapshot") { _ in true }
    return node
  }

  /// Ends a node with SIGTERM.
  private func end(_ node: NodeProcess) async throws {
    node.signal(SIGTERM)
    #expect(try await node.ending() == .exited(0), "\(node.view.errors)")
  }

  /// A bus that this machine has met, with a run that is on and no running node.
  private func leaveRunning(_ bus: TestBus) async throws {
    let phone = try await spawn("phone", on: bus, "--debounce", "0")
    #expect(try await bus.run("send", "start").ending == .exited(0))
    try await end(phone)
  }

  @Test("A pause pressed while the phone is down counts from when it was pressed, once the phone is back")
  func pressTime() async throws {
    try await withTestBus { bus in
      try await leaveRunning(bus)
      let pause = try await bus.run("send", "pause", "--json")
      #expect(pause.ending == .exited(5))
      #expect(pause.json.first?["receipt"]?.string == "queued")
      #expect(
        pause.json.first?["message"]?.string == "pause is queued, will be delivered when the hub is back")
      let waiting = try await bus.run("outbox", "--json")
      #expect(waiting.json.count == 1)
      let row = try #require(waiting.json.first)
      #expect(row["id"] == pause.json.first?["commandId"])
      #expect(row["place"]?.string == "spool" && row["what"]?.string == "pause" && row["tries"]?.int == 0)

      let phone = try await spawn("phone", on: bus, "--debounce", "0")
      let shown = try await phone.shows("paused", revision: 2)
      // Run time continued while the phone was down, but none of it was active after the press.
      let waited = try #require(row["waitingSeconds"]?.number)
      let metrics = shown["metrics"]
      let (elapsed, active) = (metrics?["elapsedSeconds"]?.number ?? 0, metrics?["activeSeconds"]?.number ?? 0)
      #expect(elapsed - active >= waited, "\(shown)")
      try await bus.emptySpool()
      #expect(try await bus.run("outbox").lines == ["nothing waits here for bus \"default\""])
      let state = try await bus.run("state", "--json")
      #expect(state.json.first?["changedBy"]?["commandId"] == pause.json.first?["commandId"])
      #expect(state.json.first?["revision"]?.int == 2)
      try await end(phone)
    }
  }

  @Test("Of two presses that waited for the same revision one counts once the phone is back, and scripts see which")
  func conditions() async throws {
    try await withTestBus { bus in
      try await leaveRunning(bus)
      for kind in ["pause", "stop"] {
        let press = try await bus.run("send", kind, "--if-revision", "1")
        #expect(press.ending == .exited(5))
      }
      let phone = try await spawn("phone", on: bus, "--debounce", "0")
      try await phone.shows("paused", revision: 2)
      try await bus.emptySpool()
      let refused = try await bus.run("send", "stop", "--if-revision", "1", "--json")
      #expect(refused.ending == .exited(3))
      #expect(refused.json.first?["reason"]?.string == "revisionChanged")
      #expect(refused.json.first?["expectedRevision"]?.int == 1 && refused.json.first?["revision"]?.int == 2)
      let revision = try await bus.run("state", "--field", "revision")
      #expect(revision.lines == ["2"] && revision.ending == .exited(0))
      let unknown = try await bus.run("state", "--field", "heartRate")
      #expect(unknown.lines == [] && unknown.ending == .exited(7))
      let paused = try await bus.run("wait", "--until", "phase == paused && heartRate == null", "--timeout", "10s")
      #expect(paused.ending == .exited(0) && paused.lines.count == 1)
      let late = try await bus.run("wait", "--until", "revision > 2", "--timeout", "100ms")
      #expect(late.ending == .exited(6) && late.lines == [])
      try await end(phone)
    }
  }

  // Once broken: The last presses on the standard input of a node were lost when the input ended directly after them,
  // with status 0, because the end of the input ended the node before it had processed them.
  @Test("A press on standard input is kept, however soon the input ends")
  func endOfInput() async throws {
    try await withTestBus { bus in
      for device in ["one", "two", "three", "four"] {
        let line = "printf 'start\\nlap\\nstop\\n' | \"$BUSNODE\" watch --json --stdin --device \(device)"
        let watch = bus.spawn(executable: "/bin/bash", ["-o", "pipefail", "-c", line])
        let ending = try await watch.ending()
        #expect(ending == .exited(0), "\(watch.view.errors)")
      }
      let waiting = try await bus.run("outbox", "--json").json
      #expect(waiting.count == 12)
    }
  }

  @Test("With --no-queue, or on a bus that was never met, send keeps nothing and exits 69")
  func nothingKept() async throws {
    try await withTestBus { bus in
      #expect(try await bus.run("send", "start").ending == .exited(69))
      #expect(!FileManager.default.fileExists(atPath: bus.spool))
      try await leaveRunning(bus)
      let now = try await bus.run("send", "pause", "--no-queue", "--json")
      #expect(now.ending == .exited(69))
      #expect(now.lines.isEmpty)
      #expect(JSONValue(text: now.errors.first ?? "")?["error"]?["code"]?.string == "noBus")
      #expect(try bus.spooled().isEmpty)
    }
  }

  @Test("A press on a hub that hangs stays in the spool and later counts from its press time")
  func frozenHub() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus, "--debounce", "0")
      #expect(try await bus.run("send", "start").ending == .exited(0))
      phone.signal(SIGSTOP)
      let pause = try await bus.run("send", "pause", "--timeout", "200ms")
      #expect(pause.ending == .exited(5))
      #expect(pause.lines == ["pause is queued, will be delivered when the hub is back"])
      #expect(try bus.spooled().count == 1)
      let outbox = try await bus.run("outbox", "--device", "shell", "--json")
      let waited = try #require(outbox.json.first?["waitingSeconds"]?.number)
      // flush reports the missing answer in time, and nothing as done that is not.
      let flush = try await bus.run("outbox", "flush", "--timeout", "200ms", within: 30)
      #expect(flush.ending == .exited(69))
      #expect(flush.lines.isEmpty)
      #expect(try await bus.run("peers", "--timeout", "200ms", within: 30).ending == .exited(69))
      phone.signal(SIGCONT)
      let shown = try await phone.shows("paused", revision: 2)
      let metrics = shown["metrics"]
      let (elapsed, active) = (metrics?["elapsedSeconds"]?.number ?? 0, metrics?["activeSeconds"]?.number ?? 0)
      #expect(elapsed - active >= waited, "\(shown)")
      try await bus.emptySpool()
      try await end(phone)
    }
  }

  @Test("Presses of parallel senders while the phone is down are all kept, and count once, in press order")
  func together() async throws {
    try await withTestBus { bus in
      try await leaveRunning(bus)
      async let one = bus.run("send", "lap")
      async let two = bus.run("send", "lap", "--device", "other")
      #expect(try await [one.ending, two.ending] == [.exited(5), .exited(5)])
      #expect(try await bus.run("send", "pause").ending == .exited(5))
      #expect(try await bus.run("send", "resume").ending == .exited(5))
      #expect(try await bus.run("outbox", "--json", "--device", "other").json.count == 1)
      // With a window of 0 every press is judged alone, in press order.
      let phone = try await spawn("phone", on: bus, "--debounce", "0")
      let shown = try await phone.shows("running", revision: 3)
      #expect(shown["metrics"]?["lapCount"]?.int == 2)
      try await bus.emptySpool()
      try await end(phone)
    }
  }

  @Test("flush delivers waiting commands and prints each verdict; without a hub it exits 69")
  func flush() async throws {
    try await withTestBus { bus in
      try await leaveRunning(bus)
      #expect(try await bus.run("outbox", "flush").ending == .exited(0))
      #expect(try await bus.run("send", "pause").ending == .exited(5))
      #expect(try await bus.run("outbox", "flush").ending == .exited(69))
      let phone = try await spawn("phone", on: bus, "--debounce", "0")
      let flush = try await bus.run("outbox", "flush")
      #expect(flush.ending == .exited(0), "\(flush.errors)")
      #expect(try bus.spooled().isEmpty)
      try await phone.shows("paused", revision: 2)
      try await end(phone)
    }
  }

  @Test("A command that was never sent can be cancelled and is not delivered; one that no longer waits is unknown")
  func cancelled() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus, "--debounce", "0")
      let watch = try await spawn("watch", on: bus)
      #expect(try await bus.run("send", "start").ending == .exited(0))
      try await end(phone)
      let pause = try await bus.run("send", "pause", "--json")
      let id = try #require(pause.json.first?["commandId"]?.string)
      #expect(try await bus.run("outbox", "cancel", "12").ending == .exited(64))
      #expect(try await bus.run("outbox", "cancel", String(id.prefix(8))).ending == .exited(0))
      let again = try await bus.run("outbox", "cancel", id)
      #expect(again.ending == .exited(1))
      #expect(again.errors == ["busnode: nothing that waits here begins with \(id)"])
      let back = try await spawn("phone", on: bus, "--debounce", "0")
      watch.write("stop")
      #expect(try await watch.verdict("stop")["revision"]?.int == 2)
      try await back.shows("completed", revision: 2)
      for node in [watch, back] { try await end(node) }
    }
  }

  @Test("A watch's presses survive its kill and arrive in order, once; the outbox shows them, running or not")
  func watchPresses() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus, "--debounce", "0")
      let watch = try await spawn("watch", on: bus)
      // The watch was out of reach before its first snapshot, too.
      let index = watch.view.json.count
      try await end(phone)
      try await watch.event("no hub", from: index) { $0["event"]?.string == "link" && $0["reachable"]?.bool == false }
      let presses = ["start", "lap", "pause", "resume", "lap"]
      for press in presses { watch.write(press) }
      try await watch.wait(for: "all presses queued") { view in
        view.json.count { $0["receipt"]?.string == "queued" } == presses.count ? true : nil
      }
      let running = try await bus.run("outbox", "--json")
      #expect(running.json.compactMap { $0["what"]?.string } == presses, "\(running.errors)")
      #expect(running.json.allSatisfy { $0["tries"]?.int == 0 && $0["receiverDeviceId"]?.string == "phone" })
      // One press is cancelled at the admin socket of the running watch, one in the store of the stopped watch.
      let ids = running.json.compactMap { $0["id"]?.string }
      #expect(try await bus.run("outbox", "cancel", ids[1]).ending == .exited(0))
      watch.signal(SIGKILL)
      #expect(try await watch.ending() == .signaled(SIGKILL))
      #expect(try await bus.run("outbox", "cancel", ids[4]).ending == .exited(0))
      let stopped = try await bus.run("outbox", "--json")
      #expect(stopped.json.compactMap { $0["what"]?.string } == ["start", "pause", "resume"], "\(stopped.errors)")
      #expect(try await bus.run("outbox").lines.count == 4)

      let again = bus.spawn("watch", "--json", "--stdin")
      let back = try await spawn("phone", on: bus, "--debounce", "0")
      let shown = try await back.shows("running", revision: 3)
      #expect(shown["metrics"]?["lapCount"]?.int == 0)
      for press in ["start", "pause", "resume"] {
        #expect(try await again.verdict(press)["receipt"]?.string == "applied")
      }
      #expect(again.judged == ["start", "pause", "resume"], "\(again.view.lines)")
      for node in [again, back] { try await end(node) }
    }
  }

  @Test("peers shows the devices that the hub knows; without a hub it exits 69")
  func peers() async throws {
    try await withTestBus { bus in
      #expect(try await bus.run("peers").ending == .exited(69))
      let phone = try await spawn("phone", on: bus, "--debounce", "0")
      let watch = try await spawn("watch", on: bus)
      watch.write("start")
      try await watch.shows("running", revision: 1)
      let here = try await bus.run("peers", "--json")
      let report = try #require(here.json.first, "\(here.errors)")
      #expect(here.json.count == 1)
      #expect(report["deviceId"]?.string == "watch" && report["role"]?.string == "watch")
      #expect(report["reachable"]?.bool == true && report["commandWatermark"]?.int == 1)
      try await end(watch)
      try await phone.event("the watch gone") {
        $0["event"]?.string == "presence" && $0["reachable"]?.bool == false
      }
      #expect(try await bus.run("peers", "--json").json.first?["reachable"]?.bool == false)
      #expect(try await bus.run("peers").lines.count == 2)
      try await end(phone)
    }
  }

  @Test("A full disk exits 74 and a full spool 75, and nothing is sent")
  func noRoom() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus, "--debounce", "0")
      try FileManager.default.removeItem(atPath: bus.spool)
      #expect(FileManager.default.createFile(atPath: bus.spool, contents: nil))
      let start = try await bus.run("send", "start")
      #expect(start.ending == .exited(74))
      #expect(start.lines.isEmpty && start.errors.count == 1, "\(start.errors)")
      try FileManager.default.removeItem(atPath: bus.spool)
      try await end(phone)

      try FileManager.default.createDirectory(atPath: bus.spool, withIntermediateDirectories: true)
      for number in 1...SpoolDirectory.commandsMax {
        #expect(FileManager.default.createFile(atPath: "\(bus.spool)/\(number).press", contents: nil))
      }
      let full = try await bus.run("send", "start")
      #expect(full.ending == .exited(75))
      #expect(full.lines.isEmpty && full.errors.first?.contains("1024 commands wait") == true)
      let back = try await spawn("phone", on: bus, "--debounce", "0")
      #expect(back.snapshots.first?["phase"]?.string == "idle")
      try await end(back)
    }
  }

  @Test("outbox names a store whose node does not answer, shows the others and exits 75")
  func silentHolder() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus)
      let watch = try await spawn("watch", on: bus)
      try await end(phone)
      #expect(try await bus.run("send", "start").ending == .exited(5))
      watch.signal(SIGSTOP)
      let outbox = try await bus.run("outbox", "--json")
      watch.signal(SIGCONT)
      #expect(outbox.ending == .exited(75))
      #expect(outbox.json.count == 1)
      let error = outbox.errors.first.flatMap { JSONValue(text: $0) }?["error"]
      #expect(outbox.errors.count == 1 && error?["exitCode"]?.int == 75, "\(outbox.errors)")
      #expect(error?["message"]?.string?.hasPrefix("watch: the store in ") == true)
      try await end(watch)
    }
  }
}

extension NodeProcess {
  /// The presses that have a verdict, in the order in which the verdicts were told.
  fileprivate var judged: [String] {
    view.json.filter { $0["event"]?.string == "verdict" }.compactMap { $0["command"]?.string }
  }
}

extension TestBus {
  /// The spool of the bus called default.
  fileprivate var spool: String { stateDirectory + "/runbus/default/_spool" }

  fileprivate func spooled() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: spool).filter { $0.hasSuffix(".press") }
  }

  /// Waits until the spool is empty.
  fileprivate func emptySpool() async throws {
    let wait = try await shell("until [ -z \"$(ls -A '\(spool)')\" ]; do sleep 0.05; done", within: 60)
    #expect(wait.ending == .exited(0))
  }
}
