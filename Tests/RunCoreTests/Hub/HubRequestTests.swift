@testable import RunCore
import Testing

@Suite("Requests without a session")
struct HubRequestTests {
  @Test("A DEALER gets pending, then the verdict with the phase, and leaves nothing else")
  func stages() {
    var hub = HubStage.opened()
    let start = hub.command(.start, by: "shell")
    #expect(hub.shell("shell", start) == ["commit: accept start window"])
    #expect(hub.commits() == ["publish shell: start", "shell ← start pending", "publish shell: start pending"])
    // Asked again, it is told the stage again and does not count again.
    #expect(hub.shell("shell", start) == ["commit: "])
    #expect(hub.commits() == ["shell ← start pending"])
    let told = hub.passes(.milliseconds(500))
    #expect(told.filter { $0.hasPrefix("shell") } == ["shell ← start applied 1"])
    #expect(hub.shell("shell", start) == ["commit: "])
    let again = hub.finish()
    #expect(HubStage.phases(again) == [.running])
    #expect(hub.asks("script", .inquiry(.peers)) == ["script ← answer "])
    #expect(!hub.passes(.seconds(100)).contains { $0.contains("gone") })
  }

  @Test("The verdict tells the phase of the run, to a REQ as well")
  func phase() {
    var hub = HubStage.with("watch")
    hub.startRun()
    _ = hub.requests("script", .pause, id: 7)
    hub.commitsAll()
    hub.now = hub.now + .milliseconds(500)
    _ = hub.feed(.deadline)
    let told = hub.finish()
    #expect(HubStage.phases(told) == [.paused])
  }

  @Test("A request of another version is refused, whatever it asks for")
  func versions() {
    var hub = HubStage.opened()
    let start = CommandRequest(command: hub.command(.start, by: "shell"), deviceID: DeviceID("shell"), age: .zero)
    for subject in [Request.Subject.command(start), .state, .inquiry(.peers)] {
      #expect(hub.asks("shell", subject, version: wireVersion + 1) == ["shell ← refused versionMismatch"])
      #expect(hub.asks("shell", subject, version: 0, isPlain: true) == ["shell ← refused versionMismatch"])
    }
    #expect(hub.passes(.seconds(10)) == [])
  }

  @Test("The state and inquiries are answered without a session, on a REQ too")
  func questions() {
    var hub = HubStage.with("watch")
    hub.startRun()
    for isPlain in [true, false] {
      #expect(hub.asks("shell", .state, isPlain: isPlain) == ["shell ← state 1.1.2 running"])
      #expect(hub.asks("shell", .inquiry(.peers), isPlain: isPlain) == ["shell ← answer watch"])
      #expect(hub.asks("shell", .inquiry(.cancel(MessageID(high: 7, low: 1))), isPlain: isPlain).count == 1)
    }
  }

  // MARK: Press times

  @Test("On the hub's machine the clock tells when it was pressed, however long the frame waited")
  func machineTime() {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.now = .zero + .seconds(100)
    let pressed = MachineTime(bootID: hub.bootID, reading: .zero + .seconds(40))
    // The age was right when the frame was sent, 20 s ago.
    _ = hub.shell("shell", hub.command(.pause, by: "shell"), age: .seconds(40), pressed: pressed)
    hub.commitsAll()
    #expect(hub.pressTimes == [.zero, .zero + .seconds(40)])
  }

  @Test("In another boot the age counts, and no press is in the future")
  func otherMachine() {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.now = .zero + .seconds(100)
    let other = MachineTime(bootID: "another boot", reading: .zero + .seconds(40))
    _ = hub.shell("shell", hub.command(.lap, by: "shell"), age: .seconds(2), pressed: other)
    let future = MachineTime(bootID: hub.bootID, reading: .zero + .seconds(4000))
    _ = hub.shell("shell", hub.command(.lap, by: "shell"), age: .seconds(5), pressed: future)
    hub.commitsAll()
    hub.passes(.seconds(2))
    #expect(Set(hub.pressTimes) == [.zero, .zero + .seconds(98), .zero + .seconds(100)])
  }

  // MARK: Bounds

  @Test("While the disk stands still, a connection is owed 16 answers, and further requests are refused")
  func owed() {
    var hub = HubStage.with("watch")
    hub.startRun()
    let known = hub.command(.pause, by: "shell", id: 5)
    _ = hub.shell("shell", known)
    let asked = (0..<1000).map { _ in hub.asks("shell", .inquiry(.report)) }
    #expect(asked.count { $0 == ["shell ← refused busy"] } == 1000 - OwedAnswers.connectionMax)
    #expect(hub.shell("shell", known) == ["note", "shell ← refused busy"])
    // Others are answered.
    #expect(hub.says("watch", .beat(1)) == ["watch ← pong 1 at 1.1.2"])
    #expect(hub.asks("other", .inquiry(.report)) == [])
    #expect(hub.sends("watch", hub.command(.lap, by: "watch")) == [])
    let told = hub.commitsAll()
    #expect(told.count { $0.hasPrefix("shell ← answer") } == OwedAnswers.connectionMax)
    #expect(told.contains { $0.hasPrefix("other ← ") })
    // Once it is paid, it may ask again.
    #expect(hub.shell("shell", known) == ["commit: "])
  }

