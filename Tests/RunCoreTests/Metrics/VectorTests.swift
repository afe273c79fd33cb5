import Foundation
import RunCore
import Testing
import TestSupport

/// The files of Tests/Vectors; the README there explains the keys.
enum Vectors {
  static let folder = Checkout.root.appending(path: "Tests/Vectors")

  static let runs: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("runs").path)) ?? []
    return names.filter { $0.hasSuffix(".json") }.sorted()
  }()

  static func read(_ name: String) throws -> JSONValue {
    let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    return try #require(JSONValue(text: text), "\(name) is no JSON")
  }
}

@Suite("Test vectors")
struct VectorTests {
  @Test("Geodesics are as long as geographiclib says")
  func geodesics() throws {
    let pairs = try #require(try Vectors.read("geodesic.json")["pairs"]?.array)
    #expect(pairs.count > 40)
    for pair in pairs {
      let from = pair["from"].numbers
      let to = pair["to"].numbers
      let expected = try #require(pair["meters"]?.number)
      let meters = Geodesic.distanceMeters(
        fromLatitude: from[0], longitude: from[1], toLatitude: to[0], longitude: to[1])
      #expect(abs(meters - expected) < (expected < 1000 ? 1e-6 : 1e-4), "\(from) to \(to)")
    }
  }

  @Test("All of them are there")
  func complete() { #expect(Vectors.runs.count >= 38) }

  @Test("A run has the expected numbers", arguments: Vectors.runs)
  func run(name: String) throws {
    let told = try ToldRun(try Vectors.read("runs/\(name)"))
    #expect(!told.checks.isEmpty)
    for check in told.checks {
      let at = try #require(check["at"]?.number)
      let ledger = told.ledger(upTo: at)
      try CheckedRun(ledger, at: told.time(at), name: "\(name) at \(at) s").meets(check)
    }
  }

  @Test("The numbers are exactly the same in whatever order entries arrive", arguments: Vectors.runs)
  func shuffled(name: String) throws {
    let told = try ToldRun(try Vectors.read("runs/\(name)"))
    let end = told.entries.map(\.time).max() ?? .zero
    var whole = RunLedger(settings: told.settings)
    whole.insert(contentsOf: told.entries.sorted(by: LedgerEntry.precedes))
    for seed in 1...3 as ClosedRange<UInt64> {
      var ledger = RunLedger(settings: told.settings)
      var random = SeededGenerator(seed: seed)
      let entries = told.entries.shuffled(using: &random)
      ledger.insert(contentsOf: entries)
      ledger.foldAll()
      for ledger in [ledger, RunLedger(settings: told.settings, entries: entries)] {
        // Compared outside `#expect`, because a failure would print both in full.
        let (isSameReport, isSameRoute) = (ledger.report(at: end) == whole.report(at: end), ledger.route == whole.route)
        #expect(isSameReport, "seed \(seed)")
        #expect(isSameRoute, "seed \(seed)")
      }
    }
  }
}

extension Optional<JSONValue> {
  /// The numbers of an array; none when it is something else.
  fileprivate var numbers: [Double] { self?.array?.compactMap(\.number) ?? [] }
}

/// A run as a vector describes it.
private struct ToldRun {
  var settings = MetricsSettings()
  var entries: [LedgerEntry] = []
  var checks: [JSONValue]

  /// A moment on the hub's clock, away from zero.
  func time(_ seconds: Double) -> BusTime { BusTime(nanoseconds: 7_000_000_000) + BusDuration(seconds: seconds) }

  init(_ value: JSONValue) throws {
    checks = try #require(value["checks"]?.array)
    settings.weightKilograms = value["settings"]?["weightKilograms"]?.number
    settings.isAutoPauseOn = value["settings"]?["autoPause"]?.bool ?? false
    settings.usesPedometer = value["settings"]?["pedometer"]?.bool ?? true
    for (index, entry) in try #require(value["entries"]?.array).enumerated() {
      let seconds = try #require(entry["t"]?.number)
      let event = try #require(Self.event(entry), "\(entry)")
      entries.append(LedgerEntry(time: time(seconds), position: UInt64(index), event: event))
    }
  }

  func ledger(upTo seconds: Double) -> RunLedger {
    var ledger = RunLedger(settings: settings)
    ledger.insert(contentsOf: entries.filter { $0.time <= time(seconds) }.sorted(by: LedgerEntry.precedes))
    return ledger
  }

  private static func event(_ entry: JSONValue) -> LedgerEvent? {
    let change = Author(
      source: .phone, deviceID: LedgerBuilder.device("phone"), commandID: CommandID(high: 0, low: 1))
    if let kind = entry["transition"]?.string.flatMap({ CommandKind(rawValue: $0) }) {
      return .transition(Transition(kind: kind, revision: 0, change: change))
    }
    if entry["lap"]?.bool == true { return .lap(change) }
    if let seconds = entry["gap"]?.number { return .gap(BusDuration(seconds: seconds)) }
    return value(entry).map { .sample($0, LedgerBuilder.device(entry["device"]?.string ?? "phone")) }
  }

  private static func value(_ entry: JSONValue) -> SampleValue? {
    let position = entry["position"].numbers
    if position.count >= 2 {
      return .position(
        Position(
          latitude: position[0], longitude: position[1],
          horizontalAccuracyMeters: position.count > 2 ? position[2] : nil))
    }
    if let meters = entry["altitude"]?.number {
      return entry["source"]?.string.flatMap { AltitudeSource(rawValue: $0) }.map { .altitude(meters: meters, $0) }
    }
    if let bpm = entry["heartRate"]?.number { return .heartRate(bpm: bpm) }
    if let steps = entry["cadence"]?.number { return .cadence(stepsPerMinute: steps) }
    if let meters = entry["pedometer"]?.number { return .pedometer(meters: meters) }
    return entry["motion"]?.string.flatMap { MotionActivity(rawValue: $0) }.map { .motion($0) }
  }
}

