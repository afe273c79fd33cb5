import Foundation
import RunCore

@testable import RunBus

/// Random values of every type that has a JSON form, within what the form can carry exactly.
struct JSONGenerator {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  mutating func flag() -> Bool { pick(0...1) == 1 }
  mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? { pick(0...2) == 0 ? nil : make(&self) }
  mutating func some<Value>(_ make: (inout Self) -> Value) -> [Value] { (0..<pick(0...3)).map { _ in make(&self) } }
  mutating func any<Value>(_ values: [Value]) -> Value { values[pick(0...values.count - 1)] }

  mutating func counter() -> UInt64 { flag() ? generator.next() : UInt64(pick(0...9)) }
  mutating func time() -> BusTime { BusTime(nanoseconds: Int64(bitPattern: generator.next())) }
  /// A span of up to 26 days, which seconds carry to the nanosecond.
  mutating func span() -> BusDuration {
    BusDuration(nanoseconds: flag() ? Int64(generator.next() >> 13) : Int64(pick(0...90)) * 1_000_000_000)
  }
  /// Any finite number.
  mutating func number() -> Double {
    let value = Double(bitPattern: generator.next())
    return flag() && value.isFinite ? value : Double(pick(-1_000_000...1_000_000)) / 7
  }
  mutating func text() -> String {
    any(["", "River loop", "강변 달리기 🏃", "a \"quoted\"\n/line\u{0}", String(repeating: "n", count: 300)])
  }
  mutating func id<Kind>() -> Identifier<Kind> { Identifier(high: counter(), low: counter()) }
  mutating func device() -> DeviceID {
    DeviceID(any(["phone", "watch", "w.2_x-9", String(repeating: "d", count: 32)]))!
  }
  mutating func source() -> ControlSource {
    any([.phone, .watch, .liveActivity, .shell, ControlSource(rawValue: "앱 intent")])
  }
  mutating func goal() -> RunGoal { RunGoal(time: .milliseconds(Int64(pick(1...86_400_000))))! }
  mutating func kind() -> CommandKind { any(CommandKind.allCases) }
  mutating func phase() -> RunPhase { any(RunPhase.allCases) }
}

extension JSONGenerator {
  mutating func metrics() -> RunMetrics {
    let elapsed = span()
    func before(_ generator: inout Self) -> BusDuration { min(elapsed, generator.span()) }
    return RunMetrics(
      elapsed: elapsed, active: span(), distanceMeters: maybe { $0.number() }, pedometerMeters: maybe { $0.number() },
      currentPaceSecondsPerKilometer: maybe { $0.number() }, averagePaceSecondsPerKilometer: maybe { $0.number() },
      bestPaceSecondsPerKilometer: maybe { $0.number() }, worstPaceSecondsPerKilometer: maybe { $0.number() },
      heartRateBpm: maybe { $0.number() }, averageHeartRateBpm: maybe { $0.number() },
      maxHeartRateBpm: maybe { $0.number() }, cadenceStepsPerMinute: maybe { $0.number() },
      averageCadenceStepsPerMinute: maybe { $0.number() }, altitudeMeters: maybe { $0.number() },
      elevationGainMeters: maybe { $0.number() }, elevationLossMeters: maybe { $0.number() },
      energyJoules: maybe { $0.number() }, positionAccuracyMeters: maybe { $0.number() },
      activity: any(MotionActivity.allCases), isActivityInferred: flag(), isAutoPaused: flag(), lapCount: pick(0...9),
      moments: MetricMoments(
        distance: maybe(before), position: maybe(before), heartRate: maybe(before), cadence: maybe(before),
        elevation: maybe(before), activity: maybe(before)))
  }

  mutating func snapshot() -> Snapshot {
    Snapshot(
      order: SnapshotOrder(term: counter(), revision: counter(), tick: counter()), phase: phase(),
      runID: maybe { $0.id() },
      changedBy: maybe { Author(source: $0.source(), deviceID: $0.device(), commandID: $0.id()) },
      startedAt: maybe { $0.time() }, capturedAt: time(), metrics: metrics(), isRecovering: flag(),
      isClockStopped: flag(), goal: maybe { $0.goal() })
  }

