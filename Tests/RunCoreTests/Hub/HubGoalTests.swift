import Testing

@testable import RunCore

@Suite("A hub keeps the goal of the start that began the run")
struct HubGoalTests {
  private let goal = RunGoal(time: .seconds(1800))!
  private let other = RunGoal(time: .seconds(600))!

  private func start(
    _ hub: inout HubStage, by name: String = "watch", _ goal: RunGoal?, run: UInt64? = nil
  ) -> Command {
    let plain = hub.command(.start, by: name, runID: run.map { .number($0) })
    return .start(id: plain.id, goal: goal, source: plain.source, runID: plain.runID)
  }

  private func sends(_ hub: inout HubStage, _ name: String, _ command: Command, age: BusDuration = .zero) {
    _ = hub.sends(name, command, age: age)
    hub.commitsAll()
    hub.passes(.milliseconds(500))
  }

  private func presses(_ hub: inout HubStage, _ name: String, _ kind: CommandKind) {
    let command = hub.command(kind, by: name)
    sends(&hub, name, command)
  }

  private func killed(_ hub: HubStage) -> HubHistory {
    var disk = HubDisk()
    disk.commit(hub.durable)
    return disk.history
  }

  private func records(_ hub: HubStage) -> [RunRecord] {
    hub.durable.compactMap { if case .keepRecord(let record, _) = $0 { record } else { nil } }
  }

  /// A hub whose run the watch has started with the goal.
  private func running(by name: String = "watch") -> HubStage {
    var hub = HubStage.with("watch", "widget")
    let start = start(&hub, by: name, goal)
    sends(&hub, name, start)
    return hub
  }

  @Test("over pause, lap, resume and stop, and what remains counts the game clock, which goes on in a pause")
  func phases() {
    var hub = running()
    for (kind, second) in [(.pause, 100), (.lap, 150), (.resume, 200), (.stop, 300)] as [(CommandKind, Int64)] {
      hub.passes(to: .zero + .seconds(second))
      let shown = hub.core.authoritative
      #expect(shown.goal == goal, "before \(kind)")
      #expect(shown.remaining(at: hub.now) == .seconds(1800 - second), "before \(kind)")
      presses(&hub, "watch", kind)
    }
    hub.passes(to: .zero + .seconds(400))
    #expect(hub.core.authoritative.goal == goal)
    #expect(hub.core.authoritative.remaining(at: hub.now) == .seconds(1500))
    #expect(records(hub).last?.summary.goal == goal)
  }

  @Test("and the run goes on behind it: nothing is stopped, and nothing remains")
  func over() {
    var hub = running()
    hub.passes(to: .zero + .seconds(1900))
    #expect(hub.core.authoritative.phase == .running)
    #expect(hub.core.authoritative.remaining == .zero)
  }

  @Test("while a start that repeats it, in its window or later, changes nothing")
  func repeated() {
    var hub = HubStage.with("watch", "widget")
    let (first, second) = (start(&hub, goal), start(&hub, by: "widget", other))
    _ = hub.sends("watch", first)
    _ = hub.sends("widget", second)
    hub.commitsAll()
    hub.passes(.milliseconds(500))
    #expect(hub.core.authoritative.goal == goal)
    let third = start(&hub, by: "widget", other)
    sends(&hub, "widget", third)
    hub.passes(.seconds(60))
    let late = start(&hub, by: "widget", other)
    sends(&hub, "widget", late, age: .seconds(50))
    #expect(hub.core.authoritative.goal == goal)
    #expect(hub.core.authoritative.order.revision == 1)
  }

  @Test("also when that start has none, and another one that it repeats has one")
  func none() {
    var hub = HubStage.with("watch", "widget")
    hub.startRun()
    let second = start(&hub, by: "widget", goal)
    sends(&hub, "widget", second)
    #expect(hub.core.authoritative.goal == nil && hub.core.authoritative.remaining == nil)
  }

