import RunCore

/// Draws random operations with all their corners from a seed.
struct OperationGenerator {
  private var random: SeededGenerator
  private var position: UInt64 = 0
  private var runs: [RunID] = []
  private var judgedAt = BusTime.zero
  private var presses: [AcceptedCommand] = []
  private var owed: [OutboundStreamID: UInt64] = [:]
  private var quarantined: [MessageID] = []

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func batch() -> [StoreOperation] { (0..<Int.random(in: 1...8, using: &random)).map { _ in operation() } }

  mutating func operation() -> StoreOperation {
    switch Int.random(in: 0..<36, using: &random) {
    case 0: return .setTerm(anyUnsigned())
    case 1, 2:
      let press = press()
      presses.append(press)
      return .accept(press, pick([.window, .next, .late, .held]))
    case 3: return .reclassify(knownPress().command.id, pick([.window, .next, .late, .held]))
    case 4: return .setWatermark(stream(), mark())
    case 5, 6:
      let press = knownPress()
      // Bus time never runs backwards.
      judgedAt = judgedAt + BusDuration(nanoseconds: .random(in: 0..<1000, using: &random))
      return .judge(verdict(press), press, judgedAt: judgedAt)
    case 7:
      return .forgetVerdicts(judgedBefore: judgedAt - BusDuration(nanoseconds: .random(in: 0..<10_000, using: &random)))
    case 8: return .setAlias(runID(), of: runID())
    case 9: return .settle(window())
    case 10: return .setClock(real: time(), bus: time())
    case 11: return .forgetStream(stream())
    case 12: return .setHub(StoreID(using: &random), device())
    case 13: return maybe { .setFailureMark($0.failureMark()) } ?? .setView(view())
    case 14:
      return .meet(
        KnownDevice(
          deviceID: device(), role: pick([.phone, .watch, NodeRole(rawValue: "ring\u{0}")]),
          storeID: StoreID(using: &random), heardAt: time(), identity: identity()))
    case 15...25: return delivery()
    case 26: return recordOperation()
    case 27: return .setUnanswered(runID(), since: maybe { $0.time() })
    case 28: return .discard(runID())
    case 30: return .forgetDevice(device())
    case 31: return .own(stream().sender, identity())
    case 32: return .disown(stream().sender)
    case 33: return .pair(pairedDevice())
    case 34: return maybe { .unpair($0.key()) } ?? .setMemberVersion(anyUnsigned(), heard: anyUnsigned())
    case 29: return .claim(knownPress().command.id, outStream().receiver)
    default: return append()
    }
  }

  mutating func failureMark() -> HubFailureMark {
    HubFailureMark(
      duty: pick(HubFailureMark.Duty.allCases),
      lastAlarm: maybe { generator in
        HubLost(
          runID: generator.maybe { $0.runID() }, deviceID: generator.maybe { $0.device() },
          order: SnapshotOrder(
            term: generator.counter(), revision: generator.counter(), tick: generator.counter()),
          silence: BusDuration(nanoseconds: generator.anySigned()))
      })
  }

  mutating func delivery() -> StoreOperation {
    switch Int.random(in: 0..<20, using: &random) {
    case 0...7: return .enqueue(row())
    case 8, 9: return .acknowledge(outStream(), through: place())
    case 10: return .remove(outStream(), sequence: place())
    case 11: return .tombstone(outStream(), sequence: place())
    case 12, 13: return .countTries(outStream(), from: place(), through: place())
    case 14: return .renumber(outStream(), to: outStream())
    case 15: return .drop(outStream())
    case 16: return .shiftRows(by: BusDuration(nanoseconds: maybe { $0.anySigned() } ?? -50))
    case 17:
      let message = message()
      quarantined.append(message.id)
      return maybe { .unquarantine($0.pick($0.quarantined)) }
        ?? .quarantine(
          QuarantinedMessage(
            message: message, receiver: outStream().receiver, reason: pick(["", "no room ⌚️"]), since: time()))
    case 18:
      return .setLatest(
        LatestRow(
          device: maybe { $0.device() }, key: valueKey(), version: anyUnsigned(), message: message(),
          isAcknowledged: .random(using: &random)))
    default:
      return .receiveLatest(
        LatestReceived(
          device: device(), store: outStream().receiver, key: valueKey(), version: anyUnsigned(), message: message()))
    }
  }