  mutating func outcome() -> Outcome {
    let reasons: [RejectionReason] = [
      .illegal(phase()), .otherRun, .staleRevision, .tooOld, .busy, .unsupported, .cancelled, .expired, .quarantined,
      .forbidden, .revisionChanged(counter()),
      .unknown(Int32(pick(0...99))),
    ]
    return any([.applied, .coalesced(into: id()), .superseded(by: id()), .rejected(any(reasons)), .unknown])
  }

  mutating func verdict() -> Verdict {
    Verdict(
      commandID: id(), kind: kind(), source: source(), outcome: outcome(), runID: maybe { $0.id() }, term: counter(),
      revision: counter(), effectiveAt: maybe { $0.time() })
  }

  mutating func receipt() -> Receipt {
    let verdict = verdict()
    return Receipt(
      commandID: verdict.commandID, kind: verdict.kind, source: verdict.source,
      stage: any([.queued, .pending, .verdict(verdict)]), effectiveAge: maybe { $0.span() },
      phase: maybe { $0.phase() })
  }

  mutating func split() -> Split {
    Split(
      number: pick(1...99), distanceMeters: maybe { $0.number() }, active: span(), startedAt: span(), endedAt: span(),
      averageHeartRateBpm: maybe { $0.number() }, elevationGainMeters: maybe { $0.number() },
      elevationLossMeters: maybe { $0.number() }, isComplete: flag())
  }

  mutating func report() -> RunReport {
    RunReport(
      metrics: metrics(), kilometers: some { $0.split() }, miles: some { $0.split() }, laps: some { $0.split() },
      stretches: some {
        DistanceStretch(
          source: $0.any(DistanceSource.allCases), startedAt: $0.span(), endedAt: $0.span(), meters: $0.number())
      })
  }

  mutating func point() -> RoutePoint {
    RoutePoint(
      offset: span(),
      position: Position(latitude: number(), longitude: number(), horizontalAccuracyMeters: maybe { $0.number() }),
      verdict: any(FixVerdict.allCases), altitudeMeters: maybe { $0.number() }, distanceMeters: maybe { $0.number() })
  }

  mutating func summary() -> RecordSummary {
    RecordSummary(
      runID: id(), version: max(1, counter()), deviceID: device(), hubDeviceID: device(), appVersion: text(),
      startedAtUnixSeconds: Double(pick(0...253_402_300_799_999)) / 1000, elapsed: span(), active: span(),
      distanceMeters: maybe { $0.number() }, elevationGainMeters: maybe { $0.number() },
      averageHeartRateBpm: maybe { $0.number() }, energyJoules: maybe { $0.number() },
      setup: RunSetup(weightKilograms: maybe { $0.number() }, isAutoPauseOn: flag(), usesPedometer: flag()),
      goal: maybe { $0.goal() }, isConflicted: flag(), utcOffsetSeconds: maybe { $0.pick(-50_000...50_000) },
      bests: some { RunBest(distanceMeters: $0.number(), active: $0.span(), startedAt: $0.span()) }, title: text(),
      note: text())
  }

  mutating func record() -> RunRecord {
    RunRecord(
      summary: summary(),
      body: RecordBody(
        report: report(), pauses: some { RunPause(startedAt: $0.span(), endedAt: $0.span()) },
        series: RecordSeries(
          interval: max(span(), .milliseconds(1)),
          samples: some {
            RecordSeries.Sample(
              distanceMeters: $0.maybe { $0.number() }, paceSecondsPerKilometer: $0.maybe { $0.number() },
              altitudeMeters: $0.maybe { $0.number() }, heartRateBpm: $0.maybe { $0.number() },
              cadenceStepsPerMinute: $0.maybe { $0.number() })
          }), route: some { $0.point() }))
  }