/// The report of a run at a moment, by the names that vectors use.
private struct CheckedRun {
  let name: String
  let report: RunReport
  let route: [RoutePoint]

  init(_ ledger: RunLedger, at time: BusTime, name: String) {
    self.name = name
    report = ledger.report(at: time)
    route = ledger.route
    // Two ways of computing must give the same numbers.
    let isSame = report.metrics == ledger.metrics(at: time)
    #expect(isSame, "\(name)")
  }

  func meets(_ check: JSONValue) throws {
    let metrics = Self.values(report.metrics)
    for (key, expected) in try #require(check["expected"]?.object) {
      let actual = try #require(metrics[key], "\(name): \(key) is no metric")
      compare(actual, expected, key)
    }
    if let verdicts = check["verdicts"]?.object {
      let counts = Dictionary(route.map { ($0.verdict.rawValue, 1.0) }, uniquingKeysWith: +)
      #expect(counts.mapValues { JSONValue.number($0) } == verdicts, "\(name): verdicts")
    }
    if let splits = check["splits"]?.object {
      compare(report.kilometers.map(Self.values), splits["kilometers"], "kilometers")
      compare(report.miles.map(Self.values), splits["miles"], "miles")
      compare(report.laps.map(Self.values), splits["laps"], "laps")
    }
    if check["stretches"] != nil { compare(report.stretches.map(Self.values), check["stretches"], "stretches") }
  }

  private func compare(_ actual: [[String: JSONValue]], _ expected: JSONValue?, _ what: String) {
    guard let expected = expected?.array else { return }
    #expect(actual.count == expected.count, "\(name): \(what) \(actual)")
    for (index, pair) in zip(actual, expected).enumerated() {
      for (key, value) in pair.1.object ?? [:] {
        compare(pair.0[key] ?? .string("no such key"), value, "\(what) \(index + 1) \(key)")
      }
    }
  }

  private func compare(_ actual: JSONValue, _ expected: JSONValue, _ what: String) {
    let pair = Optional(expected).numbers
    guard pair.count == 2 else {
      #expect(actual == expected, "\(name): \(what)")
      return
    }
    let number = actual.number ?? .nan
    // A tolerance of zero allows for rounding of the last digits.
    #expect(
      abs(number - pair[0]) <= max(pair[1], 1e-9 * abs(pair[0])),
      "\(name): \(what) is \(actual), expected \(pair[0]) within \(pair[1])")
  }

  private static func number(_ value: Double?) -> JSONValue { value.map { .number($0) } ?? .null }

  private static func values(_ metrics: RunMetrics) -> [String: JSONValue] {
    [
      "elapsedSeconds": number(metrics.elapsed.seconds),
      "activeSeconds": number(metrics.active.seconds),
      "distanceMeters": number(metrics.distanceMeters),
      "pedometerMeters": number(metrics.pedometerMeters),
      "currentPaceSecondsPerKilometer": number(metrics.currentPaceSecondsPerKilometer),
      "averagePaceSecondsPerKilometer": number(metrics.averagePaceSecondsPerKilometer),
      "bestPaceSecondsPerKilometer": number(metrics.bestPaceSecondsPerKilometer),
      "worstPaceSecondsPerKilometer": number(metrics.worstPaceSecondsPerKilometer),
      "heartRateBpm": number(metrics.heartRateBpm),
      "averageHeartRateBpm": number(metrics.averageHeartRateBpm),
      "maxHeartRateBpm": number(metrics.maxHeartRateBpm),
      "cadenceStepsPerMinute": number(metrics.cadenceStepsPerMinute),
      "averageCadenceStepsPerMinute": number(metrics.averageCadenceStepsPerMinute),
      "altitudeMeters": number(metrics.altitudeMeters),
      "elevationGainMeters": number(metrics.elevationGainMeters),
      "elevationLossMeters": number(metrics.elevationLossMeters),
      "energyJoules": number(metrics.energyJoules),
      "positionAccuracyMeters": number(metrics.positionAccuracyMeters),
      "activity": .string(metrics.activity.rawValue),
      "isActivityInferred": .bool(metrics.isActivityInferred),
      "isAutoPaused": .bool(metrics.isAutoPaused),
      "lapCount": .number(Double(metrics.lapCount)),
      "isDistanceStale": .bool(metrics.isStale(.distance)),
    ]
  }

  private static func values(_ split: Split) -> [String: JSONValue] {
    [
      "number": .number(Double(split.number)),
      "distanceMeters": number(split.distanceMeters),
      "activeSeconds": number(split.active.seconds),
      "startedAtSeconds": number(split.startedAt.seconds),
      "endedAtSeconds": number(split.endedAt.seconds),
      "averageHeartRateBpm": number(split.averageHeartRateBpm),
      "elevationGainMeters": number(split.elevationGainMeters),
      "elevationLossMeters": number(split.elevationLossMeters),
      "isComplete": .bool(split.isComplete),
    ]
  }

  private static func values(_ stretch: DistanceStretch) -> [String: JSONValue] {
    [
      "source": .string(stretch.source.rawValue),
      "startedAtSeconds": number(stretch.startedAt.seconds),
      "endedAtSeconds": number(stretch.endedAt.seconds),
      "distanceMeters": number(stretch.meters),
    ]
  }
}
