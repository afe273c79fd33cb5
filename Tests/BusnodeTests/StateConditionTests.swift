import Foundation
import RunBus
import RunScripts
import Testing

@Suite("A condition on the state")
struct StateConditionTests {
  private static let paused: Snapshot = {
    var metrics = RunMetrics()
    metrics.elapsed = .seconds(330)
    metrics.active = .seconds(300)
    metrics.distanceMeters = 1200
    metrics.averagePaceSecondsPerKilometer = 275
    metrics.altitudeMeters = -2.5
    metrics.lapCount = 2
    return Snapshot(
      order: SnapshotOrder(term: 1, revision: 4, tick: 9), phase: .paused, runID: RunID(high: 1, low: 2),
      changedBy: Author(source: .watch, deviceID: DeviceID("watch"), commandID: CommandID(high: 3, low: 4)),
      startedAt: .zero, capturedAt: .zero + .seconds(330), metrics: metrics)
  }()

  @Test(
    "holds by any field, with units that fit it",
    arguments: [
      "phase == paused", "phase==paused", "phase != running && revision >= 4", "distance > 1 km",
      "metrics.distanceMeters == 1200", "distance < 0.8 mi", "distance >= 1.2km && distance <= 1200 m",
      "elapsed == 5m30s", "elapsed > 5:29", "activeSeconds == 300", "elapsedSeconds < 331", "averagePace < 4:36",
      "averagePace < 4:36 min/km", "averagePace <= 4.6 min/km", "averagePace > 7:20 min/mi", "altitude < -2 m",
      "lapCount == 2", "recovering == false", "changedBy.source == watch", "changedBy.deviceId == 'watch'",
      "phase == \"paused\"", "heartRate == null", "goal == null && runId != null", "changedBy != null",
      "runId == 00000000000000010000000000000002", "term == 1 && tick < 10", "stale != heartRate",
      "startedAt == 0", "capturedAtBusNanoseconds == 330000000000", "autoPaused != true", "activity == unknown",
    ])
  func holds(text: String) throws {
    let condition = try StateCondition(text)
    #expect(condition.holds(in: Self.paused))
    #expect(condition.unmet(in: Self.paused) == nil)
  }

  @Test(
    "that does not hold says what is instead",
    arguments: [
      ("phase == running", "phase is paused"), ("phase == paused && distance > 2 km", "metrics.distanceMeters is 1200"),
      ("heartRate > 100", "metrics.heartRateBpm is not known"),
      ("heartRate != 100 bpm", "metrics.heartRateBpm is not known"),
      ("revision > 4", "revision is 4"), ("stale == heartRate", "metrics.stale is empty"),
      ("changedBy == null", "changedBy is known"), ("recovering == true", "recovering is false"),
      ("altitude > 0", "metrics.altitudeMeters is -2.5"), ("goal > 1m", "goalSeconds is not known"),
    ])
  func unmet(text: String, what: String) throws {
    let condition = try StateCondition(text)
    #expect(!condition.holds(in: Self.paused))
    #expect(condition.unmet(in: Self.paused) == what)
  }

  @Test(
    "that is none is refused with what is wrong",
    arguments: [
      ("", "an empty part is no comparison"), ("phase == paused &&", "an empty part is no comparison"),
      ("paused", "'paused' is no comparison"), ("phase ==", "'phase ==' is no comparison"),
      ("phase = paused", "'=' is none of the comparisons == != < <= > >="),
      ("phase === paused", "'===' is none of the comparisons"), ("phase =< paused", "'=<' is none of the comparisons"),
      ("phase == paused || lapCount > 2", "joined by && alone"),
      ("phas == paused", "the state has no field 'phas': did you mean phase?"),
      ("metrics.distanceMeter > 1", "did you mean metrics.distanceMeters?"), ("Phase == paused", "did you mean phase?"),
      ("distnace > 1 km", "did you mean distance?"), ("speed > 3", "the state has no field 'speed' ("),
      ("phase == resting", "give one of idle, running, paused, completed, unknown"),
      ("phase > paused", "phase has no order: compare it by == or !="), ("heartRate < null", "null has no order"),
      ("distance > 5 s", "'5 s' does not fit metrics.distanceMeters: give a length"),
      ("elapsed > 5 km", "'5 km' does not fit metrics.elapsedSeconds: give a time"),
      ("heartRate > fast", "give a heart rate"), ("averagePace < 5:30 min/h", "give a pace"),
      ("averagePace < 6/km", "give a pace"), ("averagePace < 5 km", "give a pace"), ("distance > 1e3", "give a length"),
      ("revision > 1.5", "give a whole number"), ("recovering == yes", "give true or false"),
      ("metrics == 5", "it is an object; compare one of its fields (metrics.elapsedSeconds, metrics.activeSeconds, …)"),
      ("stale == pace", "give one of distance, position"), ("distance > nan", "give a length"),
    ])
  func refused(text: String, what: String) {
    let error = #expect(throws: TextError.self) { try StateCondition(text) }
    #expect(error?.message.contains(what) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("\n") == false)
  }

  @Test("can name every key that the state has, and no other")
  func everyKey() throws {
    var full = Self.paused
    full.metrics.heartRateBpm = 150
    var paths: Set<String> = []
    func walk(_ value: StateValue, _ path: String) {
      if !path.isEmpty { paths.insert(path) }
      guard case .object(let members) = value else { return }
      for (name, member) in members { walk(member, path.isEmpty ? name : "\(path).\(name)") }
    }
    walk(StateValue(full), "")
    #expect(Set(StateField.all.map(\.path)) == paths)
    #expect(Set(StateField.all.map(\.shortName)).count == StateField.all.count)
    for field in StateField.all {
      let (byPath, byName) = (try StateField(field.path), try StateField(field.shortName))
      #expect(byPath == field && byName == field)
    }
  }

  @Test("reads a field as the JSON states it")
  func values() throws {
    let cases: [(String, StateValue)] = [
      ("phase", .text("paused")), ("revision", .whole(4)), ("distance", .whole(1200)), ("altitude", .number(-2.5)),
      ("heartRate", .null), ("recovering", .boolean(false)), ("stale", .list([])), ("changedBy.source", .text("watch")),
    ]
    for (name, value) in cases {
      let found = try StateField(name).value(in: Self.paused)
      #expect(found == value, "\(name)")
    }
    let none = try StateField("changedBy.source").value(in: .none)
    #expect(none == .null)
  }
}