  mutating func event() -> BusEvent {
    let base = maybe { ObservedRevision(revision: $0.counter(), commandID: $0.maybe { $0.id() }) }
    let points = some { $0.point() }
    var start = Command.start(id: id(), goal: maybe { $0.goal() }, source: source(), runID: maybe { $0.id() })
    start.ifRevision = maybe { $0.counter() }
    return any([
      .snapshot(StateMessage(snapshot: snapshot(), age: span())),
      .command(
        Command(
          id: id(), kind: kind(), source: source(), runID: maybe { $0.id() }, base: base,
          runOffset: maybe { $0.span() }), device()),
      .command(start, device()), .receipt(receipt(), device()),
      .presence(Presence(deviceID: device(), role: NodeRole(rawValue: any(["watch", "시계"])), isReachable: flag())),
      .message(MessageEvent(id: id(), name: text(), from: device(), to: device(), size: pick(0...99999))),
      .route(
        RoutePart(
          runID: id(), term: counter(), number: counter(), from: pick(0...9), points: points, total: pick(0...99))),
      .live(LiveMessage(push: push(), age: span())), .room(room()), .cue(cue()),
    ])
  }

  mutating func room() -> RoomView {
    RoomView(
      order: RoomView.Order(term: counter(), number: counter()), room: String(repeating: "0a", count: 16),
      goal: maybe { $0.span() }, places: pick(2...32), isMatched: flag(), startLabel: maybe { $0.text() },
      metersToStart: maybe { $0.pick(0...99_999) }, stage: any(RoomView.Stage.allCases),
      gate: maybe { $0.any(RoomView.Gate.allCases) }, startsIn: maybe { BusDuration(nanoseconds: $0.flag() ? 5 : -7) },
      settled: maybe { $0.any(RoomView.Settled.allCases) }, members: some { $0.member() }, isProvisional: flag(),
      isLost: flag())
  }

  mutating func member() -> RoomView.Member {
    RoomView.Member(
      id: "\(counter())", nickname: text(), level: pick(1...10), isSelf: flag(), isOwner: flag(), isReady: flag(),
      isHere: flag(),
      standing: maybe {
        RoomView.Standing(
          place: $0.maybe { $0.pick(1...32) }, meters: $0.maybe { $0.number() }, metersBehind: $0.maybe { $0.number() },
          paceSecondsPerKilometer: $0.maybe { $0.pick(1...9999) }, phase: $0.maybe { $0.phase() },
          age: $0.maybe { $0.span() }, isStale: $0.flag())
      },
      finish: maybe {
        RoomView.Finish(
          place: $0.pick(1...32), meters: $0.maybe { $0.number() }, isConfirmed: $0.flag(),
          outcome: $0.maybe { $0.any(RoomView.Outcome.allCases) })
      })
  }

  mutating func cue() -> RoomCue {
    RoomCue(room: "0a", kind: any(RoomCue.Kind.allCases), nickname: maybe { $0.text() })
  }

  mutating func push() -> LivePush {
    let numbers = LiveNumbers(
      distanceMeters: maybe { Double($0.pick(0...99_999)) / 8 },
      paceSecondsPerKilometer: maybe { Double($0.pick(0...999)) / 8 },
      averagePaceSecondsPerKilometer: maybe { Double($0.pick(0...999)) / 8 }, heartRateBpm: maybe { $0.pick(0...250) },
      elevationGainMeters: maybe { $0.pick(0...9999) }, lapCount: pick(0...99))
    let content = LiveContent(
      runID: id(), phase: any([.idle, .running, .paused, .completed]), changedBy: maybe { $0.source() },
      isRecovering: flag(), clock: LiveClock(active: span(), at: BusTime(nanoseconds: 5), isTicking: flag()),
      numbers: numbers, pending: any([[], [.pause], [.lap, .start]]), startsAt: maybe { $0.time() },
      room: maybe {
        LiveRoom(place: $0.pick(1...32), count: $0.pick(2...32), metersBehind: $0.maybe { $0.number() })
      })
    return LivePush(
      order: SnapshotOrder(term: counter(), revision: counter(), tick: counter()), content: content,
      number: counter(), kind: any(LivePushKind.allCases), pushedAt: BusTime(nanoseconds: 7),
      staleAt: maybe { _ in BusTime(nanoseconds: 9) }, budgetLeft: pick(0...99), activity: pick(1...3))
  }

  mutating func dated() -> DatedEvent {
    DatedEvent(event(), at: Date(timeIntervalSince1970: Double(pick(0...4_102_444_800_000)) / 1000))
  }
}
