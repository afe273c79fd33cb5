import RunBus
import RunScripts
import Testing

@testable import busnode

@Suite("Text for people")
struct TextTests {
  // Once broken: In a pause `busnode state` showed the same elapsed time for minutes, while `busnode top` went on,
  // because the text had the clocks of the last snapshot, and not those of the moment of the answer.
  @Test("In a pause the elapsed time of the text is that of now, not of the last snapshot")
  func clocks() {
    var snapshot = Snapshot.none
    snapshot.capturedAt = BusTime(nanoseconds: 5_000_000_000)
    (snapshot.metrics.elapsed, snapshot.metrics.active) = (.seconds(100), .seconds(80))
    func clocks(_ phase: RunPhase) -> [BusDuration] {
      snapshot.phase = phase
      let metrics = StateMessage(snapshot: snapshot, age: .seconds(240)).presentSnapshot.metrics
      return [metrics.elapsed, metrics.active]
    }
    #expect(clocks(.paused) == [.seconds(340), .seconds(80)])
    #expect(clocks(.running) == [.seconds(340), .seconds(320)])
    #expect(clocks(.completed) == [.seconds(100), .seconds(80)])
  }

  @Test("A goal stands beside the clock with what remains of it, which makes the goal with the seconds that are shown")
  func goal() {
    var snapshot = Snapshot.none
    (snapshot.phase, snapshot.metrics.elapsed) = (.running, .milliseconds(185_400))
    func lines() -> [String?] {
      [Sentence.snapshot(snapshot), Sentence.goal(snapshot.goal, remaining: snapshot.remaining)]
    }
    #expect(lines() == ["0.0.0 running 3:05 · active 0:00", nil])
    snapshot.goal = RunGoal(time: .seconds(1800))
    #expect(lines() == ["0.0.0 running 3:05 · active 0:00 · goal 30:00, 26:55 left", "30:00, 26:55 left"])
    snapshot.metrics.elapsed = .milliseconds(1_799_999)
    #expect(lines()[1] == "30:00, 0:01 left")
    snapshot.metrics.elapsed = .seconds(1800)
    #expect(lines()[1] == "30:00 reached")
    let table = MetricsText.table(snapshot.metrics, goal: lines()[1], in: .metric, isRunning: true)
    #expect(table.contains("goal            30:00 reached"))
    #expect(!MetricsText.table(snapshot.metrics, in: .metric, isRunning: true).contains { $0.hasPrefix("goal") })
    let start = Command.start(id: CommandID(high: 0, low: 1), goal: snapshot.goal, source: .watch)
    #expect(Sentence.event(.bus(.command(start, "watch"))) == "watch: start pressed on watch, goal 30:00")
  }

  // Once broken: A run without a title was "Run" in the shell and "Morning run" on the page, because each had a rule of
  // its own.
  @Test("A run without a title is named after the hour of its start, as on the page")
  func untitled() {
    func title(_ hour: Int, _ title: String = "", isConflicted: Bool = false) -> String? {
      let summary = RecordSummary(
        runID: RunID(high: 0, low: 1), version: 1, deviceID: "watch", hubDeviceID: "phone", appVersion: "1",
        startedAtUnixSeconds: Double(20_000 * 86_400 + (hour - 9) * 3600), elapsed: .seconds(1), active: .seconds(1),
        isConflicted: isConflicted, utcOffsetSeconds: 9 * 3600, title: title)
      let record = RunRecord(summary: summary, body: RecordBody(report: RunReport(metrics: RunMetrics())))
      return RecordText.lines(record, in: .metric, chart: nil, width: 80).first
    }
    for (hours, name) in [
      (0...4, "Night"), (5...10, "Morning"), (11...13, "Midday"), (14...17, "Afternoon"), (18...21, "Evening"),
      (22...23, "Night"),
    ] {
      for hour in hours { #expect(title(hour) == "\(name) run", "\(hour)") }
    }
    #expect(title(7, "River loop") == "River loop")
    #expect(title(7, isConflicted: true) == "Morning run (overlaps another run)")
  }

  // Once broken: A value that was 24 minutes old was shown as "1449 s old", because there was one sentence for all
  // ages.
  @Test("Ages are printed in units that people use")
  func ages() {
    let ages = [(0, "0 s"), (119, "119 s"), (1449, "24 min"), (7200, "2 h"), (200_000, "2 days")].map {
      (Sentence.old($0.0), $0.1)
    }
    for (said, expected) in ages { #expect(said == expected) }
  }

  @Test("The question of erase names the bus and what named it")
  func eraseQuestion() throws {
    func question(_ bus: String?, _ environment: [String: String]) throws -> String {
      Erase.question(try BusChoice(bus: bus, address: nil, environment: environment))
    }
    #expect(try question("garden", [:]).contains("bus \"garden\" (from --bus)"))
    #expect(try question(nil, ["RUNBUS_BUS": "garden"]).contains("bus \"garden\" (from RUNBUS_BUS)"))
    #expect(try question(nil, [:]).contains("bus \"default\" (from the default)"))
  }
}
