import Foundation
import RunBus
import TestSupport
import Testing

@testable import busnode

@Suite("JSON output does not change")
struct JSONGoldenTests {
  private static let run = RunID(high: 1, low: 2)
  private static let command = CommandID(high: 3, low: 4)

  /// The text of a golden file. It is written by hand, and changing it breaks a promise.
  private func golden(_ name: String) throws -> String {
    let folder = Checkout.root.appending(path: "Tests/Processes/Golden")
    let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    return text.split(separator: "\n").joined()
  }

  @Test("A snapshot with every field")
  func fullSnapshot() throws {
    let moments = MetricMoments(
      distance: .seconds(185), position: .seconds(185), heartRate: .milliseconds(143_250), cadence: .seconds(180),
      elevation: nil, activity: .zero)
    let metrics = RunMetrics(
      elapsed: .milliseconds(185_250), active: .seconds(180), distanceMeters: 520.5, pedometerMeters: 20.5,
      currentPaceSecondsPerKilometer: 341.25, averagePaceSecondsPerKilometer: 345.5,
      bestPaceSecondsPerKilometer: 330, worstPaceSecondsPerKilometer: 361.5, heartRateBpm: 148,
      averageHeartRateBpm: 140.5, maxHeartRateBpm: 160, cadenceStepsPerMinute: 172,
      averageCadenceStepsPerMinute: 170.25, altitudeMeters: 101.5, elevationGainMeters: 12.5, elevationLossMeters: 3,
      energyJoules: 83_680, positionAccuracyMeters: 4.5, activity: .running, isActivityInferred: true,
      isAutoPaused: true, lapCount: 2, moments: moments)
    let device = DeviceID("watch")
    let snapshot = Snapshot(
      order: SnapshotOrder(term: 1, revision: 2, tick: 14), phase: .paused, runID: Self.run,
      changedBy: Author(source: .watch, deviceID: device, commandID: Self.command), startedAt: .zero,
      capturedAt: .zero, metrics: metrics)
    #expect(Output.json(SnapshotJSON(snapshot)) == (try golden("snapshot.json")))
  }

