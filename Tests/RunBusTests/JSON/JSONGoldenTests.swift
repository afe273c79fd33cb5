import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("The JSON form does not change")
struct JSONGoldenTests {
  private static let run = RunID(high: 1, low: 2)
  private static let command = CommandID(high: 3, low: 4)
  private static let phone = DeviceID("phone")
  private static let watch = DeviceID("watch")

  /// Compares with a golden file. It is written by hand, and changing it breaks a promise.
  private func expect(_ name: String, _ values: [any Encodable], line: SourceLocation = #_sourceLocation) throws {
    let file = Checkout.root.appending(path: "Tests/RunBusTests/JSON/Golden/\(name).json")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let lines = try values.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
    let golden = try String(contentsOf: file, encoding: .utf8)
    #expect(lines.joined(separator: "\n") + "\n" == golden, sourceLocation: line)
  }

  private static let metrics = RunMetrics(
    elapsed: .milliseconds(185_250), active: .seconds(180), distanceMeters: 520.5, pedometerMeters: 20.5,
    currentPaceSecondsPerKilometer: 341.25, averagePaceSecondsPerKilometer: 345.5, bestPaceSecondsPerKilometer: 330,
    worstPaceSecondsPerKilometer: 361.5, heartRateBpm: 148, averageHeartRateBpm: 140.5, maxHeartRateBpm: 160,
    cadenceStepsPerMinute: 172, averageCadenceStepsPerMinute: 170.25, altitudeMeters: 101.5, elevationGainMeters: 12.5,
    elevationLossMeters: 3, energyJoules: 83_680, positionAccuracyMeters: 4.5, activity: .running,
    isActivityInferred: true, isAutoPaused: true, lapCount: 2,
    moments: MetricMoments(
      distance: .seconds(185), position: .seconds(185), heartRate: .milliseconds(143_250), cadence: .seconds(180),
      elevation: nil, activity: .zero))

  private static let snapshot = Snapshot(
    order: SnapshotOrder(term: 1, revision: 2, tick: 14), phase: .paused, runID: run,
    changedBy: Author(source: .watch, deviceID: watch, commandID: command),
    startedAt: BusTime(nanoseconds: 1_000_000_007), capturedAt: BusTime(nanoseconds: 186_250_000_007),
    metrics: metrics, goal: RunGoal(time: .milliseconds(1_800_500)))

  private static let report = RunReport(
    metrics: RunMetrics(),
    kilometers: [
      Split(
        number: 1, distanceMeters: 1000, active: .seconds(300), startedAt: .zero, endedAt: .milliseconds(310_500),
        averageHeartRateBpm: 150.5, elevationGainMeters: 12, elevationLossMeters: nil, isComplete: true)
    ],
    laps: [
      Split(
        number: 1, distanceMeters: nil, active: .seconds(20), startedAt: .zero, endedAt: .seconds(20),
        isComplete: false)
    ],
    stretches: [DistanceStretch(source: .pedometer, startedAt: .seconds(1), endedAt: .seconds(3), meters: 9.5)])

  private static let route = [
    RoutePoint(
      offset: .milliseconds(12_500),
      position: Position(latitude: 48.5, longitude: -11.25, horizontalAccuracyMeters: 5), verdict: .anchored,
      altitudeMeters: 519.5, distanceMeters: 0),
    RoutePoint(offset: .seconds(13), position: Position(latitude: 48.5, longitude: 11.25), verdict: .inaccurate),
  ]

  private static let summary = RecordSummary(
    runID: run, version: 2, deviceID: watch, hubDeviceID: phone, appVersion: "0.1.0",
    startedAtUnixSeconds: 1_795_277_185.25, elapsed: .seconds(310), active: .seconds(300), distanceMeters: 1000,
    elevationGainMeters: 12, averageHeartRateBpm: nil, energyJoules: 250_000.5,
    setup: RunSetup(weightKilograms: 70, isAutoPauseOn: true, usesPedometer: true),
    goal: RunGoal(time: .seconds(1800)), utcOffsetSeconds: 3600,
    bests: [RunBest(distanceMeters: 1000, active: .seconds(300), startedAt: .milliseconds(12_500))],
    title: "River loop")

  private static func receipt(_ stage: ReceiptStage, age: BusDuration? = nil, phase: RunPhase? = nil) -> Receipt {
    Receipt(
      commandID: command, kind: .pause, source: .liveActivity, stage: stage, effectiveAge: age, phase: phase)
  }

  private static func verdict(_ outcome: Outcome, at time: BusTime? = nil) -> Verdict {
    Verdict(
      commandID: command, kind: .pause, source: .liveActivity, outcome: outcome, runID: run, term: 1, revision: 2,
      effectiveAt: time)
  }

  @Test("A snapshot with every field")
  func fullSnapshot() throws { try expect("snapshot", [Self.snapshot]) }

  @Test("A snapshot before any run has null for unknown values")
  func emptySnapshot() throws { try expect("snapshot-none", [Snapshot.none]) }

