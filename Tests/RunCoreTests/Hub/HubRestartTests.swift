import Testing

@testable import RunCore

@Suite("A hub restarts")
struct HubRestartTests {
  /// What the disk holds after kill -9.
  private func store(of hub: HubStage) -> HubDisk {
    var disk = HubDisk()
    disk.commit(hub.durable)
    return disk
  }

  @Test("The run continues with its revision under the next term, and the downtime is a gap")
  func running() {
    var first = HubStage.with("watch")
    first.startRun()
    first.passes(.seconds(10))
    let history = store(of: first).history
    var second = HubStage(history: history, now: .zero + .seconds(60))
    #expect(second.feed(.started) == ["commit: term 2, clock, shift 50.5s, gap of 50.5s at 9.5s"])
    #expect(second.commits() == ["show 2.1.1 running", "publish 2.1.1 running", "open"])
    #expect(second.core.authoritative.metrics.active == .milliseconds(9500))
    #expect(second.core.authoritative.metrics.elapsed == .seconds(60))
    #expect(second.core.deadline == .zero + .seconds(63))
    _ = second.hello("watch", nonce: 5)
    second.commitsAll()
    #expect(
      second.sends("watch", second.command(.pause, by: "watch", id: 77), sequence: 2) == [
        "commit: commands to 2, accept pause window"
      ])
  }

  @Test("A run keeps the weight and auto-pause setting that it was started with, whatever the next incarnation has")
  func setup() throws {
    var chosen = MetricsSettings()
    chosen.weightKilograms = 70
    chosen.isAutoPauseOn = true
    var first = HubStage.opened(debounce: .zero, metrics: chosen)
    _ = first.feed(.press(first.command(.start, by: "phone")))
    first.commitsAll()
    for second in 0..<60 {
      _ = first.feed(
        .sample(Sample(moment: .runOffset(.seconds(Int64(second))), value: .pedometer(meters: Double(second) * 3))))
      first.passes(.seconds(1))
    }
    _ = first.feed(.press(first.command(.stop, by: "phone")))
    first.commitsAll()
    let metrics = first.core.authoritative.metrics
    #expect(metrics.energyJoules != nil)
    var second = HubStage(history: store(of: first).history, now: .zero + .seconds(100))
    _ = second.feed(.started)
    _ = second.commits()
    #expect(second.core.authoritative.metrics == metrics)
  }

  @Test(
    "No press of a stream counts as made before its last one, whatever judged that one, also over a restart",
    arguments: [CommandKind.lap, .pause, .resume, .start], [0, 1, 2])
  func pressTimes(kind: CommandKind, restarts: Int) {
    var hub = HubStage.with("watch")
    var written: [StoreOperation] = []
    _ = hub.feed(.press(hub.command(.start, by: "phone")))
    hub.commitsAll()
    hub.passes(.seconds(100))
    // Judged late, 20 s after its press.
    _ = hub.sends("watch", hub.command(kind, by: "watch", id: 70), sequence: 1, age: .seconds(20))
    hub.commitsAll()
    hub.passes(.seconds(3))
    written += hub.durable
    for _ in 0..<restarts {
      var disk = HubDisk()
      disk.commit(written)
      hub = HubStage.opened(history: disk.history, now: hub.now)
      _ = hub.hello("watch", nonce: 5)
      hub.commitsAll()
      written += hub.durable
    }
    _ = hub.sends("watch", hub.command(.lap, by: "watch", id: 71), sequence: 2, age: .seconds(1200))
    hub.commitsAll()
    hub.passes(.seconds(3))
    let verdict = hub.core.commands.verdict(of: CommandID(high: 4, low: 71))
    #expect(verdict?.outcome == (kind == .lap ? .coalesced(into: CommandID(high: 4, low: 70)) : .applied))
    #expect(verdict?.effectiveAt == .zero + .seconds(80))
  }

  @Test("A crash right after a start costs the run no more than the time the hub was away")
  func crashAfterStart() {
    var first = HubStage.with("watch", debounce: .zero)
    first.now = .zero + .seconds(100)
    _ = first.presses("watch", .start)
    first.commitsAll()
    var second = HubStage(history: store(of: first).history, now: .zero + .seconds(101))
    #expect(second.feed(.started) == ["commit: term 2, clock, shift 1.0s, gap of 1.0s at 100.0s"])
  }

  @Test("An open window is rebuilt, and settles with the same verdicts")
  func window() {
    var first = HubStage.with("watch", "widget")
    _ = first.presses("watch", .start)
    first.now = .zero + .milliseconds(100)
    _ = first.presses("widget", .start)
    _ = first.presses("watch", .lap)
    first.commitsAll()
    let history = store(of: first).history
    #expect(history.accepted.count == 3)
    let expected = first.passes(.seconds(1)).filter { $0.contains("judge") }
    var second = HubStage(history: history, now: .zero + .seconds(5))
    let lines = second.feed(.started)
    func verdicts(_ lines: [String]) -> [String] {
      lines.flatMap { $0.split(separator: ", ").filter { $0.hasPrefix("judge") }.map(String.init) }
    }
    #expect(verdicts(lines) == ["judge start applied 1", "judge lap applied 1", "judge start coalesced 1"])
    #expect(verdicts(lines) == verdicts(expected))
  }

  @Test("A press whose verdict was kept is answered and not judged again")
  func verdicts() {
    var first = HubStage.with("watch")
    let start = first.command(.start, by: "watch")
    _ = first.sends("watch", start)
    first.commitsAll()
    first.passes(.seconds(1))
    var second = HubStage.opened(history: store(of: first).history, now: .zero + .seconds(5))
    #expect(second.hello("watch").first == "watch ← welcome 1, commands 1, 2.1.1 running")
    // The command is acknowledged; its verdict is owed on the hub's own stream.
    second.commitsAll()
    #expect(second.sends("watch", start, sequence: 1) == ["watch ← commands to 1"])
    // The same command by a plain request.
    let request = CommandRequest(command: start, deviceID: DeviceID("watch"), age: .zero)
    #expect(second.asks("script", .command(request), isPlain: true) == ["commit: "])
    #expect(second.commits() == ["script ← start applied 1"])
  }

  @Test("Verdicts are kept for two days, whether or not anything is published")
  func forgetting() {
    var hub = HubStage.with("watch")
    _ = hub.presses("watch", .pause)
    hub.commitsAll()
    hub.passes(.seconds(1))
    hub.now = hub.now + .seconds(3 * 86_400)
    _ = hub.hello("watch", nonce: 2)
    _ = hub.presses("watch", .pause)
    hub.commitsAll()
    #expect(hub.passes(.seconds(1)).contains { $0.contains("judge pause illegal while idle 0, forget") })
    // A command below the watermark is only acknowledged, however old it is.
    #expect(hub.sends("watch", hub.command(.pause, by: "watch", id: 1001), sequence: 1) == ["watch ← commands to 2"])
  }
}
