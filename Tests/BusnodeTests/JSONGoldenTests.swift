import Foundation
import RunBus
import RunRecordings
import RunScripts
import TestSupport
import Testing

@testable import busnode

/// What only `busnode` prints. The suite of the same name in RunBusTests has the JSON form of the library.
@Suite("JSON output does not change")
struct JSONGoldenTests {
  private static let run = RunID(high: 1, low: 2)
  private static let command = CommandID(high: 3, low: 4)

  /// Compares with a golden file. It is written by hand, and changing it breaks a promise.
  private func expect(_ name: String, _ values: [any Encodable], line: SourceLocation = #_sourceLocation) throws {
    let file = Checkout.root.appending(path: "Tests/BusnodeTests/Golden/\(name).json")
    let lines = values.map { Output.json($0) }.joined(separator: "\n")
    #expect(lines + "\n" == (try String(contentsOf: file, encoding: .utf8)), sourceLocation: line)
  }

  @Test("Lines of an outbox, of the spool and of the quarantine, and a peer")
  func outbox() throws {
    let device = DeviceID("watch")
    let report = OutboxReport(
      kind: .command, id: MessageID(high: 3, low: 4), what: "pause", receiver: DeviceID("phone"), age: .seconds(12),
      tries: 2, isAccepted: true)
    try expect("outbox-store", [OutboxJSON(report, of: device)])
    let spooled = SpooledCommand(
      command: Command(id: Self.command, kind: .pause, source: .shell), deviceID: device, pressedAt: .zero, bootID: "",
      wallSeconds: 0)
    try expect("outbox-spool", [OutboxJSON(spooled, age: .milliseconds(500))])
    let quarantined = QuarantineReport(
      id: MessageID(high: 3, low: 4), name: "note", bytes: 8, receiver: DeviceID("phone"), reason: "no room",
      age: .seconds(12))
    try expect("quarantine", [QuarantineJSON(quarantined, of: device)])
    let peer = PeerReport(
      deviceID: device, role: .watch, isReachable: true, heardAge: .milliseconds(1500), roundTrip: nil, waiting: 3,
      commandWatermark: 4)
    try expect("peer", [PeerJSON(peer)])
  }

  @Test("What was done to items and records, and sums of records")
  func acts() throws {
    let id = Self.command.description
    try expect(
      "acts",
      [
        OutboxActJSON(act: .cancelled, deviceId: "watch", id: id, newId: nil, message: "pause is cancelled"),
        RecordActJSON(act: .exported, runId: Self.run.description, file: "run.gpx", message: "it is written"),
        RecordActJSON(act: .unchanged, runId: Self.run.description, file: "run.gpx", message: "it is unchanged"),
      ])
    var runs = [Double](repeating: 1000, count: 2).map { meters in
      RecordSummary(
        runID: Self.run, version: 1, deviceID: "watch", hubDeviceID: "phone", appVersion: "",
        startedAtUnixSeconds: 0, elapsed: .milliseconds(310_250), active: .seconds(300), distanceMeters: meters)
    }
    runs[0].energyJoules = 500_000
    let sum = RecordSum(period: "2026-W47", runs)
    try expect("stats", [sum])
  }

  @Test("A processed message shows short text, or its length")
  func message() throws {
    let (phone, watch) = (DeviceID("phone"), DeviceID("watch"))
    func event(_ body: [UInt8]) -> EventJSON {
      EventJSON(AppMessage(id: MessageID(high: 3, low: 4), name: "note", body: body), from: watch, to: phone)
    }
    try expect(
      "message", [event(Array("hi \"you\"".utf8)), event([0xFF]), event([UInt8](repeating: 0x61, count: 1025))])
  }