  @Test("A number that JSON cannot represent is missing, not an error")
  func infinity() throws {
    var snapshot = Snapshot.none
    snapshot.metrics.heartRateBpm = .infinity
    try expect("snapshot-none", [snapshot])
  }

  @Test("A receipt at each stage")
  func receipts() throws {
    let other = CommandID(high: 5, low: 6)
    let effect = BusTime(nanoseconds: 186_250_000_007)
    try expect("receipt-queued", [Self.receipt(.queued)])
    try expect("receipt-pending", [Self.receipt(.pending)])
    try expect(
      "receipt-applied",
      [Self.receipt(.verdict(Self.verdict(.applied, at: effect)), age: .milliseconds(500), phase: .paused)])
    try expect("receipt-coalesced", [Self.receipt(.verdict(Self.verdict(.coalesced(into: other))))])
    try expect("receipt-superseded", [Self.receipt(.verdict(Self.verdict(.superseded(by: other))))])
    try expect("receipt-rejected", [Self.receipt(.verdict(Self.verdict(.rejected(.illegal(.completed)))))])
  }

  @Test("A verdict is a receipt at its last stage")
  func verdicts() throws { try expect("receipt-rejected", [Self.verdict(.rejected(.illegal(.completed)))]) }

  @Test("A report with splits, laps and stretches")
  func reports() throws { try expect("report", [Self.report]) }

  @Test("A point of the route that counts, and one that does not")
  func points() throws { try expect("route", Self.route) }

  @Test("A record, and its summary")
  func records() throws {
    let series = RecordSeries(
      samples: [
        RecordSeries.Sample(distanceMeters: 0, altitudeMeters: 519.5, heartRateBpm: 120, cadenceStepsPerMinute: 170),
        RecordSeries.Sample(distanceMeters: 30.25, paceSecondsPerKilometer: 330),
      ])
    let record = RunRecord(
      summary: Self.summary,
      body: RecordBody(
        report: Self.report, pauses: [RunPause(startedAt: .seconds(100), endedAt: .milliseconds(110_500))],
        series: series, route: Self.route))
    try expect("record-summary", [Self.summary])
    try expect("record", [record])
  }

  private static let room = "32d9626b00000000000000000000000a"
  private static let gathering = RoomView(
    order: RoomView.Order(term: 1, number: 7), room: room, goal: .seconds(1800), places: 4, startLabel: "Olympic Park",
    metersToStart: 340, stage: .gathering, gate: .notHere,
    members: [
      RoomView.Member(
        id: String(repeating: "0a", count: 32), nickname: "Anna", level: 3, isOwner: true, isReady: true, isHere: true),
      RoomView.Member(id: String(repeating: "0b", count: 32), nickname: "Ben", isSelf: true, isReady: true),
    ])
  private static let over = RoomView(
    order: RoomView.Order(term: 1, number: 8), room: room, goal: .seconds(1800), places: 2, isMatched: true,
    stage: .over,
    startsIn: .milliseconds(-86_400_500), settled: .final,
    members: [
      RoomView.Member(
        id: String(repeating: "0a", count: 32), nickname: "Anna", isReady: true,
        standing: RoomView.Standing(
          place: 1, meters: 771.2, paceSecondsPerKilometer: 312, phase: .completed, age: .milliseconds(2500),
          isStale: false),
        finish: RoomView.Finish(place: 1, meters: 771.2, isConfirmed: true, outcome: .won)),
      RoomView.Member(
        id: String(repeating: "0b", count: 32), nickname: "Ben", isSelf: true, isReady: true,
        standing: RoomView.Standing(place: 2, meters: 753.7, metersBehind: 17.5, isStale: true),
        finish: RoomView.Finish(place: 2, meters: nil, isConfirmed: false, outcome: .lost)),
    ], isProvisional: true, isLost: true)

  private static let push = LivePush(
    order: SnapshotOrder(term: 1, revision: 2, tick: 14),
    content: LiveContent(
      runID: run, phase: .running, changedBy: .watch,
      clock: LiveClock(active: .seconds(180), at: BusTime(nanoseconds: 185_250_000_000), isTicking: true),
      numbers: LiveNumbers(distanceMeters: 520, paceSecondsPerKilometer: 341, heartRateBpm: 148, lapCount: 2),
      pending: [.pause]),
    number: 17, kind: .numbers, pushedAt: BusTime(nanoseconds: 186_000_000_000),
    staleAt: BusTime(nanoseconds: 246_000_000_000), budgetLeft: 12, activity: 1)