  @Test("A snapshot before any run has null for unknown values")
  func emptySnapshot() throws { #expect(Output.json(SnapshotJSON(.none)) == (try golden("snapshot-none.json"))) }

  @Test("A number that JSON cannot represent is missing, not an error")
  func infinity() {
    var snapshot = Snapshot.none
    snapshot.metrics.heartRateBpm = .infinity
    #expect(Output.json(SnapshotJSON(snapshot)) == Output.json(SnapshotJSON(.none)))
  }

  @Test("A receipt at each stage")
  func receipts() throws {
    func receipt(_ stage: ReceiptStage, age: BusDuration? = nil) -> String {
      Output.json(
        ReceiptJSON(
          Receipt(commandID: Self.command, kind: .pause, source: .liveActivity, stage: stage, effectiveAge: age)))
    }
    func verdict(_ outcome: Outcome) -> ReceiptStage {
      .verdict(
        Verdict(
          commandID: Self.command, kind: .pause, source: .liveActivity, outcome: outcome, runID: Self.run, term: 1,
          revision: 2, effectiveAt: nil))
    }
    let other = CommandID(high: 5, low: 6)
    #expect(receipt(.pending) == (try golden("receipt-pending.json")))
    #expect(receipt(verdict(.applied), age: .milliseconds(500)) == (try golden("receipt-applied.json")))
    #expect(receipt(verdict(.coalesced(into: other))) == (try golden("receipt-coalesced.json")))
    #expect(receipt(verdict(.superseded(by: other))) == (try golden("receipt-superseded.json")))
    #expect(receipt(verdict(.rejected(.illegal(.completed)))) == (try golden("receipt-rejected.json")))
  }

  @Test("Lines of an outbox and of the spool, and a peer")
  func outbox() throws {
    let device = DeviceID("watch")
    let report = OutboxReport(
      kind: .command, id: MessageID(high: 3, low: 4), what: "pause", receiver: DeviceID("phone"), age: .seconds(12),
      tries: 2, isAccepted: true)
    #expect(Output.json(OutboxJSON(report, of: device)) == (try golden("outbox-store.json")))
    let spooled = SpooledCommand(
      command: Command(id: Self.command, kind: .pause, source: .shell), deviceID: device, pressedAt: .zero, bootID: "",
      wallSeconds: 0)
    #expect(Output.json(OutboxJSON(spooled, age: .milliseconds(500))) == (try golden("outbox-spool.json")))
    let peer = PeerReport(
      deviceID: device, role: .watch, isReachable: true, heardAge: .milliseconds(1500), roundTrip: nil, waiting: 3,
      commandWatermark: 4)
    #expect(Output.json(PeerJSON(peer)) == (try golden("peer.json")))
  }

  @Test("A processed message shows short text, or its length")
  func message() throws {
    let (phone, watch) = (DeviceID("phone"), DeviceID("watch"))
    func line(_ body: [UInt8]) -> String {
      let message = AppMessage(id: MessageID(high: 3, low: 4), name: "note", body: body)
      return Output.json(
        EventJSON.message(EventJSON.Message(MessageEvent(message, from: watch, to: phone), body: message.body)))
    }
    let lines = [line(Array("hi \"you\"".utf8)), line([0xFF]), line([UInt8](repeating: 0x61, count: 1025))]
    #expect(lines.joined() == (try golden("message.json")))
  }

  @Test("A point of the route that counts, and one that does not")
  func route() throws {
    let points = [
      RoutePoint(
        offset: .milliseconds(12_500),
        position: Position(latitude: 48.5, longitude: -11.25, horizontalAccuracyMeters: 5), verdict: .anchored,
        altitudeMeters: 519.5, distanceMeters: 0),
      RoutePoint(offset: .seconds(13), position: Position(latitude: 48.5, longitude: 11.25), verdict: .inaccurate),
    ]
    let lines = points.enumerated().map { Output.json(RouteLineJSON($1, at: $0, of: Self.run)) }
    #expect(lines.joined() == (try golden("route.json")))
  }

  @Test("The splits and laps of a run")
  func report() throws {
    let split = Split(
      number: 1, distanceMeters: 1000, active: .seconds(300), startedAt: .zero, endedAt: .milliseconds(310_500),
      averageHeartRateBpm: 150.5, elevationGainMeters: 12, elevationLossMeters: nil, isComplete: true)
    let lap = Split(
      number: 1, distanceMeters: nil, active: .seconds(20), startedAt: .zero, endedAt: .seconds(20), isComplete: false)
    let stretch = DistanceStretch(source: .pedometer, startedAt: .seconds(1), endedAt: .seconds(3), meters: 9.5)
    let report = RunReport(
      metrics: RunMetrics(), kilometers: [split], miles: [], laps: [lap], stretches: [stretch])
    let whole = JSONValue(text: Output.json(ReportedStateJSON(SnapshotJSON(.none), report)))
    #expect(whole?["report"] == JSONValue(text: try golden("report.json")))
    #expect(whole?["metrics"] == JSONValue(text: Output.json(SnapshotJSON(.none)))?["metrics"])
    let none = JSONValue(text: Output.json(ReportedStateJSON(SnapshotJSON(.none), nil)))
    #expect(none?["report"] == .null)
  }

  @Test("A stale value has its age while the run is on")
  func stale() throws {
    var snapshot = Snapshot.none
    snapshot.metrics = RunMetrics(
      elapsed: .seconds(100), active: .seconds(100), distanceMeters: 1609.344, heartRateBpm: 148,
      moments: MetricMoments(distance: .seconds(99), heartRate: .seconds(58)))
    snapshot.phase = .running
    let line = Sentence.snapshot(SnapshotJSON(snapshot), in: .imperial)
    #expect(line == "0.0.0 running 1:40 · 1.00 mi · 148 bpm, 42 s old")
    let table = MetricsText.table(MetricsJSON(snapshot.metrics), in: .metric, isRunning: true)
    #expect(table.contains("heart rate      148 bpm, 42 s old") && table.contains("distance        1.61 km"))
    snapshot.phase = .paused
    #expect(Sentence.snapshot(SnapshotJSON(snapshot)).hasSuffix("· 148 bpm"))
  }

  @Test("A written event reads back the same")
  func roundTrip() throws {
    let events: [EventJSON] = [
      .snapshot(SnapshotJSON(.none)), .presence(EventJSON.Presence(deviceId: "watch", role: "watch", reachable: true)),
      .message(
        EventJSON.Message(
          messageId: "03", name: "note", fromDeviceId: "watch", toDeviceId: "phone", bytes: 2000, text: nil)),
      .predicted(EventJSON.Predicted(phase: .paused)), .sensors(EventJSON.Demand(demand: .motion)),
      .view(EventJSON.View(stale: true, ageSeconds: nil, hubOffDuty: false)),
      .hubLost(
        EventJSON.Lost(
          runId: Self.run.description, deviceId: "phone", silentSeconds: 600.25, term: 1, revision: 2, tick: 14)),
      .receipt(
        ReceiptJSON(Receipt(commandID: Self.command, kind: .lap, source: .shell, stage: .pending)), deviceId: "shell"),
    ]
    for event in events { #expect(EventJSON(line: Output.json(event)) == event) }
  }
}