  private static let nodeEvents: [EventJSON] = [
    .link(EventJSON.Link(reachable: true, roundTripSeconds: 0.0025)),
    .link(EventJSON.Link(reachable: false, roundTripSeconds: nil, refusal: "watch belongs to another user")),
    .view(EventJSON.View(stale: true, ageSeconds: nil, hubOffDuty: false)),
    .hubLost(
      EventJSON.Lost(runId: run, deviceId: DeviceID("phone"), silentSeconds: 600.25, term: 1, revision: 2, tick: 14)),
    .predicted(EventJSON.Predicted(phase: .paused)), .sensors(EventJSON.Demand(demand: .motion)),
    .record(EventJSON.Record(act: .removed, runId: run, record: nil)),
    .recordingEnded(EventJSON.RecordingEnded(runId: run, elapsedSeconds: 12.5)),
    .sensorsDone(EventJSON.Sensors(runId: run, samples: 300)),
  ]

  @Test("What a node tells of itself")
  func node() throws { try expect("node-events", Self.nodeEvents) }

  @Test("Every line of events has the time of day, and names its node in up")
  func lines() throws {
    let line = EventLineJSON(.predicted(EventJSON.Predicted(phase: .paused)))
    let own = try #require(JSONValue(text: Output.json(line))?.object)
    #expect(Set(own.keys) == ["at", "event", "phase"])
    #expect(own["at"]?.string.flatMap { DayTime.unixSeconds($0) } != nil)
    let told = try #require(JSONValue(text: Output.json(NodeEventJSON(node: .watch, line: line)))?.object)
    #expect(told == own.merging(["node": .string("watch")]) { $1 })
    let bus = try #require(
      JSONValue(text: Output.json(EventLineJSON(.bus(.snapshot(StateMessage(snapshot: .none, age: .zero)))))))
    #expect(bus["at"] != nil && bus["event"]?.string == "snapshot" && bus["tick"]?.int == 0)
  }

  @Test("The summary of up")
  func summary() throws {
    var agreement = Agreement()
    var snapshot = Snapshot.none
    snapshot.order = SnapshotOrder(term: 1, revision: 1, tick: 2)
    agreement.saw(snapshot, on: .phone)
    var summary = UpSummary(
      agreement, presses: 3, verdicts: UpSummary.Verdicts(), reconnects: [.watch: 2],
      faults: UpSummary.Faults(seed: 7, links: 1, kills: 2, sleeps: 0))
    #expect(DayTime.unixSeconds(summary.at) != nil)
    summary.at = "2026-11-21T16:06:25.250Z"
    try expect("summary", [summary])
  }

  @Test("A point of the route with its index, and a cut")
  func route() throws {
    let point = RoutePoint(
      offset: .seconds(13), position: Position(latitude: 48.5, longitude: 11.25), verdict: .inaccurate)
    try expect("route", [RouteLineJSON(runId: Self.run, index: 1, point: point)])
    try expect("route-cut", [RouteCutJSON(runId: Self.run, length: 1)])
  }

  @Test("state --splits has the report beside the snapshot, null before the first run")
  func report() throws {
    let report = RunReport(metrics: RunMetrics(lapCount: 3))
    let whole = JSONValue(text: Output.json(ReportedStateJSON(snapshot: .none, report: report)))
    #expect(whole?["report"] == JSONValue(text: Output.json(report)))
    #expect(whole?["metrics"] == JSONValue(text: Output.json(Snapshot.none))?["metrics"])
    let none = JSONValue(text: Output.json(ReportedStateJSON(snapshot: .none, report: nil)))
    #expect(none?["report"] == .null)
  }

  @Test("A sentence of the command replaces that of the receipt")
  func sentence() throws {
    let receipt = Receipt(commandID: Self.command, kind: .lap, source: .shell, stage: .queued)
    let told = try #require(
      JSONValue(text: Output.json(ReceiptLineJSON(receipt: receipt, message: "lap waits")))?.object)
    let usual = try #require(JSONValue(text: Output.json(receipt))?.object)
    #expect(told == usual.merging(["message": .string("lap waits")]) { $1 })
  }

  @Test("measure has the device's numbers and the differences beside the report, in SI units")
  func measured() throws {
    let recorded = RecordedJSON(
      distanceMeters: 990, activeSeconds: nil, averageHeartRateBpm: nil, maxHeartRateBpm: nil,
      averageCadenceStepsPerMinute: nil, elevationGainMeters: nil, elevationLossMeters: nil, energyJoules: 83_680,
      laps: [
        RecordedJSON.Lap(
          startedAtSeconds: 0, activeSeconds: 300, distanceMeters: 990, averageHeartRateBpm: nil, maxHeartRateBpm: nil)
      ])
    try expect("recorded", [recorded])
    var summary = RecordedSummary()
    summary.distanceMeters = 990
    summary.energyKilocalories = 20
    let metrics = RunMetrics(distanceMeters: 1000, energyJoules: 104_600)
    let run = MeasuredRun(report: RunReport(metrics: metrics), route: [], recorded: summary)
    try expect("differences", [DifferencesJSON(try #require(Comparison(run)))])
  }

  @Test("A stale value has its age while the run is on")
  func stale() throws {
    var snapshot = Snapshot.none
    snapshot.metrics = RunMetrics(
      elapsed: .seconds(100), active: .seconds(100), distanceMeters: 1609.344, heartRateBpm: 148,
      moments: MetricMoments(distance: .seconds(99), heartRate: .seconds(58)))
    snapshot.phase = .running
    let line = Sentence.snapshot(snapshot, in: .imperial)
    #expect(line == "0.0.0 running 1:40 · 1.00 mi · 148 bpm, 42 s old")
    let table = MetricsText.table(snapshot.metrics, in: .metric, isRunning: true)
    #expect(table.contains("heart rate      148 bpm, 42 s old") && table.contains("distance        1.60 km"))
    snapshot.phase = .paused
    #expect(Sentence.snapshot(snapshot).hasSuffix("· 148 bpm"))
  }

  @Test("A written event reads back the same")
  func roundTrip() throws {
    let phone = DeviceID("phone")
    let receipt = Receipt(commandID: Self.command, kind: .lap, source: .shell, stage: .pending)
    let message = MessageEvent(id: MessageID(high: 3, low: 4), name: "note", from: phone, to: phone, size: 2)
    let events: [EventJSON] =
      Self.nodeEvents + [
        .bus(.snapshot(StateMessage(snapshot: .none, age: .zero))), .bus(.receipt(receipt, phone)),
        .bus(.presence(Presence(deviceID: phone, role: .watch, isReachable: true))), .message(message, text: nil),
        .message(message, text: "hi"),
      ]
    for event in events {
      let line = EventLineJSON(event)
      #expect(EventLineJSON(line: Output.json(line)) == line)
    }
  }
}

@Suite("docs/json.md describes what busnode says about pairing and findings")
struct PairingDocumentTests {
  /// The keys of a type, also of those that are left out of some lines.
  private func keys(_ value: some Encodable) throws -> [String] {
    let object = try #require(JSONValue(text: Output.json(value))?.object)
    return object.keys.sorted()
  }

  @Test("Every key is in the page")
  func keys() throws {
    let key = try #require(KeyFingerprint([UInt8](repeating: 7, count: KeyFingerprint.byteCount)))
    var device = PairedDevice(
      key: key, deviceID: "watch", role: .watch, sources: [.watch], pairedAt: 0, isRevoked: false)
    device.formerNames = ["left"]
    device.nextKey = key
    var shown = ShownKeys(bus: "default", hub: nil, device: nil)
    (shown.busID, shown.hubKey, shown.nextHubKey, shown.deviceKey, shown.nextDeviceKey) = ("", "", "", "", "")
    (shown.device, shown.addresses) = ("watch", [])
    let step = PairStepJSON(step: "open", line: "", digits: "", device: "watch", key: "")
    let page = try String(contentsOfFile: Checkout.path("docs/json.md"), encoding: .utf8)
    let all = try keys(PairedDeviceJSON(device)) + keys(shown) + keys(step) + keys(Finding.ok("a", "b"))
    #expect(all.count == 24)
    for key in all where !page.contains("`\(key)`") { Issue.record("\(key)") }
  }
}