  // Once broken: A hub refused the requests of an honest peer as busy ("16 answers wait for a commit"), although the
  // peer had four commands in its spool (world 32,847 of one hour), because the peer repeats a request until it is
  // answered.
  @Test("Copies of a request that arrive together while the disk writes get one answer, and none is refused")
  func copies() {
    var hub = HubStage.with("watch")
    hub.startRun()
    let presses = [1, 2, 3].map { hub.command(.lap, by: "shell", id: $0) }
    _ = presses.map { hub.shell("shell", $0) }
    // A link that stood still hands over 30 repetitions of each in one millisecond.
    for _ in 0..<30 { for press in presses { #expect(hub.shell("shell", press) == []) } }
    let told = hub.commitsAll().filter { $0.hasPrefix("shell ←") }
    // Pending when it is accepted, and once more for all the copies.
    #expect(told.filter { $0 == "shell ← lap pending" }.count == 6, "\(told)")
    // Each command has its one verdict; laps of one moment coalesce.
    let verdicts = hub.passes(.seconds(1)).filter { $0.hasPrefix("shell ← lap") }
    #expect(verdicts.count == 3 && verdicts.contains("shell ← lap applied 1"), "\(verdicts)")
    // The answers are paid: a later copy is answered with the verdict.
    #expect(hub.shell("shell", presses[0]) == ["commit: "])
    #expect(hub.commits() == ["shell ← lap applied 1"])
  }

  @Test("All connections together are owed a bounded number of answers")
  func owedByAll() {
    var hub = HubStage.opened()
    let start = hub.command(.start, by: "shell", id: 5)
    _ = hub.shell("shell", start)
    for number in 0..<1000 { for _ in 0..<4 { _ = hub.asks("shell\(number)", .inquiry(.report)) } }
    let holding = hub.core.holdings.first { $0.name == "answers to requests that wait for a commit" }
    #expect(holding?.count == OwedAnswers.totalMax && holding?.max == OwedAnswers.totalMax)
    hub.commitsAll()
    #expect(hub.core.holdings.first { $0.name == holding?.name }?.count == 0)
  }

  @Test("A refused command leaves no trace, whatever its origin")
  func refused() {
    var hub = HubStage.with("watch")
    // 256 commands of one name are the most.
    for number in 0..<256 { _ = hub.shell("shell", hub.command(.lap, by: "shell", id: 2000 + UInt64(number))) }
    hub.commitsAll()
    let one = hub.command(.lap, by: "shell", id: 5)
    #expect(hub.shell("shell", one) == ["note", "shell ← refused busy"])
    #expect(hub.requests("shell", .lap, id: 5) == ["shell ← refused busy"])
    let spooled = ForwardedCommand(command: one, deviceID: DeviceID("shell"), since: hub.now, isUncertain: false)
    #expect(hub.feed(.spooled([spooled])) == [])
    hub.passes(.seconds(1))
    #expect(!hub.isDurable(one.id))
    // Its connections wait for nothing: brought again, it is told once to each.
    #expect(hub.feed(.spooled([spooled])) == ["commit: judge lap illegal while idle 0"])
    #expect(!hub.passes(.seconds(1)).contains { $0.hasPrefix("shell ←") })
  }
}

extension HubRequestTests {
  // Once broken: A request whose command id was the id of a watch's store moved the watch's next press to the time of
  // that request after a restart of the hub.
  @Test("A request whose id is that of a store is no press of that store, also after a restart")
  func borrowedID() {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.now = .zero + .seconds(100)
    for store in [HubStage.storeID, HubStage.store("watch")] {
      let lap = Command(id: CommandID(high: store.high, low: store.low), kind: .lap, source: .shell)
      let lines = hub.shell("shell", lap) + hub.commitsAll() + hub.passes(.seconds(1)) + hub.commitsAll()
      // The shell is told, and nobody else: not the hub's app, not the watch.
      #expect(lines.contains("shell ← lap applied 1"))
      #expect(!lines.contains { $0.hasPrefix("watch") || $0.hasPrefix("own") }, "\(lines)")
    }
    var disk = HubDisk()
    disk.commit(hub.durable)
    #expect(disk.history.delivery.rows.isEmpty)
    // The watch pressed before the shell did, and its press keeps its age.
    var next = HubStage.opened(history: disk.history, now: hub.now)
    _ = next.hello("watch", nonce: 2)
    next.commitsAll()
    let pressed = next.now - .seconds(60)
    _ = next.sends("watch", next.command(.lap, by: "watch", id: 7), sequence: 2, age: .seconds(60))
    next.commitsAll()
    #expect(next.pressTimes == [pressed])
  }
}

extension HubStage {
  /// The press times of the judged commands, in the order of judgement.
  fileprivate var pressTimes: [BusTime] {
    durable.compactMap { if case .judge(_, let press, _) = $0 { press.pressedAt } else { nil } }
  }

  /// Whether a command was stored.
  fileprivate func isDurable(_ id: CommandID) -> Bool {
    durable.contains { if case .accept(let press, _) = $0 { press.command.id == id } else { false } }
  }

  /// Makes the commit in flight durable and returns the actions.
  fileprivate mutating func finish() -> [HubCore.Action] { takeInFlight().map { act(.committed($0)) } ?? [] }

  /// The phases that receipts to connections tell.
  fileprivate static func phases(_ actions: [HubCore.Action]) -> [RunPhase] {
    actions.compactMap { action in
      guard case .send(let frame, _) = action, case .receipt(let receipt) = frame.message else { return nil }
      return receipt.phase
    }
  }
}