  /// Mostly the next of its stream, at times one that is there, at times one far behind.
  mutating func row(item: OutboxItem?? = nil) -> OutboxRow {
    let stream = outStream()
    let sequence =
      Int.random(in: 0..<8, using: &random) == 0 ? .random(in: 1...30, using: &random) : (owed[stream] ?? 0) + 1
    owed[stream] = max(owed[stream] ?? 0, sequence)
    return OutboxRow(
      stream: stream, sequence: sequence, item: item ?? maybe { $0.item() }, since: time(),
      isUncertain: .random(using: &random), tries: pick([0, 0, 1, .max, .max - 1]))
  }

  mutating func item() -> OutboxItem {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .command(press().command)
    case 1:
      let moment = [SampleMoment.at(time()), .runOffset(BusDuration(nanoseconds: anySigned()))]
      return .sample(Sample(moment: pick(moment), value: sample()), runID: maybe { $0.runID() })
    case 2: return .message(message())
    default: return .verdict(verdict(press()))
    }
  }

  mutating func goal() -> RunGoal { RunGoal(time: .milliseconds(.random(in: 1...86_400_000, using: &random)))! }

  mutating func message() -> AppMessage {
    let body = (0..<pick([0, 1, 300, 3000])).map { _ in UInt8.random(in: 0...255, using: &random) }
    return AppMessage(id: MessageID(using: &random), name: pick(["a", "gel ⌚️", "z"]), body: body)
  }

  /// A view is a snapshot of the wire, whose counters and words are bounded.
  mutating func view() -> Snapshot {
    var metrics = RunMetrics(elapsed: .seconds(3), active: .seconds(2))
    metrics.distanceMeters = maybe { _ in 11.5 }
    metrics.heartRateBpm = maybe { _ in 142.25 }
    metrics.activity = pick(MotionActivity.allCases)
    metrics.moments.distance = metrics.distanceMeters.map { _ in .seconds(1) }
    return Snapshot(
      order: SnapshotOrder(term: counter(), revision: counter(), tick: counter()),
      phase: pick(RunPhase.allCases), runID: maybe { $0.runID() },
      changedBy: maybe {
        Author(source: $0.pick([.phone, .recovery]), deviceID: $0.device(), commandID: CommandID(using: &$0.random))
      },
      startedAt: maybe { $0.time() }, capturedAt: time(), metrics: metrics, isRecovering: pick([true, false]),
      isClockStopped: pick([true, false]), goal: maybe { $0.goal() })
  }

  /// Counters that a frame carries are bounded.
  private mutating func counter() -> UInt64 { pick([0, 1, 7, 1 << 62 - 1]) }

  mutating func append() -> StoreOperation {
    position += .random(in: 1...3, using: &random)
    return .append(runID(), LedgerEntry(time: time(), position: position, event: event()))
  }

  mutating func press() -> AcceptedCommand {
    var command = Command(
      id: CommandID(using: &random), kind: pick(CommandKind.allCases), source: source(),
      runID: maybe { $0.runID() },
      base: maybe { generator in
        ObservedRevision(revision: generator.counter(), commandID: generator.maybe { CommandID(using: &$0.random) })
      },
      runOffset: maybe { BusDuration(nanoseconds: $0.anySigned()) })
    command.ifRevision = maybe { $0.counter() }
    return AcceptedCommand(
      command: command, deviceID: device(), origin: pick([.ownButton, .store(stream().sender), .request]),
      sequence: anyUnsigned(), pressedAt: time(), arrivedAt: time(), isUncertain: .random(using: &random),
      stopFollows: .random(using: &random))
  }

  mutating func window() -> SettledWindow {
    let applied = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      SettledWindow.Applied(
        kind: pick(CommandKind.allCases), commandID: CommandID(using: &random), runID: runID(),
        revision: anyUnsigned(), effectiveAt: time())
    }
    return SettledWindow(first: time(), deadline: time(), applied: applied)
  }

  mutating func event() -> LedgerEvent {
    let change = Author(source: source(), deviceID: device(), commandID: CommandID(using: &random))
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1:
      let kind = pick(CommandKind.allCases)
      let goal = kind == .start ? maybe { $0.goal() } : nil
      return .transition(Transition(kind: kind, revision: anyUnsigned(), change: change, goal: goal))
    case 2: return .lap(change)
    case 3: return .gap(BusDuration(nanoseconds: anySigned()))
    case 4:
      var setup = RunSetup()
      setup.weightKilograms = maybe { $0.real() }
      setup.isAutoPauseOn = Bool.random(using: &random)
      setup.usesPedometer = Bool.random(using: &random)
      return .setup(setup)
    default: return .sample(sample(), device())
    }
  }

  private mutating func sample() -> SampleValue {
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      return .position(
        Position(latitude: real(), longitude: real(), horizontalAccuracyMeters: maybe { $0.real() }))
    case 1: return .altitude(meters: real(), pick([.gps, .barometer, .unstated]))
    case 2: return .heartRate(bpm: real())
    case 3: return .cadence(stepsPerMinute: real())
    case 4: return .pedometer(meters: real())
    default: return .motion(pick(MotionActivity.allCases))
    }
  }

  private mutating func verdict(_ press: AcceptedCommand) -> Verdict {
    let outcomes: [Outcome] = [
      .applied, .coalesced(into: CommandID(using: &random)), .superseded(by: CommandID(using: &random)),
      .rejected(
        pick([
          .illegal(pick(RunPhase.allCases)), .otherRun, .staleRevision, .tooOld, .busy, .unsupported, .cancelled,
          .expired, .quarantined, .revisionChanged(counter()), .unknown(17),
        ])),
      .unknown,
    ]
    return Verdict(
      commandID: press.command.id, kind: press.command.kind, source: press.command.source, outcome: pick(outcomes),
      runID: maybe { $0.runID() }, term: counter(), revision: counter(), effectiveAt: maybe { $0.time() })
  }

  /// One that was accepted before, at times one that never was.
  private mutating func knownPress() -> AcceptedCommand {
    presses.isEmpty || Int.random(in: 0..<8, using: &random) == 0 ? press() : pick(presses)
  }
  mutating func runID() -> RunID {
    if runs.count < 4 { runs.append(RunID(using: &random)) }
    return pick(runs)
  }
  private mutating func stream() -> StreamID {
    StreamID(
      sender: StoreID(high: 0, low: .random(in: 0..<5, using: &random)), kind: pick(StreamID.Kind.allCases))
  }
  private mutating func mark() -> StreamMark {
    StreamMark(sequence: anyUnsigned(), id: maybe { MessageID(using: &$0.random) })
  }
  private mutating func outStream() -> OutboundStreamID {
    OutboundStreamID(
      receiver: pick([.none, StoreID(high: 0, low: 7), StoreID(high: .max, low: 1)]), kind: pick(StreamID.Kind.allCases)
    )
  }
  /// A sequence that may well have a row.
  private mutating func place() -> UInt64 {
    let corner = Int.random(in: 0..<12, using: &random) == 0
    return corner ? pick([0, (1 << 40) - (1 << 32) - 1]) : .random(in: 1...30, using: &random)
  }
  /// The last two are one key for Swift.
  private mutating func valueKey() -> String { pick(["theme", "z", "caf\u{e9}", "cafe\u{301}"]) }
  private mutating func identity() -> ConnectionIdentity { pick([.localOwner, .anyone, .link(device()), .key(key())]) }
  private mutating func key() -> KeyFingerprint {
    let first: UInt8 = pick([0, 1, 255])
    return KeyFingerprint((0..<32).map { first ^ UInt8($0 * 8) })!
  }
  private mutating func pairedDevice() -> PairedDevice {
    var device = PairedDevice(
      key: key(), deviceID: device(), role: pick([.watch, NodeRole(rawValue: "ring\u{0}")]),
      sources: Set((0...3).map { _ in source() }), pairedAt: pick([0, -0.1, 1.75e9]), isRevoked: pick([false, true]))
    device.formerNames = maybe { [$0.device(), $0.device()] } ?? []
    device.nextKey = maybe { $0.key() }
    return device
  }
  mutating func device() -> DeviceID { pick(["phone", "watch", "x.y_z-1"].compactMap { DeviceID($0) }) }
  private mutating func source() -> ControlSource {
    pick([.phone, .watch, .liveActivity, .shell, ControlSource(rawValue: "ring\u{0}⌚️"), ControlSource(rawValue: "")])
  }
  private mutating func time() -> BusTime {
    let corner = Int.random(in: 0..<20, using: &random) == 0
    return BusTime(nanoseconds: corner ? anySigned() : .random(in: 0..<100_000, using: &random))
  }
  private mutating func real() -> Double {
    pick([0, -0.1, 1e300, 51.5, .infinity, .random(in: -180...180, using: &random)])
  }
  private mutating func anyUnsigned() -> UInt64 {
    pick([0, 1, 7, UInt64(StoredNumber.own.upperBound), random.next() >> 3])
  }
  private mutating func anySigned() -> Int64 {
    pick([0, -1, -(1 << 62), 1 << 62, Int64(bitPattern: random.next()) >> 2])
  }
  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }
  private mutating func maybe<Value>(_ draw: (inout Self) -> Value) -> Value? {
    Bool.random(using: &random) ? draw(&self) : nil
  }
}
