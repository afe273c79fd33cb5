import Foundation
import Testing
import TestSupport

/// A phone that is killed with kill -9 during a run and started again.
@Suite("A phone that was killed in a run")
struct RecoveryTests {
  /// Starts a run, kills the phone, and starts a new one with these arguments.
  private func recover(
    _ arguments: String...,
    body: @Sendable (_ trio: Trio, _ phone: NodeProcess, _ watch: NodeProcess) async throws -> Void
  ) async throws {
    try await withTrio(.ipc) { trio in
      let nodes = try await trio.start(phone: ["--synthetic"])
      nodes.watch.write("start")
      try await nodes.phone.shows("running", revision: 1)
      // After a tick something of the run is on the disk.
      try await nodes.phone.snapshot("a tick") { ($0["metrics"]?["activeSeconds"]?.number ?? 0) >= 3 }
      nodes.phone.signal(SIGKILL)
      _ = try await nodes.phone.ending()
      let phone = trio.spawn("phone", ["--synthetic"] + arguments)
      try await body(trio, phone, nodes.watch)
    }
  }

  /// Starts a run and kills the phone.
  private static func killedInRun(_ trio: Trio) async throws -> (phone: NodeProcess, watch: NodeProcess) {
    let nodes = try await trio.start()
    nodes.watch.write("start")
    try await nodes.phone.shows("running", revision: 1)
    nodes.phone.signal(SIGKILL)
    _ = try await nodes.phone.ending()
    return (nodes.phone, nodes.watch)
  }

  private static func isRecovering(_ snapshot: JSONValue) -> Bool { snapshot["recovering"]?.bool == true }

  @Test("The run is resumed where nobody can be asked")
  func resume() async throws {
    try await recover { _, phone, watch in
      let first = try await phone.shows("running", revision: 1, term: 2)
      #expect(!Self.isRecovering(first))
      try await watch.shows("running", revision: 1, term: 2)
    }
  }

  @Test("With finish every device shows the run completed and never running again")
  func finish() async throws {
    try await recover("--recover", "finish") { _, phone, watch in
      let stopped = try await watch.shows("completed", revision: 2, term: 2)
      #expect(stopped["changedBy"]?["source"]?.string == "recovery")
      #expect(stopped["changedBy"]?["deviceId"]?.string == "phone")
      #expect(phone.snapshots.allSatisfy { $0["phase"]?.string == "completed" })
    }
  }

  @Test("With discard the run is over too, and the phone reports what it did")
  func discard() async throws {
    try await recover("--recover", "discard") { _, phone, watch in
      try await watch.shows("completed", revision: 2, term: 2)
      try await phone.wait(for: "its word") { view in view.errors.first { $0.contains("and discarded") } }
    }
  }

  @Test("With ask all devices show the question, and a shell answers it once")
  func ask() async throws {
    try await recover("--recover", "ask") { trio, phone, watch in
      let asked = try await watch.snapshot("the question", where: Self.isRecovering)
      #expect(asked["phase"]?.string == "running")
      let state = try await trio.run("state")
      #expect(state.lines.first?.contains("waits to be recovered") == true)
      let answer = try await trio.run("recover", "resume")
      #expect(answer.ending == .exited(0))
      #expect(answer.lines == ["the run goes on"])
      let goesOn = try await watch.snapshot("the run going on") { !Self.isRecovering($0) && $0["term"]?.int == 2 }
      #expect(goesOn["revision"]?.int == 1)
      #expect(goesOn["metrics"]?["activeSeconds"]?.number == asked["metrics"]?["activeSeconds"]?.number)
      let again = try await trio.run("recover", "finish")
      #expect(again.ending == .exited(1))
      #expect(again.errors == ["busnode: no run waits for an answer"])
      _ = phone
    }
  }

  @Test("A phone that dies while it waits for a decision asks again, and an answer on standard input counts")
  func askAgain() async throws {
    try await recover("--recover", "ask") { trio, phone, watch in
      try await phone.snapshot("the question", where: Self.isRecovering)
      phone.signal(SIGKILL)
      _ = try await phone.ending()
      let next = trio.spawn("phone", ["--recover", "ask"])
      try await watch.snapshot("the question again") { Self.isRecovering($0) && $0["term"]?.int == 3 }
      next.write("recover finish")
      try await watch.shows("completed", revision: 2, term: 3)
    }
  }

  /// Runs a program on a terminal of its own.
  private static let onTerminal = ["python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])"]

  @Test("A letter that is typed at the terminal answers, and so does a stop on the watch")
  func letters() async throws {
    try await withTrio(.ipc) { trio in
      let nodes = try await Self.killedInRun(trio)
      func ask() -> NodeProcess {
        trio.bus.spawn(
          executable: "/usr/bin/env",
          Self.onTerminal + [TestBus.busnode, "phone", "--json", "--recover", "ask"] + trio.place)
      }
      let phone = ask()
      try await phone.wait(for: "the prompt") { view in
        view.lines.first { $0.contains("[r]esume, [f]inish or [d]iscard it?") }
      }
      phone.write("perhaps")
      phone.write("r")
      try await nodes.watch.snapshot("the run going on") { !Self.isRecovering($0) && $0["term"]?.int == 2 }
      #expect(phone.view.lines.contains { $0.contains("\"perhaps\" is no answer") })
      phone.write("\u{3}")
      _ = try await phone.ending()
      let next = ask()
      try await nodes.watch.snapshot("the question") { Self.isRecovering($0) && $0["term"]?.int == 3 }
      nodes.watch.write("stop")
      let stopped = try await nodes.watch.shows("completed", revision: 2, term: 3)
      #expect(stopped["changedBy"]?["source"]?.string == "watch")
      next.write("\u{3}")
      #expect(try await next.ending() == .exited(0))
    }
  }

  // Once broken: `phone --recover ask` asked a question of /dev/null, and took a line of a pipe for an answer, because
  // only a terminal of the background was left out.
  @Test("Without a terminal the phone asks no question: it says how to answer, and reads no answer from a pipe")
  func noTerminal() async throws {
    try await withTrio(.ipc) { trio in
      let nodes = try await Self.killedInRun(trio)
      let phone = trio.bus.spawn(
        executable: TestBus.busnode, ["phone", "--json", "--recover", "ask"] + trio.place)
      phone.write("finish")
      phone.closeInput()
      let said = try await phone.wait(for: "how to answer") { view in
        view.errors.first { $0.contains("found an unfinished run") }
      }
      #expect(said.contains("busnode recover resume, finish or discard"), "\(said)")
      #expect(try await trio.run("recover", "resume").ending == .exited(0))
      try await nodes.watch.snapshot("the run going on") { !Self.isRecovering($0) && $0["term"]?.int == 2 }
      #expect(!phone.view.errors.contains { $0.contains("[r]esume") }, "\(phone.view.errors)")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }
}