  @Test("What a lock screen shows")
  func liveActivity() throws {
    let clock = NodeClock.fixed(
      busTime: BusTime(nanoseconds: 190_000_000_000), date: Date(timeIntervalSince1970: 1_795_277_185.25))
    let activity = LiveActivity(push: Self.push, pending: [.lap, .pause], isStale: true, isHubLost: false)
    let state = LiveActivityState(activity, clock: clock)
    try expect("live-activity", [state])
    // Active time was 180 s at 4.75 s before the clock's date.
    #expect(state.clockZero?.timeIntervalSince1970 == 1_795_277_185.25 - 4.75 - 180)
    #expect(abs(state.activeSeconds(at: clock.date) - 184.75) < 1e-6)
    #expect(state.buttons == [.pause, .lap, .stop] && state.standing == nil)
    #expect(try JSONDecoder().decode(LiveActivityState.self, from: JSONEncoder().encode(state)) == state)
  }

  @Test("A lock screen in the countdown of a room, and in its run")
  func roomOnLockScreen() throws {
    let clock = NodeClock.fixed(
      busTime: BusTime(nanoseconds: 190_000_000_000), date: Date(timeIntervalSince1970: 1_795_277_185.25))
    let startsAt = BusTime(nanoseconds: 194_500_000_000)
    var countdown = Self.push
    countdown.content = LiveContent(
      runID: Self.run, phase: .idle, clock: LiveClock(active: .zero, at: startsAt, isTicking: false),
      startsAt: startsAt)
    var run = Self.push
    run.content.room = LiveRoom(place: 2, count: 4, metersBehind: 120.5)
    let states = [countdown, run].map { LiveActivityState(LiveActivity($0), clock: clock) }
    try expect("live-room", states)
    #expect(states[0].startDate?.timeIntervalSince1970 == 1_795_277_185.25 + 4.5)
    #expect(states[0].buttons == [] && states[0].relevance == 100 && !states[0].isFinal)
    countdown.content.startsAt = nil
    let held = LiveActivityState(LiveActivity(countdown), clock: clock)
    #expect(held.isFinal && held.relevance == 0 && held.buttons == [.start])
    for state in states {
      #expect(try JSONDecoder().decode(LiveActivityState.self, from: JSONEncoder().encode(state)) == state)
    }
  }

  @Test("The largest state of a lock screen is far below the limit of 4 KB")
  func liveActivitySize() throws {
    var push = Self.push
    push.order = SnapshotOrder(term: 1 << 62, revision: 1 << 62, tick: 1 << 62)
    push.content.changedBy = ControlSource(rawValue: String(repeating: "\u{1F600}", count: 16))
    push.content.clock.active = BusDuration(nanoseconds: .max)
    push.content.clock.at = BusTime(nanoseconds: .min)
    push.content.numbers = LiveNumbers(
      distanceMeters: -1.234567890123456e-300, paceSecondsPerKilometer: -1.234567890123456e-300,
      averagePaceSecondsPerKilometer: -1.234567890123456e-300, heartRateBpm: .max,
      elevationGainMeters: .min, lapCount: .max)
    push.content.pending = [.lap, .pause, .resume, .start, .stop]
    push.content.startsAt = BusTime(nanoseconds: .min)
    push.content.room = LiveRoom(place: .max, count: .max, metersBehind: -1.234567890123456e-300)
    push.number = 1 << 62
    push.budgetLeft = .max
    push.activity = .max
    let clock = NodeClock.fixed(busTime: .zero, date: Date(timeIntervalSince1970: 1_795_277_185.123456))
    let state = LiveActivityState(
      LiveActivity(push: push, pending: push.content.pending, isStale: true, isHubLost: true), clock: clock)
    let bytes = try JSONEncoder().encode(state).count
    #expect(bytes < LiveActivityState.encodedBytesMax / 2, "\(bytes) bytes")
  }

  @Test("Each event of the bus, with its time of day")
  func events() throws {
    let command = Command(
      id: Self.command, kind: .pause, source: .liveActivity, runID: Self.run,
      base: ObservedRevision(revision: 1, commandID: CommandID(high: 5, low: 6)), runOffset: .milliseconds(12_500))
    let start = Command.start(
      id: Self.command, goal: RunGoal(time: .seconds(1800)), source: .phone, runID: Self.run)
    let events: [BusEvent] = [
      .snapshot(StateMessage(snapshot: .none, age: .milliseconds(250))), .command(command, Self.watch),
      .command(start, Self.phone), .receipt(Self.receipt(.pending), Self.watch),
      .receipt(Self.receipt(.verdict(Self.verdict(.applied))), Self.watch),
      .presence(Presence(deviceID: Self.watch, role: .watch, isReachable: true)),
      .message(MessageEvent(id: MessageID(high: 3, low: 4), name: "note", from: Self.watch, to: Self.phone, size: 8)),
      .route(RoutePart(runID: Self.run, term: 1, number: 7, from: 3, points: Self.route, total: 5)),
      .live(LiveMessage(push: Self.push, age: .milliseconds(250))), .room(Self.gathering), .room(Self.over),
      .cue(RoomCue(room: Self.room, kind: .overtaken, nickname: "mira")), .cue(RoomCue(room: Self.room, kind: .won)),
    ]
    let at = Date(timeIntervalSince1970: 1_795_277_185.25)
    try expect("events", events.map { DatedEvent($0, at: at) })
  }
}