  @Test("and the next run has its own, or none")
  func next() {
    var hub = running()
    hub.passes(.seconds(10))
    presses(&hub, "watch", .stop)
    hub.passes(.seconds(10))
    let second = start(&hub, other)
    sends(&hub, "watch", second)
    #expect(hub.core.authoritative.goal == other)
    hub.passes(.seconds(10))
    presses(&hub, "watch", .stop)
    hub.passes(.seconds(10))
    presses(&hub, "watch", .start)
    #expect(hub.core.authoritative.phase == .running && hub.core.authoritative.goal == nil)
    #expect(records(hub).map(\.summary.goal) == [goal, other])
  }

  @Test("of a start that arrives late, from its press on")
  func late() {
    var hub = HubStage.with("watch")
    hub.passes(to: .zero + .seconds(400))
    let late = start(&hub, goal)
    sends(&hub, "watch", late, age: .seconds(300))
    #expect(hub.core.authoritative.goal == goal)
    #expect(hub.core.authoritative.remaining(at: hub.now) == .seconds(1500) + .milliseconds(-500))
  }

  @Test("over a restart, while the hub asks about the run, and after each answer", arguments: RecoveryChoice.allCases)
  func restarted(choice: RecoveryChoice) {
    var hub = running()
    hub.passes(to: .zero + .seconds(100))
    var next = HubStage.opened(history: killed(hub), now: .zero + .seconds(160), recovery: choice)
    next.commitsAll()
    next.passes(.seconds(1))
    let shown = next.core.authoritative
    #expect(shown.goal == goal)
    #expect(next.core.ledger.goal == goal)
    if shown.phase.isOn { #expect(shown.remaining(at: next.now) == .seconds(1639)) }
  }

  @Test("that was accepted before the hub died, and judged after it")
  func unjudged() {
    var hub = HubStage.with("watch")
    let command = start(&hub, goal)
    _ = hub.sends("watch", command)
    hub.commitsAll()
    var next = HubStage.opened(history: killed(hub), now: .zero + .seconds(5))
    next.commitsAll()
    next.passes(.seconds(1))
    #expect(next.core.authoritative.phase == .running)
    #expect(next.core.authoritative.goal == goal)
  }

  @Test("of a whole run from the watch, in its record alone")
  func whole() throws {
    var hub = running(by: "widget")
    hub.passes(to: .zero + .seconds(100))
    let begin = start(&hub, other, run: 7)
    let end = hub.command(.stop, by: "watch", runID: .number(7))
    for (place, command, age) in [(1, begin, 60), (2, end, 20)] as [(UInt64, Command, Int64)] {
      _ = hub.says(
        "watch",
        .command(
          CommandTransmission(command: command, sequence: place, age: .seconds(age), stopFollows: place == 1)))
      hub.commitsAll()
    }
    hub.passes(.seconds(120))
    let record = try #require(records(hub).first { $0.runID == .number(7) })
    #expect(record.summary.goal == other)
    #expect(record.summary.elapsed == .seconds(40))
    #expect(hub.core.authoritative.goal == goal)
  }

  @Test("after everything that was measured in it has been erased")
  func erased() {
    var hub = running()
    hub.passes(.seconds(10))
    presses(&hub, "watch", .stop)
    hub.passes(.seconds(10))
    let run = hub.core.authoritative.runID!
    _ = hub.feed(.inquire(.removeRecord(run), 1))
    hub.commitsAll()
    #expect(hub.core.ledger.goal == goal)
  }

  @Test("A ledger has the goal of the start that begins its run, in whatever order the entries come")
  func ledger() {
    let author = Author(source: .phone, deviceID: "phone", commandID: CommandID(high: 0, low: 1))
    func entry(_ kind: CommandKind, at second: Int64, _ position: UInt64, _ goal: RunGoal?) -> LedgerEntry {
      LedgerEntry(
        time: .zero + .seconds(second), position: position,
        event: .transition(Transition(kind: kind, revision: position, change: author, goal: goal)))
    }
    let entries = [entry(.pause, at: 20, 1, nil), entry(.start, at: 10, 2, goal), entry(.resume, at: 30, 3, nil)]
    #expect(RunLedger(entries: entries).goal == goal)
    var ledger = RunLedger()
    for entry in entries { ledger.insert(entry) }
    #expect(ledger.goal == goal)
    #expect(RunLedger().goal == nil)
  }
}
